import type { Database, Db } from '../../../database/database.ts';
import { lockOutbound } from '../statuses/states.sql.ts';
import { cancelWaiting } from './cancel.ts';
import { forgetDispatch, lockTurns } from './outbox.sql.ts';
import { findQueuedBefore } from './release.sql.ts';

/** Messages cancelled in one transaction. */
const BATCH = 500;

const RESTORED = 'The database was restored from a backup, and the operator cancelled messages queued before it.';

/**
 * After a restore, cancels messages that were accepted before an instant, with an event each: they may have been sent since the backup.
 * @returns the number of cancelled messages
 */
export async function cancelQueuedBefore(
  db: Database,
  before: Date,
  progress: (done: number) => void = () => undefined,
): Promise<number> {
  for (let done = 0; ; progress(done)) {
    const queued = await findQueuedBefore(db.write, before.toISOString(), BATCH);
    if (!queued) return done;
    const { tenantId, messageIds } = queued;
    await db.transaction(trx => cancel(trx, tenantId, messageIds));
    done += messageIds.length;
  }
}

/** Includes messages submitted before the backup, because their statuses are no longer awaited. */
async function cancel(trx: Db, tenantId: number, messageIds: readonly string[]): Promise<void> {
  // Lock order: message_states, then the outbox by position, to avoid deadlocks with statuses that come in.
  await lockOutbound(
    trx,
    messageIds.map(messageId => ({ tenantId, messageId })),
  );
  await lockTurns(trx, tenantId, messageIds, 'all');
  await forgetDispatch(trx, tenantId, messageIds);
  await cancelWaiting(trx, tenantId, { messageIds }, RESTORED);
}
