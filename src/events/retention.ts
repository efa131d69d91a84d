import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { dropPartitions } from '../database/partitions.sql.ts';
import { type Clock, DAY } from '../platform/clock.ts';
import type { Horizon } from './horizon.ts';
import { deleteOldest } from './retention.sql.ts';

interface RetentionResources {
  readonly db: Database;
  readonly clock: Clock;
  readonly config: Pick<Config, 'retention'>;
  readonly horizon: Horizon;
}

/** Batch size: locks are held for about ten milliseconds. */
const BATCH = 2_000;

/**
 * Removes events past the retention period, oldest first. Subscribers with an older cursor get CURSOR_EXPIRED.
 * @param readers names of the log's readers; events that they have not consumed stay
 */
export async function deleteOldEvents(resources: RetentionResources, readers: readonly string[]): Promise<void> {
  const { db, clock, config, horizon } = resources;
  const before = new Date(clock.now() - config.retention.eventsDays * DAY).toISOString();
  // Without this, a process that runs no readers would use the horizon of its start.
  const { position } = await horizon.advance();
  while ((await db.transaction(trx => deleteOldest(trx, before, BATCH, position, readers))) === BATCH);
  await dropPartitions(db.write, 'events', before, 'empty');
}
