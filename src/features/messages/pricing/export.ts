import type { Filter } from '../../../core/list-args.ts';
import type { PriceTable } from '../../../core/price-table.ts';
import type { Db } from '../../../database/database.ts';
import { costOf } from './cost.ts';
import { costEntriesWhere } from './cost-entries.ts';
import { examineCosts } from './export-page.sql.ts';

/** Checks the filter of an export. @throws VALIDATION_ERROR as the list */
export const checkCostFilter = (tenantId: number, filter: Filter): void => void costEntriesWhere(tenantId, filter);

const COLUMNS = [
  'chat_message_id',
  'occurred_at',
  'channel_id',
  'campaign_id',
  'campaign_name',
  'template_id',
  'template_name',
  'country',
  'category',
  'type',
  'is_billable',
  'amount',
  'currency',
] as const;

/**
 * Cost entries among the next `limit` after an id, with their costs by the price table. They name nobody, so an erasure leaves the
 * file as it is.
 * @returns `last`: the last id that was examined; null at the end
 */
export const costsPage =
  (prices: PriceTable | undefined) =>
  async (db: Db, tenantId: number, filter: Filter, after: string | null, limit: number) => {
    const { rows, last } = await examineCosts(db, tenantId, filter, after, limit);
    return {
      columns: COLUMNS,
      rows: rows.map(row => {
        const cost = costOf(prices, row);
        // As in REST, where `message_id` is the network's id.
        const { message_id: chat_message_id, ...entry } = row;
        return { chat_message_id, ...entry, amount: cost?.amount ?? null, currency: cost?.currency ?? null };
      }),
      contactIds: [],
      last,
    };
  };
