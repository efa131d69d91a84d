import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { failCodes } from '../../otp/fail-codes.ts';
import type { MessageRow } from '../message.ts';
import { payloadOf } from '../people.sql.ts';
import { lockOutbound, writeStates } from '../statuses/states.sql.ts';
import { lockTurns, lockWaiting, settle, type WaitingTarget } from './outbox.sql.ts';

/** Messages cancelled per set of statements. */
const BATCH = 1_000;

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
  const messageIds: string[] = [];
  const released = new Set<number>();
  for (let from = 0; from < waiting.length; from += BATCH) {
    const refs = waiting.slice(from, from + BATCH).map(messageId => ({ tenantId, messageId }));
    const rows = await lockOutbound(trx, refs);
    // A lane may have claimed some before they were locked: only those that leave the outbox here are cancelled.
    const settled = await settle(trx, refs, 'waiting');
    const left = new Set(settled.map(row => row.message_id));
    for (const { channel_id, is_released } of settled) if (is_released) released.add(channel_id);
    const cancelled = rows.filter(({ row }) => left.has(row.id)).map(({ row }) => cancelledRow(row, reason, now));
    await writeStates(
      trx,
      cancelled.map(row => ({ tenantId, row })),
    );
    await append(
      trx,
      tenantId,
      cancelled.map((row): NewEvent => ({ type: 'message.cancelled', payload: payloadOf(row) })),
    );
    await failCodes(trx, tenantId, cancelled);
    messageIds.push(...cancelled.map(row => row.id));
  }
  return { messageIds, releasedChannelIds: [...released] };
}

const cancelledRow = (row: MessageRow, reason: string, nowIso: string): MessageRow => ({
  ...row,
  status: 'cancelled',
  error: { code: 0, title: 'Cancelled', details: reason },
  updated_at: nowIso,
});
