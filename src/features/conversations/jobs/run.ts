import { CodedError } from '../../../core/errors.ts';
import { violationOf } from '../../../database/violations.ts';
import { type Lane, LaneLost, type TurnEnd } from '../../../lanes/lane.ts';
import { DAY, exponentialBackoffMs, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { lockConversations } from '../change.sql.ts';
import { applyChange } from '../change.ts';
import { patchFault } from '../transition.ts';
import { lockMatching } from '../update-many.sql.ts';
import type { JobRow } from './job.ts';
import { advanceJob, deleteFinishedJobs, failJob, lockNextJob } from './store.ts';

/** Conversations of one transaction: few enough that messages to them wait for some tens of milliseconds only. */
const BATCH = 200;
const LINGER_MS = 2 * SECOND;
/** A job whose batch fails this often in a row, over some ten minutes, is given up. */
const MAX_ATTEMPTS = 10;
const KEEP_MS = 30 * DAY;

type Needs = Pick<Resources, 'db' | 'clock' | 'signals' | 'log'>;

/** Runs the jobs of a tenant, oldest first. Each batch stores its position, so that another process can resume there. */
export async function runJobs(resources: Needs, lane: Lane): Promise<TurnEnd> {
  while (await lane.ready()) {
    if (lane.isTurnOver()) return 'more';
    const outcome = await runBatch(resources, lane);
    if (outcome === 'failed') return undefined;
    if (outcome === 'empty' && !(await lane.linger(LINGER_MS))) return undefined;
  }
  return undefined;
}

async function runBatch({ db, clock, signals, log }: Needs, lane: Lane): Promise<'done' | 'empty' | 'failed'> {
  const { tenantId } = lane;
  let job: JobRow | undefined;
  try {
    await db.transaction(async trx => {
      job = await lockNextJob(trx, tenantId);
      if (!job) return;
      const { id, filter, change, last_id: afterId, max_id: maxId } = job;
      const ids = await lockMatching(trx, tenantId, filter, { afterId, maxId, limit: BATCH });
      const now = clock.now();
      const rows = await lockConversations(trx, tenantId, ids);
      // With 0 as the present: the time of a snooze is the same for all rows, and was checked when the job was accepted.
      const changeable = rows.filter(row => !patchFault(change, row, 0));
      await applyChange(trx, tenantId, changeable, change, now);
      const isFinished = ids.length < BATCH;
      const progress = {
        lastId: ids.at(-1) ?? maxId,
        updated: changeable.length,
        failed: rows.length - changeable.length,
        isFinished,
      };
      await advanceJob(trx, tenantId, id, progress);
      await lane.fence(trx);
    });
  } catch (error) {
    if (!job || error instanceof LaneLost) throw error;
    const isLost = violationOf(error) !== undefined;
    const isGivenUp = isLost || job.attempts + 1 >= MAX_ATTEMPTS;
    log.error({ err: error, tenantId, jobId: job.id, isGivenUp }, 'a batch of conversations could not be updated');
    const retryMs = exponentialBackoffMs(job.attempts, { firstMs: SECOND, maxMs: 5 * MINUTE });
    await failJob(
      db.write,
      tenantId,
      job.id,
      isLost ? 'A staff member of the update was removed.' : reasonOf(error, isGivenUp),
      isGivenUp ? null : retryMs,
    );
    return 'failed';
  }
  if (!job) return 'empty';
  signals.send('events');
  return 'done';
}

/** The database's own words name tables and values: they are for the log. */
function reasonOf(error: unknown, isGivenUp: boolean): string {
  if (error instanceof CodedError) return error.message;
  return isGivenUp
    ? `${MAX_ATTEMPTS} attempts in a row failed. Repeat the update for the rest.`
    : 'The last batch failed, and is tried again.';
}

/** Deletes old jobs. */
export const cleanJobs = ({ db, clock }: Pick<Resources, 'db' | 'clock'>): Promise<void> =>
  deleteFinishedJobs(db.write, new Date(clock.now() - KEEP_MS).toISOString());
