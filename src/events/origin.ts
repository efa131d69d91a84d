import type { Database } from '../database/database.ts';
import { SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import type { Horizon } from './horizon.ts';
import {
  beganFromBackup,
  type OriginFacts,
  readCluster,
  readOrigin,
  touchOrigin,
  writeFault,
  writeOrigin,
} from './origin.sql.ts';

/*
 * Places in the log are transaction ids of one cluster, and the outbox says what was not sent yet. Both are wrong in a copy and in
 * an older state of a database: cursors point into events that are gone, and messages would be sent twice.
 *
 * A copy is noticed by facts that a copy cannot carry: the transaction that wrote a row, the database's oid, the system identifier.
 * An older state of the same files carries everything; it is noticed by what the server keeps of a recovery (backup_label.old, a
 * recovery target) and by processes that saw more than there is. A rollback of the server's disks while no process runs cannot be
 * noticed from inside: `parley restore-log --force` says so by hand. A promoted replica is taken over: nothing in it is older.
 */

/** Heartbeat interval. */
export const TOUCH_SECONDS = 30;

/** Why this is not the database that wrote the log; undefined if it is. */
export function restoredReason(facts: OriginFacts, isFromBackup: boolean): string | undefined {
  if (facts.fault !== null) return facts.fault;
  if (facts.has_future_places) return 'its event log has places that this PostgreSQL cluster has not reached';
  if (!facts.is_known) return undefined;
  if (!facts.is_original) return 'it was made by dump and restore';
  if (!facts.is_same_database) return 'it is a copy of another database of this cluster';
  // pg_upgrade keeps positions and creates a new system identifier.
  if (!facts.is_same_system && facts.is_same_version) return 'its files come from another PostgreSQL cluster';
  if (isFromBackup) return `the server was started from a base backup after Parley was last here (${facts.seen_at})`;
  if (facts.has_recovery_target && !facts.is_same_timeline) return 'the server was recovered to a point in time';
  return undefined;
}

/**
 * Writes a heartbeat and checks that the database is still the one this process started with.
 * @returns a function that stops it
 */
export function keepOrigin(db: Pick<Database, 'read' | 'write'>, horizon: Horizon, log: Log): () => Promise<void> {
  let running = Promise.resolve();
  let wentBack = false;
  let isTold = false;
  const look = async (): Promise<void> => {
    const { reason } = await examineOrigin(db);
    if (reason === undefined && !wentBack) return touchOrigin(db.write, TOUCH_SECONDS);
    const fault = reason ?? 'it went back to an older state while a process ran';
    await writeFault(db.write, fault);
    if (isTold) return;
    isTold = true;
    log.error(
      { reason: fault },
      'the database was restored while this process runs: the outbox is held. Stop all processes and run `parley restore-log`',
    );
  };
  const run = (): void => {
    running = running
      .then(look)
      .catch(error => log.warn({ err: error }, 'the origin of the log could not be examined; trying again'));
  };
  horizon.onWentBack = () => {
    if (!wentBack) run();
    wentBack = true;
  };
  const timer = setInterval(run, TOUCH_SECONDS * SECOND);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** @returns why the database is not the one that wrote the log (undefined if it is), and the generation of its cursors */
export async function examineOrigin({
  read,
}: Pick<Database, 'read'>): Promise<{ readonly reason: string | undefined; readonly facts: OriginFacts }> {
  const facts = await readOrigin(read);
  const isFromBackup = facts.is_known && facts.may_stat_files && (await beganFromBackup(read));
  return { reason: restoredReason(facts, isFromBackup), facts };
}

/**
 * Call before writing to the database outside of a process that has adopted the log: an event would get a place in the log of
 * another database.
 * @throws UserError if the database is a copy or an older state
 */
export async function requireOwnLog(db: Pick<Database, 'read'>): Promise<OriginFacts> {
  const { reason, facts } = await examineOrigin(db);
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
export async function takeLog(db: Pick<Database, 'read' | 'write'>): Promise<number> {
  const facts = await requireOwnLog(db);
  if (!facts.is_known || !facts.is_same_system || !facts.is_same_timeline)
    await writeOrigin(db.write, await readCluster(db.write));
  else await touchOrigin(db.write, 0);
  return facts.generation;
}
