import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import { isRejected, isUnavailable } from './unavailable.ts';

const PAUSE_MS = SECOND / 2;
const REPORT_EVERY_MS = 5 * SECOND;

export interface WaitOptions {
  readonly url: string;
  /** The URL leads to PostgreSQL itself. */
  readonly isDirect: boolean;
  /** Maximum wait; 0: one attempt. */
  readonly waitMs: number;
  /** Timeout of one connection attempt. */
  readonly connectTimeoutMs: number;
  readonly log: Log;
  /** Aborts the wait. */
  readonly signal: AbortSignal;
}

/**
 * Waits for a starting database and logs that every five seconds. Does not wait if credentials are wrong or the database does not
 * exist.
 * @throws UserError with the reason and the remedy, AbortError if the signal aborts it
 */
export async function waitForDatabase({
  url,
  isDirect,
  waitMs,
  connectTimeoutMs,
  log,
  signal,
}: WaitOptions): Promise<void> {
  const startedMs = performance.now();
  let reportedMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    signal.throwIfAborted();
    const error = await connectOnce(url, isDirect, connectTimeoutMs);
    if (error === undefined) return;
    const reason = error instanceof AggregateError ? error.errors.map(String).join(', ') : messageOf(error);
    if (isRejected(error))
      throw new UserError(`The database rejected the connection: ${reason}. Check DATABASE_URL.`, { cause: error });
    if (reason.includes('unsupported startup parameter')) {
      throw new UserError(
        `DATABASE_URL leads to PgBouncer (${reason}). Set PARLEY_PGBOUNCER=true, and PARLEY_DIRECT_DATABASE_URL to the address of PostgreSQL itself.`,
        { cause: error },
      );
    }
    if (!isUnavailable(error)) throw error;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= waitMs) {
      throw new UserError(
        `The database does not answer: ${reason}. Waited ${waitMs / SECOND} s (PARLEY_DATABASE_WAIT_SECONDS). Start it, or check DATABASE_URL.`,
        { cause: error },
      );
    }
    if (waitedMs - reportedMs >= REPORT_EVERY_MS) {
      reportedMs = waitedMs;
      log.warn(
        { reason, waitedSeconds: Math.round(waitedMs / SECOND), limitSeconds: waitMs / SECOND },
        'waiting for the database',
      );
    }
    await sleep(Math.min(PAUSE_MS, waitMs - waitedMs), undefined, { signal });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);

async function connectOnce(
  connectionString: string,
  isDirect: boolean,
  connectionTimeoutMillis: number,
): Promise<unknown> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis,
    application_name: 'parley',
    // PgBouncer rejects start-up options.
    ...(isDirect && { options: '-c TimeZone=UTC' }),
  });
  // Without a listener, a connection error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
