import type { Database, Db } from '../../../database/database.ts';
import type { Lane } from '../../../lanes/lane.ts';
import type { Resources } from '../../../schema/context.ts';
import { DISCONNECTED_IN_DOUBT } from '../send/outcome.ts';
import { applyStatuses } from '../statuses/apply-statuses.ts';
import { lockOutbound } from '../statuses/states.sql.ts';
import { cancelMany } from './cancel.ts';
import { findDisconnected, findDoubtful } from './outbox.sql.ts';

/** Error details of messages that are cancelled for this reason. */
const CHANNEL_DISCONNECTED = 'The channel was disconnected before the message was sent.';

/** Error of messages of which it will stay unknown whether the network accepted them. */
const UNKNOWN = {
  code: 0,
  title: DISCONNECTED_IN_DOUBT,
  details:
    'It is unknown whether the network accepted the message: its channel was disconnected, and no status was received.',
} as const;

/** Messages failed in one transaction. */
const BATCH = 500;

/** The ids of messages that wait in the queue of a disconnected channel, for `cancelDisconnected`. */
export const listDisconnected = (db: Db, tenantId: number, channelId: number): Promise<string[]> =>
  findDisconnected(db, tenantId, channelId);

/** Cancels messages of a disconnected channel, see `cancelMany`. @returns how many are cancelled */
export const cancelDisconnected = (
  needs: { readonly db: Database; readonly signals: Pick<Resources['signals'], 'send'> },
  tenantId: number,
  messageIds: readonly string[],
  signal?: AbortSignal,
): Promise<number> => cancelMany(needs, tenantId, messageIds, CHANNEL_DISCONNECTED, signal);

/**
 * Cancels messages that were accepted or postponed after their channel was disconnected, or that the process which disconnected it
 * left when it died, and fails those that the network may have accepted, after `doubtMs` without a status.
 */
export async function clearDisconnected(
  { db, signals, clock }: Pick<Resources, 'db' | 'signals' | 'clock'>,
  { signal }: Pick<Lane, 'signal'>,
  tenantId: number,
  channelId: number,
  doubtMs: number,
): Promise<void> {
  // Separate transactions, to avoid deadlocks: they lock outbox rows, before the states of doubtful messages are locked.
  const waiting = await listDisconnected(db.write, tenantId, channelId);
  await cancelDisconnected({ db, signals }, tenantId, waiting, signal);
  let count = BATCH;
  while (count === BATCH && !signal.aborted) {
    count = await db.transaction(async trx => {
      const doubtful = await lockDoubtful(trx, tenantId, channelId, doubtMs);
      const at = new Date(clock.now()).toISOString();
      await applyStatuses(
        trx,
        tenantId,
        doubtful.map(messageId => ({ messageId, status: 'failed' as const, at, error: UNKNOWN })),
        Date.parse(at),
      );
      return doubtful.length;
    });
    signals.send('events');
  }
}

/** Locks doubtful messages and reads them again: a status may have settled some meanwhile. */
async function lockDoubtful(trx: Db, tenantId: number, channelId: number, doubtMs: number): Promise<string[]> {
  const found = await findDoubtful(trx, tenantId, channelId, doubtMs, BATCH);
  await lockOutbound(
    trx,
    found.map(messageId => ({ tenantId, messageId })),
  );
  const locked = new Set(found);
  return (await findDoubtful(trx, tenantId, channelId, doubtMs, BATCH)).filter(id => locked.has(id));
}
