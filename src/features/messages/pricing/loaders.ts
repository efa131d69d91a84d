import { loader } from '../../../schema/loaders.ts';
import { getPrices } from './pricing.sql.ts';
import type { PriceRow } from './pricing.ts';

/** Prices by message. */
export const priceLoader = loader<string, PriceRow | undefined>(async (db, tenantId, messageIds) => {
  const byMessage = new Map((await getPrices(db, tenantId, messageIds)).map(row => [row.message_id, row]));
  return messageIds.map(id => byMessage.get(id));
});
