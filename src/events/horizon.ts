import type { Db } from '../database/database.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { type Cursor, isAfter } from './cursor.ts';
import { findOldestWriter, findOwner, type Mark, readMark, type TransactionOwner } from './horizon.sql.ts';

/** The bound below which the log is final: a read strictly below it skips no event. See horizon.sql.ts for the proof. */
export interface Horizon {
  /** The greatest bound known in this process. It stays valid; reading it costs nothing. */
  readonly position: Cursor;
  /**
   * Whether the last `advance` found a long-running transaction of this database; each further call then costs two statements.
   */
  readonly isBlocked: boolean;
  /** Called when the database turns out to be in an older state than this process has seen. */
  set onRolledBack(listener: () => void);
  /** The open transaction that has written to the log and holds the bound back. */
  readonly writer: OpenWriter | undefined;
  /** Advances the bound to the present: one statement, or two while an older transaction of this database is open. */
  advance(): Promise<Advance>;
}

export interface Advance {
  readonly position: Cursor;
  /** Sequence number at the mark; changes with each event written, committed or not. */
  readonly seq: number;
  /** All events with sequence numbers up to `seq` are visible below `position`, or rolled back. */
  readonly isComplete: boolean;
}

/** The database is in an older state than this process has seen: it was restored while the process ran. */
class LogRolledBack extends Error {
  override readonly name = 'LogRolledBack';
  constructor() {
    super(
      'The database was restored to an older state while this process ran. Stop all processes, run `parley restore-log`, and start them again.',
    );
  }
}

/** Locks are queried only for transactions open for this long: most end within milliseconds, and a snapshot costs less. */
const LOCK_CHECK_AFTER_MS = 100;
/** A writer open for this long is reported in a warning, which is repeated at the second interval. */
const WARN_AFTER_MS = 5 * SECOND;
const WARN_AGAIN_MS = MINUTE;

/** A blocking transaction, with the time since when it blocks. */
interface Blocker {
  readonly xid: string;
  readonly sinceMs: number;
}

/** An open transaction that has written to the log. */
export interface OpenWriter extends Blocker {
  /** Looked up only for a warning; null: no view shows it. */
  readonly owner?: TransactionOwner | null;
}

/** The writer that holds the log back, for the metrics. */
export function openWriterOf({ writer }: Horizon): { seconds: number; pid: string; application: string } | undefined {
  if (!writer) return undefined;
  return {
    seconds: (performance.now() - writer.sinceMs) / SECOND,
    pid: String(writer.owner?.pid ?? writer.owner?.prepared_as ?? ''),
    application: writer.owner?.application ?? '',
  };
}

/** Uses the monotonic clock, because only durations matter. */
export function createHorizon(db: Db, log: Log, { warnAfterMs = WARN_AFTER_MS } = {}): Horizon {
  let position: Cursor = { xid: 0n, seq: 0 };
  let knownSeq = -1;
  /** The sequence number of the last quiet mark (`Mark.is_quiet`). */
  let quietSeq = -1;
  let oldest: Blocker | undefined;
  let writer: OpenWriter | undefined;
  let warnAtMs = 0;
  let onRolledBack = (): void => undefined;

  async function bound(mark: Mark): Promise<Cursor> {
    const xmax = BigInt(mark.xmax);
    if (mark.oldest === null) {
      oldest = undefined;
      writer = undefined;
      return { xid: xmax, seq: 0 };
    }
    const nowMs = performance.now();
    if (oldest?.xid !== mark.oldest) oldest = { xid: mark.oldest, sinceMs: nowMs };
    if (nowMs - oldest.sinceMs < LOCK_CHECK_AFTER_MS) return { xid: BigInt(mark.oldest), seq: 0 };
    const xid = await findOldestWriter(db, mark.xip);
    if (xid === undefined) {
      writer = undefined;
      return { xid: xmax - 1n, seq: mark.seq + 1 };
    }
    if (writer?.xid !== xid) {
      writer = { xid, sinceMs: nowMs };
      warnAtMs = nowMs + warnAfterMs;
    }
    if (nowMs >= warnAtMs) {
      warnAtMs = nowMs + WARN_AGAIN_MS;
      await warn(writer, Math.round((nowMs - writer.sinceMs) / SECOND));
    }
    return { xid: BigInt(xid), seq: 0 };
  }

  async function warn({ xid, sinceMs }: OpenWriter, openSeconds: number): Promise<void> {
    const owner = (await findOwner(db, xid)) ?? null;
    writer = { xid, sinceMs, owner };
    if (owner)
      log.warn(
        { xid, ...owner, openSeconds },
        'an open transaction has written to the event log: later events are not delivered until it ends. Terminate it (pg_terminate_backend, or ROLLBACK PREPARED)',
      );
    else
      log.warn(
        { xid, openSeconds },
        'an open transaction that this role cannot inspect may have written to the event log: later events are not delivered until it ends. Grant pg_read_all_stats to the role of DATABASE_URL',
      );
  }

  return {
    get position() {
      return position;
    },
    get writer() {
      return writer;
    },
    set onRolledBack(listener: () => void) {
      onRolledBack = listener;
    },
    get isBlocked() {
      return oldest !== undefined && performance.now() - oldest.sinceMs >= LOCK_CHECK_AFTER_MS;
    },
    async advance() {
      // Compared with the position from before the call: of two concurrent calls, the earlier mark may arrive later.
      const known = position;
      // Only a mark from before this call counts: transactions that had ended by then are in the snapshot of the mark read below.
      const endedSeq = quietSeq;
      const mark = await readMark(db, knownSeq);
      if (BigInt(mark.xmax) < known.xid) {
        quietSeq = -1;
        onRolledBack();
        throw new LogRolledBack();
      }
      knownSeq = mark.seq;
      if (mark.is_quiet) quietSeq = mark.seq;
      const next = await bound(mark);
      // Concurrent calls may finish out of order.
      if (isAfter(next, position)) position = next;
      return { position, seq: mark.seq, isComplete: mark.seq === endedSeq && mark.oldest === null };
    },
  };
}
