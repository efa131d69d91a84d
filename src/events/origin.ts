import type { Database } from '../database/database.ts';
import { SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import type { Horizon } from './horizon.ts';
import {
  type OriginFacts,
  readCluster,
  readOrigin,
  startedFromBackup,
  touchOrigin,
  writeFault,
  writeOrigin,
} from './origin.sql.ts';

/*
 * Positions in the log contain transaction ids of one cluster, and the outbox lists the messages not sent yet. Both are wrong in a
 * copy or an older state of a database: cursors point to missing events, and messages would be sent twice.
 *
 * - A copy is detected by facts that it does not preserve: the transaction that wrote a row, the database's oid, the system
 *   identifier.
 * - An older state of the same files preserves all of these. It is detected by traces of the recovery (backup_label.old, a recovery
 *   target) and by processes that have seen later positions.
 * - Disks that were rolled back while no process ran cannot be detected; the operator runs `parley restore-log --force`.
 * - A promoted replica is adopted without a restore. If it lacks the last commits, workers write the results of their last sends again
 *   (lanes/promotion.ts); a process that sees positions decrease treats it as an older state.
 */

/** Heartbeat interval. */
const TOUCH_SECONDS = 30;

/** Returns why this is not the database that wrote the log; undefined if it is. */
export function restoredReason(facts: OriginFacts, isFromBackup: boolean): string | undefined {
  if (facts.fault !== null) return facts.fault;
  if (facts.has_future_positions) return 'its event log has positions that this PostgreSQL cluster has not reached';
  if (!facts.is_known) return undefined;
  if (!facts.is_original) return 'it was made by dump and restore';
  if (!facts.is_same_database) return 'it is a copy of another database of this cluster';
  // pg_upgrade keeps positions and creates a new system identifier.
  if (!facts.is_same_system && facts.is_same_version) return 'its files come from another PostgreSQL cluster';
  if (isFromBackup) return `the server was started from a base backup after Parley last used it (${facts.seen_at})`;
  if (facts.has_recovery_target && !facts.is_same_timeline) return 'the server was recovered to a point in time';
  return undefined;
}

/**
 * Writes a heartbeat and checks that the database is still the one this process started with.
 * @returns a function that stops it
 */
export function watchOrigin(db: Pick<Database, 'read' | 'write'>, horizon: Horizon, log: Log): () => Promise<void> {
  let running = Promise.resolve();
  let isRolledBack = false;
  let isReported = false;
  const check = async (): Promise<void> => {
    const { reason } = await checkOrigin(db);
    if (reason === undefined && !isRolledBack) return touchOrigin(db.write, TOUCH_SECONDS);
    const fault = reason ?? 'it was restored to an older state while a process was running';
    await writeFault(db.write, fault);
    if (isReported) return;
    isReported = true;
    log.error(
      { reason: fault },
      'the database was restored while this process runs: the outbox is held. Stop all processes and run `parley restore-log`',
    );
  };
  const run = (): void => {
    running = running
      .then(check)
      .catch(error => log.warn({ err: error }, 'the origin of the event log could not be checked; retrying'));
  };
  horizon.onRolledBack = () => {
    if (!isRolledBack) run();
    isRolledBack = true;
  };
  const timer = setInterval(run, TOUCH_SECONDS * SECOND);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** @returns why the database is not the one that wrote the log (undefined if it is), and the facts from which this follows */
export async function checkOrigin({
  read,
}: Pick<Database, 'read'>): Promise<{ readonly reason: string | undefined; readonly facts: OriginFacts }> {
  const facts = await readOrigin(read);
  const isFromBackup = facts.is_known && facts.may_stat_files && (await startedFromBackup(read));
  return { reason: restoredReason(facts, isFromBackup), facts };
}

/**
 * Call before writing to the database outside of a process that has adopted the log: an event would get a position in the log of
 * another database.
 * @throws UserError if the database is a copy or an older state
 */
export async function requireOriginalLog(db: Pick<Database, 'read'>): Promise<OriginFacts> {
  const { reason, facts } = await checkOrigin(db);
  if (reason !== undefined)
    throw new UserError(
      `This database was restored or copied: ${reason}. Its event log has to be renumbered, and part of its outbox may have been sent already. Stop all processes on it and run \`parley restore-log\`.`,
    );
  return facts;
}

/**
 * Adopts the log for a starting process.
 * @returns the generation of its cursors
 * @throws UserError if the database is a copy or an older state
 */
export async function adoptLog(db: Pick<Database, 'read' | 'write'>): Promise<number> {
  const facts = await requireOriginalLog(db);
  if (!facts.is_known || !facts.is_same_system || !facts.is_same_timeline)
    await writeOrigin(db.write, await readCluster(db.write));
  else await touchOrigin(db.write, 0);
  return facts.generation;
}
