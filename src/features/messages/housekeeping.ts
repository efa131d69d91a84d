import { DAY } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { deleteExpired } from './content/media/files.sql.ts';
import { extendDoubt, repairTurns } from './dispatch/outbox.sql.ts';
import { deleteOldMessages, listRetentions } from './messages.sql.ts';
import { deleteZeroCounts, movePending } from './statistics/statistics.sql.ts';

/** Rows deleted by one statement, within some tenths of a second. */
const BATCH = 1_000;

/** Deletes messages past their tenant's retention period, in small transactions. By default messages are kept. */
export async function applyMessageRetention({ db, clock }: Pick<Resources, 'db' | 'clock'>): Promise<void> {
  for (const { tenant_id: tenantId, days } of await listRetentions(db.write)) {
    const beforeIso = new Date(clock.now() - days * DAY).toISOString();
    while ((await deleteOldMessages(db.write, tenantId, beforeIso, BATCH)) === BATCH);
  }
}

/** Deletes expired uploads that no message shows: those that the network has deleted, and those whose file never came. */
export async function deleteOldMedia({ db }: Resources): Promise<void> {
  while ((await deleteExpired(db.write, BATCH)) === BATCH);
}

/**
 * Restarts the wait for statuses after a time in which they could not be stored: at the start of a process, after an outage of the
 * database, after the process was suspended. Messages without a response are retried only after that wait.
 */
export const restartStatusWait = ({ db }: Pick<Resources, 'db'>): Promise<void> => extendDoubt(db.write);

/** Repairs the order of the outbox: a message whose predecessor is missing would never be sent. */
export async function repairLostTurns({ db, log }: Resources): Promise<void> {
  const repaired = await repairTurns(db.write);
  if (repaired > 0) log.error({ repaired }, 'blocked messages without a predecessor were unblocked');
}

/** Changes of statistics, or counts, handled by one transaction, within some tenths of a second. */
const STATISTICS_BATCH = 5_000;

/** Moves changes into the statistics of messages. */
export async function moveStatistics({ db }: Pick<Resources, 'db'>): Promise<void> {
  while ((await movePending(db.write, STATISTICS_BATCH)) === STATISTICS_BATCH);
}

/** Removes counts of the statistics that have become zero. */
export async function deleteEmptyStatistics({ db }: Pick<Resources, 'db'>): Promise<void> {
  while ((await deleteZeroCounts(db.write, STATISTICS_BATCH)) === STATISTICS_BATCH);
}
