import type { Db } from '../../../database/database.ts';
import type { Pricing } from '../../../network/updates.ts';
import { writePrices } from './pricing.sql.ts';

/** The price of a message, identified by our id or the network's. */
export interface PricedMessage {
  readonly messageId: string | undefined;
  readonly wamid: string;
  readonly channelId: number;
  readonly pricing: Pricing;
}

/** Stores prices of messages. Prices from several statuses of a message are folded; later values win, missing values do not. */
export async function storePrices(
  trx: Db,
  tenantId: number,
  priced: readonly PricedMessage[],
  nowMs: number,
): Promise<void> {
  if (priced.length === 0) return;
  const rows = priced.map(({ messageId, wamid, channelId, pricing }) => ({
    message_id: messageId ?? null,
    wamid,
    channel_id: channelId,
    category: pricing.category,
    type: pricing.type,
    model: pricing.model,
    is_billable: pricing.isBillable,
  }));
  await writePrices(trx, tenantId, rows, new Date(nowMs).toISOString());
}
