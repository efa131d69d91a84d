import type { NewEvent } from '../../../core/events.ts';
import type { Database, Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { Resources } from '../../../schema/context.ts';
import { failCodes } from '../../otp/fail-codes.ts';
import type { MessageRow } from '../message.ts';
import { messagePayload } from '../people.sql.ts';
import { lockOutbound, writeStates } from '../statuses/states.sql.ts';
import { countCancelled, lockTurns, lockWaiting, settle, type WaitingTarget } from './outbox.sql.ts';

/** Messages cancelled in one transaction. */
const BATCH = 500;

export interface Cancelled {
  readonly messageIds: readonly string[];
  /** Channels with messages that were blocked by a cancelled one. */
  readonly releasedChannelIds: readonly number[];
}

/**
 * Cancels messages that were not submitted to the network, with an event `message.cancelled` each; the status is final. A message
 * that the network may have accepted is left to its status webhook. The code of a cancelled one-time password fails.
 *
 * Lock order: message_states by id, then the outbox by position, to avoid deadlocks.
 * @param target about a thousand messages at most: readers of the event log, of all tenants, wait for the end of the transaction
 * @param reason shown to people as the details of the message's error
 */
export async function cancelWaiting(
  trx: Db,
  tenantId: number,
  target: WaitingTarget,
  reason: string,
): Promise<Cancelled> {
  const waiting = await lockWaiting(trx, tenantId, target);
  if (waiting.length === 0) return { messageIds: [], releasedChannelIds: [] };
  const now = await lockTurns(trx, tenantId, waiting, 'waiting');
  const refs = waiting.map(messageId => ({ tenantId, messageId }));
  const rows = await lockOutbound(trx, refs);
  // A lane may have claimed some before they were locked: only those that leave the outbox here are cancelled.
  const settled = await settle(trx, refs, 'waiting');
  const left = new Set(settled.map(row => row.message_id));
  const cancelled = rows.filter(({ row }) => left.has(row.id)).map(({ row }) => cancelledRow(row, reason, now));
  await writeStates(
    trx,
    cancelled.map(row => ({ tenantId, row })),
  );
  await append(
    trx,
    tenantId,
    cancelled.map((row): NewEvent => ({ type: 'message.cancelled', payload: messagePayload(row) })),
  );
  await failCodes(trx, tenantId, cancelled);
  const released = settled.filter(row => row.is_released).map(row => row.channel_id);
  return { messageIds: cancelled.map(row => row.id), releasedChannelIds: [...new Set(released)] };
}

/**
 * Like `cancelWaiting`, for any number of messages, in transactions of 500: readers of the event log cannot pass one that has
 * written, so that a long one holds up subscriptions, webhooks and bots of all tenants.
 * @param messageIds the last of the queue first, so that no message gets the turn of a cancelled one before it is cancelled itself
 * @param signal ends it after the current batch
 * @returns how many of them are cancelled, also by others meanwhile
 */
export async function cancelMany(
  { db, signals }: { readonly db: Database; readonly signals: Pick<Resources['signals'], 'send'> },
  tenantId: number,
  messageIds: readonly string[],
  reason: string,
  signal?: AbortSignal,
): Promise<number> {
  let count = 0;
  for (let from = 0; from < messageIds.length && !signal?.aborted; from += BATCH) {
    const batch = messageIds.slice(from, from + BATCH);
    count += await db.transaction(async trx => {
      await cancelWaiting(trx, tenantId, { messageIds: batch }, reason);
      return countCancelled(trx, tenantId, batch);
    });
    signals.send('events');
  }
  return count;
}

const cancelledRow = (row: MessageRow, reason: string, nowIso: string): MessageRow => ({
  ...row,
  status: 'cancelled',
  error: { code: 0, title: 'Cancelled', details: reason },
  updated_at: nowIso,
});
