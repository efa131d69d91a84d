import { notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { cancelDisconnected, listDisconnected } from '../messages/dispatch/clear-disconnected.ts';
import { laneOf, OUTBOX } from '../messages/dispatch/lane.ts';
import type { PublicChannel } from './channel.ts';
import { disconnect, getChannels } from './store.ts';

export interface DisconnectedChannel {
  readonly channel: PublicChannel;
  /** Number of queued messages that were cancelled. */
  readonly cancelled: number;
}

/** A channel that is marked as disconnected, and the messages that are to be cancelled. */
export interface WrittenDisconnected {
  readonly channel: PublicChannel;
  readonly waiting: readonly string[];
}

interface Needs extends Pick<Resources, 'db'> {
  readonly signals: Pick<Resources['signals'], 'send'>;
  readonly lanes: Resources['lanes'];
}

/**
 * Disconnects a business number. Queued messages are cancelled, each with `message.cancelled`; messages already submitted still
 * receive their response and statuses. Channel, conversations and messages are kept for when the tenant reconnects the number;
 * meanwhile another tenant may connect it. Disconnecting again cancels messages accepted since.
 *
 * If the process dies after the channel was marked, its lane cancels the rest.
 * @param reason shown as the channel's statusReason
 * @throws NOT_FOUND
 */
export async function disconnectChannel(
  needs: Needs,
  tenantId: number,
  id: number,
  reason: string,
): Promise<DisconnectedChannel> {
  const { channel, waiting } = await needs.db.transaction(trx => writeDisconnected(trx, tenantId, id, reason));
  return { channel, cancelled: await cancelQueue(needs, tenantId, id, waiting) };
}

/** The part of `disconnectChannel` within a transaction of the caller; `cancelQueue` follows its commit. */
export async function writeDisconnected(
  trx: Db,
  tenantId: number,
  id: number,
  reason: string,
): Promise<WrittenDisconnected> {
  const changed = await disconnect(trx, tenantId, id, reason);
  const [channel] = changed.length > 0 ? changed : await getChannels(trx, tenantId, [id]);
  if (!channel) throw notFound('Channel');
  await append(
    trx,
    tenantId,
    changed.map(row => ({ type: 'channel.updated', payload: { channel: row } })),
  );
  return { channel, waiting: await listDisconnected(trx, tenantId, id) };
}

/**
 * Cancels the messages in the queue of a disconnected channel. A concurrent send may still be accepted, because it read the channel
 * as active; the lane cancels it.
 * @returns how many are cancelled
 */
export async function cancelQueue(
  { db, signals, lanes }: Needs,
  tenantId: number,
  id: number,
  waiting: readonly string[],
): Promise<number> {
  signals.send('events');
  try {
    return await cancelDisconnected({ db, signals }, tenantId, waiting);
  } finally {
    // Afterwards: the lane would wait for the same locks.
    lanes.wake(OUTBOX, laneOf(tenantId, id));
  }
}
