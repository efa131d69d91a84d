import type { Resources } from '../../context.ts';
import { DAY } from '../../platform/clock.ts';
import { dropPartitions } from '../../platform/partitions.ts';
import { deleteOldest } from './retention-store.ts';

/** So many at a time: locks are held for some ten milliseconds. */
const BATCH = 2_000;

/**
 * Removes events that are older than the deployment keeps them, oldest first. Subscribers whose cursor lies before what is
 * left are told so.
 * @param readers names of the log's readers: what they have still to take stays
 */
export async function deleteOldEvents(resources: Resources, readers: readonly string[]): Promise<void> {
  const { db, clock, config } = resources;
  const before = new Date(clock.now() - config.retention.eventsDays * DAY).toISOString();
  while ((await db.transaction(trx => deleteOldest(trx, before, BATCH, readers))) === BATCH);
  await dropPartitions(db.write, 'events', before, 'empty');
}
