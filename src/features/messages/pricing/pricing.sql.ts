import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { PriceRow } from './pricing.ts';

/** A price that came with a status of the message with this id or network id. */
export interface NewPrice {
  readonly messageId: string | null;
  readonly wamid: string;
  readonly channelId: number;
  readonly category: string | null;
  readonly type: string | null;
  readonly model: string | null;
  readonly isBillable: boolean | null;
  /** Rank of the status: the furthest one counts. */
  readonly rank: number;
}

/** Stores prices of the tenant's messages and moves the messages in the statistics. */
export async function writePrices(
  trx: Db,
  tenantId: number,
  prices: readonly NewPrice[],
  nowIso: string,
): Promise<void> {
  const pick = <K extends keyof NewPrice>(name: K) => prices.map(price => price[name]);
  await sql`
    select price_messages(${tenantId}::bigint, ${pick('messageId')}::uuid[], ${pick('channelId')}::bigint[], ${pick('wamid')}::text[],
      ${pick('category')}::text[], ${pick('type')}::text[], ${pick('model')}::text[], ${pick('isBillable')}::boolean[],
      ${pick('rank')}::smallint[], ${nowIso}::timestamptz)`.execute(trx);
}

export const PRICE_COLUMNS = [
  'message_id',
  'channel_id',
  'campaign_id',
  'category',
  'type',
  'is_billable',
  'country',
  'occurred_at',
] as const satisfies readonly (keyof PriceRow)[];

/** Prices of messages, in any order. */
export const getPrices = (db: Db, tenantId: number, messageIds: readonly string[]): Promise<PriceRow[]> =>
  db
    .selectFrom('message_pricing')
    .select(PRICE_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('message_id', '=', eb => eb.fn.any(eb.val(messageIds)))
    .execute();
