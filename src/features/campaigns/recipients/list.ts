import type { Filter, ListArgs } from '../../../core/list-args.ts';
import type { Db } from '../../../database/database.ts';
import { countList, type ListDefinition, listColumns, listStatement, Page, whereOf } from '../../../database/list.ts';
import type { FilterColumn } from '../../../database/list-filter.ts';
import { raw } from '../../../database/statements.ts';
import type { CampaignRow } from '../campaign.ts';
import { REASON, STATE } from './recipient.ts';

/** A row of `campaign_recipients`. */
export interface RecipientRow {
  readonly contact_id: number;
  readonly message_id: string | null;
  readonly state: number;
  readonly reason: number | null;
  readonly error_code: number | null;
  readonly due_at: string | null;
  readonly replied_at: string | null;
  readonly opted_out: boolean | null;
}

const column = listColumns('campaign_recipients', 'r');
const contactId = column('contact_id', 'bigint');

const RECIPIENTS: ListDefinition = {
  from: 'campaign_recipients r',
  tenantColumn: 'r.tenant_id',
  filters: {
    campaignId: column('campaign_id', 'bigint'),
    state: { ...column('state', 'smallint'), rewrite: words('state', STATE) },
    skipReason: { ...column('reason', 'smallint'), rewrite: words('reason', REASON) },
    errorCode: column('error_code', 'integer'),
  },
  sorts: { id: contactId },
  id: contactId,
  defaultOrder: [{ column: contactId, descending: false }],
};

/** Conditions on words as those on the numbers that are stored. */
function words(name: 'state' | 'reason', numbers: Readonly<Record<string, number>>) {
  const numberOf = (word: unknown): unknown => (typeof word === 'string' ? (numbers[word] ?? word) : word);
  return (conditions: Filter): { column: FilterColumn; conditions: Filter } => {
    const rewritten = Object.entries(conditions).map(([operator, value]) => [
      operator,
      Array.isArray(value) ? value.map(numberOf) : numberOf(value),
    ]);
    return { column: column(name, 'smallint'), conditions: Object.fromEntries(rewritten) };
  };
}

/**
 * The recipients (`r`) that meet a filter, of any campaign, as a condition with its parameters, of which `$1` is the tenant.
 * @throws VALIDATION_ERROR as the list
 */
export const recipientsWhere = (
  tenantId: number,
  filter: Filter,
): { readonly text: string; readonly values: readonly unknown[] } => whereOf(RECIPIENTS, tenantId, filter);

const SELECT = 'r.contact_id, r.message_id, r.state, r.reason, r.error_code, r.due_at, r.replied_at, r.opted_out';

/** One page of the recipients of a campaign, in the order of their contacts. All of them are counted already. */
export async function recipientPage(
  db: Db,
  tenantId: number,
  campaign: Pick<CampaignRow, 'id' | 'total'>,
  args: ListArgs,
): Promise<Page<RecipientRow>> {
  const statement = listStatement(RECIPIENTS, tenantId, args, [], { campaignId: { eq: campaign.id } });
  const select = [SELECT, ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<RecipientRow>(`select ${select} ${statement.tail}`, statement.values));
  const isFiltered = Object.values(args.filter ?? {}).some(condition => condition != null);
  return new Page(statement, rows, () => (isFiltered ? countList(db, statement) : Promise.resolve(campaign.total)));
}
