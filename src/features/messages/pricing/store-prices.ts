import type { Db } from '../../../database/database.ts';
import type { MessageStatus } from '../../../network/network.ts';
import type { Pricing } from '../../../network/updates.ts';
import { wamidKey } from '../message.ts';
import { type NewPrice, writePrices } from './pricing.sql.ts';

/** The price of a message, identified by our id or the network's, with the status that it came with. */
export interface PricedMessage {
  readonly messageId: string | undefined;
  readonly wamid: string;
  readonly channelId: number;
  readonly status: MessageStatus;
  readonly pricing: Pricing;
}

const RANK = { sent: 1, delivered: 2, read: 3, failed: 4 } as const satisfies Record<MessageStatus, number>;

/**
 * Stores prices of messages. A message has one price: of several statuses the furthest counts, in whatever order they arrive and
 * however often, and what it lacks comes from the others. Call it after `applyStatuses`, which locks the messages.
 */
export async function storePrices(
  trx: Db,
  tenantId: number,
  priced: readonly PricedMessage[],
  nowMs: number,
): Promise<void> {
  if (priced.length === 0) return;
  const folded = new Map<string, NewPrice>();
  for (const one of [...priced].sort((a, b) => RANK[a.status] - RANK[b.status])) {
    const key = wamidKey(one.channelId, one.wamid);
    folded.set(key, fold(folded.get(key), one));
  }
  await writePrices(trx, tenantId, [...folded.values()], new Date(nowMs).toISOString());
}

const fold = (
  before: NewPrice | undefined,
  { messageId, wamid, channelId, status, pricing }: PricedMessage,
): NewPrice => ({
  messageId: messageId ?? before?.messageId ?? null,
  wamid,
  channelId,
  category: pricing.category ?? before?.category ?? null,
  type: pricing.type ?? before?.type ?? null,
  model: pricing.model ?? before?.model ?? null,
  isBillable: pricing.isBillable ?? before?.isBillable ?? null,
  rank: RANK[status],
});
