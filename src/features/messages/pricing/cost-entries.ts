import type { Filter, ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { type ListDefinition, listColumns, type Page, readPage, whereOf } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { getPrices, PRICE_COLUMNS } from './pricing.sql.ts';
import { type PriceRow, pricingCategorySql } from './pricing.ts';

const column = listColumns('message_pricing', 'p');
const id = column('message_id', 'uuid');
const occurredAt = column('occurred_at', 'timestamptz');

const COST_ENTRIES: ListDefinition = {
  from: 'message_pricing p',
  tenantColumn: 'p.tenant_id',
  filters: {
    id: { ...id, node: 'CostEntry' },
    channelId: { ...column('channel_id', 'bigint'), node: 'Channel' },
    campaignId: { ...column('campaign_id', 'bigint'), node: 'Campaign' },
    pricingCategory: { sql: pricingCategorySql(`coalesce(p.category, '')`), type: 'text' },
    occurredAt,
  },
  sorts: { id, occurredAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
};

/** The conditions of a filter, on `message_pricing p`. */
export const costEntriesWhere = (tenantId: number, filter: Filter) => whereOf(COST_ENTRIES, tenantId, filter);

/** Prices with the ids of their messages, as nodes need them. */
export const getEntries = async (
  db: Db,
  tenantId: number,
  ids: readonly string[],
): Promise<(PriceRow & { readonly id: string })[]> =>
  (await getPrices(db, tenantId, ids)).map(row => ({ ...row, id: row.message_id }));

/** One page of messages with a price. */
export const costEntryPage = (context: Context, args: ListArgs): Promise<Page<PriceRow>> =>
  readPage<PriceRow>(
    context.db.read,
    COST_ENTRIES,
    tenantOf(context),
    args,
    PRICE_COLUMNS.map(name => `p.${name}` as const),
  );
