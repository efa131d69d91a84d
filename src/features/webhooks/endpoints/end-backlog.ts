import type { Database, Db } from '../../../database/database.ts';
import { shardOf } from '../delivery/lane.ts';
import { endWaiting } from '../delivery/queue.sql.ts';
import { DISABLED } from './target.ts';

/** Deliveries ended in one statement: 80 ms. */
const BATCH = 1_000;

/**
 * Ends what is queued since before an endpoint was disabled; nothing of an endpoint that is enabled. The worker does so as well, but
 * may not have finished, or not begun, and after the enabling these deliveries could not be told from those of later events.
 *
 * Call it before the transaction that enables the endpoint, in batches: one of 16 seconds, for 200,000 deliveries, would hold back
 * the readers of the log.
 */
export async function endBacklog({ write }: Database, tenantId: number, id: number): Promise<void> {
  for (let ended = BATCH; ended === BATCH; )
    ended = await endWaiting(write, tenantId, shardOf(id), id, DISABLED, BATCH);
}

/** Ends what is left of the backlog. @param trx has locked the endpoint, and does not yet enable it */
export async function endRemaining(trx: Db, tenantId: number, id: number): Promise<void> {
  await endWaiting(trx, tenantId, shardOf(id), id, DISABLED);
}
