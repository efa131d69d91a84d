import { sql } from 'kysely';
import { type Clock, DAY, HOUR } from '../platform/clock.ts';
import type { Database } from './database.ts';

/** Small against every period of retention, all of which are in days. */
const MAX_AHEAD_MS = HOUR;

/**
 * Call before rows are deleted by their age on the clock of this process: if it jumped (a virtual machine that was restored, a dead
 * battery), everything would be old.
 * @throws Error if that clock is more than an hour ahead of the database's
 */
export async function requireClockNotAhead(db: Pick<Database, 'write'>, clock: Clock): Promise<void> {
  const { now } = await db.write
    .selectNoFrom(sql<number>`extract(epoch from clock_timestamp())::float8 * 1000`.as('now'))
    .executeTakeFirstOrThrow();
  const aheadMs = clock.now() - now;
  if (aheadMs <= MAX_AHEAD_MS) return;
  throw new Error(
    `The clock of this process is ${(aheadMs / DAY).toFixed(1)} days ahead of the database's: nothing is removed by its age. Set the clock.`,
  );
}
