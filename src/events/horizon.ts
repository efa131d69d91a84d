import type { Db } from '../database/database.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { type Cursor, isAfter } from './cursor.ts';
import { findOldestWriter, findOwner, type Mark, readMark, type TransactionOwner } from './horizon.sql.ts';

/** The bound below which the log is final: a read strictly below it skips no event. See horizon.sql.ts for the proof. */
export interface Horizon {
  /** The greatest bound known in this process. It stays valid; reading it costs nothing. */
  readonly place: Cursor;
  /**
   * Whether the last `advance` found a long-running transaction of this database; each further call then costs two statements.
   */
  readonly isHeld: boolean;
  /** Called when the database is in an older state than this process has seen. */
  set onWentBack(listener: () => void);
  /** The open transaction that has written to the log and holds the bound back. */
  readonly writer: OpenWriter | undefined;
  /** Advances the bound to the present: one statement, or two while an older transaction of this database is open. */
  advance(): Promise<Advance>;
}

export interface Advance {
  readonly place: Cursor;
  /** Sequence number at the mark; changes with each event written, committed or not. */
  readonly seq: number;
  /**
   * No transaction of this database had an id at the mark: sequence numbers up to `seq` are visible below `place`, or rolled
   * back.
   */
  readonly isQuiet: boolean;
}

/** The database is in an older state than this process has seen: it was restored while the process ran. */
export class LogWentBack extends Error {
  override readonly name = 'LogWentBack';
  constructor() {
    super('The database is in an older state than before: restart every process after `parley restore-log`.');
  }
}

/** Younger transactions are simply waited for: most end within milliseconds, and querying locks costs more than a snapshot. */
const YOUNG_MS = 100;
/** A writer open for this long is reported in a warning, which is repeated at the second interval. */
const WARN_AFTER_MS = 5 * SECOND;
const WARN_AGAIN_MS = MINUTE;

/** A blocking transaction, with the time since when it blocks. */
interface Standing {
  readonly xid: string;
  readonly sinceMs: number;
}

/** An open transaction that has written to the log. */
export interface OpenWriter extends Standing {
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

/** Times of the monotonic clock: only durations matter. */
export function createHorizon(db: Db, log: Log, { warnAfterMs = WARN_AFTER_MS } = {}): Horizon {
  let place: Cursor = { xid: 0n, seq: 0 };
  let knownSeq = -1;
  let oldest: Standing | undefined;
  let writer: OpenWriter | undefined;
  let warnAtMs = 0;
  let onWentBack = (): void => undefined;

  async function bound(mark: Mark): Promise<Cursor> {
    const xmax = BigInt(mark.xmax);
    if (mark.oldest === null) {
      oldest = undefined;
      writer = undefined;
      return { xid: xmax, seq: 0 };
    }
    const nowMs = performance.now();
    if (oldest?.xid !== mark.oldest) oldest = { xid: mark.oldest, sinceMs: nowMs };
    if (nowMs - oldest.sinceMs < YOUNG_MS) return { xid: BigInt(mark.oldest), seq: 0 };
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
        'a transaction that has written to the event log stays open: events after it are not delivered. End it (pg_terminate_backend, or ROLLBACK PREPARED)',
      );
    else
      log.warn(
        { xid, openSeconds },
        'a transaction that this role cannot see may write to the event log: events after it are not delivered. Grant pg_read_all_stats to the role of DATABASE_URL',
      );
  }

  return {
    get place() {
      return place;
    },
    get writer() {
      return writer;
    },
    set onWentBack(listener: () => void) {
      onWentBack = listener;
    },
    get isHeld() {
      return oldest !== undefined && performance.now() - oldest.sinceMs >= YOUNG_MS;
    },
    async advance() {
      // With two concurrent calls, the earlier mark may be answered later: it is behind the other's position, but not a restore.
      const known = place;
      const mark = await readMark(db, knownSeq);
      if (BigInt(mark.xmax) < known.xid) {
        onWentBack();
        throw new LogWentBack();
      }
      knownSeq = mark.seq;
      const next = await bound(mark);
      // Concurrent calls may finish out of order.
      if (isAfter(next, place)) place = next;
      return { place, seq: mark.seq, isQuiet: mark.is_quiet };
    },
  };
}
