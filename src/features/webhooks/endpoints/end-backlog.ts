import type { Database, Db } from '../../../database/database.ts';
import { shardOf } from '../delivery/lane.ts';
import { endWaiting } from '../delivery/queue.sql.ts';
import { DISABLED } from './target.ts';

/** Deliveries ended in one statement: 80 ms. */
const BATCH = 1_000;

/**
 * Ends the queued deliveries of a disabled endpoint; does nothing for an enabled one. The worker does so as well, but may not have
 * finished, and once the endpoint is enabled these deliveries could not be told from those of later events.
 *
 * Call it before the transaction that enables the endpoint. It works in batches, because one transaction for 200,000 deliveries takes 16
 * seconds, for which it would hold back the readers of the log.
 */
export async function endBacklog({ write }: Database, tenantId: number, id: number): Promise<void> {
  for (let ended = BATCH; ended === BATCH; )
    ended = await endWaiting(write, tenantId, shardOf(id), id, DISABLED, BATCH);
}

/** Ends what is left of the backlog. @param trx has locked the endpoint, and does not yet enable it */
export async function endRemaining(trx: Db, tenantId: number, id: number): Promise<void> {
  await endWaiting(trx, tenantId, shardOf(id), id, DISABLED);
}
