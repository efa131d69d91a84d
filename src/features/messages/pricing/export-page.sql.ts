import { NIL_UUID } from '../../../core/ids.ts';
import type { Filter } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { raw } from '../../../database/statements.ts';
import { costEntriesWhere } from './cost-entries.ts';
import type { PriceRow } from './pricing.ts';

/** A price with what the campaign and the template are called; null: none, or deleted. */
interface ExportedCost extends PriceRow {
  readonly campaign_name: string | null;
  readonly template_id: number | null;
  readonly template_name: string | null;
}

/**
 * The cost entries that meet a filter, among the next `limit` after an id: a statement examines as many as that, however few meet
 * the filter.
 * @returns the entries by id, and the last id that was examined; null at the end
 */
export async function examineCosts(
  db: Db,
  tenantId: number,
  filter: Filter,
  after: string | null,
  limit: number,
): Promise<{ readonly rows: readonly ExportedCost[]; readonly last: string | null }> {
  const { text, values } = costEntriesWhere(tenantId, filter);
  const [from, size] = [`$${values.length + 1}::uuid`, `$${values.length + 2}::int`];
  const examined = await db.executeQuery(
    raw<ExportedCost & { readonly meets: boolean }>(
      // Looked up for each row of the page: a join may read all messages.
      `select e.*, (select c.name from campaigns c where c.tenant_id = $1 and c.id = e.campaign_id) as campaign_name,
         (select t.name from templates t where t.tenant_id = $1 and t.id = e.template_id) as template_name
       from (
         select p.message_id, p.channel_id, p.campaign_id, p.category, p.type, p.is_billable, p.country, p.occurred_at, coalesce(${text}, false) as meets,
           (select m.template_id from messages m where m.tenant_id = $1 and m.id = p.message_id) as template_id
         from message_pricing p where p.tenant_id = $1 and p.message_id > ${from} order by p.message_id limit ${size}
       ) e order by e.message_id`,
      [...values, after ?? NIL_UUID, limit],
    ),
  );
  const last = examined.rows.length === limit ? (examined.rows.at(-1)?.message_id ?? null) : null;
  return { rows: examined.rows.filter(({ meets }) => meets), last };
}
