import type { Filter } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { raw } from '../../../database/statements.ts';
import { type RecipientRow, recipientsWhere } from './list.ts';

export interface ExportedRecipient extends RecipientRow {
  readonly firstname: string | null;
  readonly lastname: string | null;
  readonly phone: string | null;
}

/**
 * The recipients of a campaign that meet a filter, among the next `limit` after a contact: a statement examines as many as that, however
 * few meet the filter.
 * @returns them in the order of their contacts, and the last contact that was examined; null at the end
 */
export async function examineRecipients(
  db: Db,
  tenantId: number,
  campaignId: number,
  filter: Filter,
  after: string | null,
  limit: number,
): Promise<{ readonly rows: readonly ExportedRecipient[]; readonly last: string | null }> {
  const { text, values } = recipientsWhere(tenantId, filter);
  const [campaign, from, size] = [1, 2, 3].map(place => `$${values.length + place}`);
  const examined = await db.executeQuery(
    raw<ExportedRecipient & { readonly meets: boolean }>(
      `with page as materialized (
         select r.* from campaign_recipients r
         where r.tenant_id = $1 and r.campaign_id = ${campaign}::bigint and r.contact_id > ${from}::bigint
         order by r.contact_id limit ${size}::int
       )
       select r.contact_id, r.message_id, r.state, r.reason, r.error_code, r.due_at, r.replied_at, r.opted_out,
         c.firstname, c.lastname, c.phone, coalesce(${text}, false) as meets
       from page r left join contacts c on c.tenant_id = $1 and c.id = r.contact_id
       order by r.contact_id`,
      [...values, campaignId, after ?? '0', limit],
    ),
  );
  const last = examined.rows.length === limit ? String(examined.rows.at(-1)?.contact_id) : null;
  return { rows: examined.rows.flatMap(({ meets, ...row }) => (meets ? [row] : [])), last };
}
