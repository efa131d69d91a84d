import { notFound } from '../../core/errors.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { cancelWaiting } from '../messages/dispatch/cancel.ts';
import { CHANNEL_DISCONNECTED } from '../messages/dispatch/clear-disconnected.ts';
import { laneOf, OUTBOX } from '../messages/dispatch/lane.ts';
import type { ChannelRow } from './channel.ts';
import { disconnect, getChannels } from './store.ts';

export interface DisconnectedChannel {
  readonly channel: ChannelRow;
  /** Number of queued messages that were cancelled. */
  readonly cancelled: number;
}

interface Needs extends Pick<Resources, 'db'> {
  readonly signals: Pick<Resources['signals'], 'send'>;
  readonly lanes: Resources['lanes'];
}

/**
 * Disconnects a business number. Queued messages are cancelled, each with `message.cancelled`; messages already submitted still
 * receive their response and statuses. Channel, conversations and messages are kept for when the tenant reconnects the number;
 * meanwhile another tenant may connect it. Disconnecting again cancels messages accepted since.
 * @param reason shown as the channel's statusReason
 * @throws NOT_FOUND
 */
export async function disconnectChannel(
  { db, signals, lanes }: Needs,
  tenantId: number,
  id: number,
  reason: string,
): Promise<DisconnectedChannel> {
  const outcome = await db.transaction(trx => writeDisconnected(trx, tenantId, id, reason));
  wakeDisconnected({ signals, lanes }, tenantId, id);
  return outcome;
}

/** The part of `disconnectChannel` within a transaction of the caller; `wakeDisconnected` follows its commit. */
export async function writeDisconnected(
  trx: Db,
  tenantId: number,
  id: number,
  reason: string,
): Promise<DisconnectedChannel> {
  const changed = await disconnect(trx, tenantId, id, reason);
  const [channel] = changed.length > 0 ? changed : await getChannels(trx, tenantId, [id]);
  if (!channel) throw notFound('Channel');
  await append(
    trx,
    tenantId,
    changed.map(row => ({ type: 'channel.updated', payload: { channel: row } })),
  );
  const { messageIds } = await cancelWaiting(trx, tenantId, { channelId: id }, CHANNEL_DISCONNECTED);
  return { channel, cancelled: messageIds.length };
}

/** A concurrent send may still be accepted, because it read the channel as active; the lane cancels it. */
export function wakeDisconnected({ signals, lanes }: Omit<Needs, 'db'>, tenantId: number, id: number): void {
  signals.send('events');
  lanes.wake(OUTBOX, laneOf(tenantId, id));
}
