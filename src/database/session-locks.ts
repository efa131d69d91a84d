import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Client } from 'pg';
import { SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Db } from './database.ts';

/**
 * Names held by live processes: session-level advisory locks on one connection per process, which the database releases when the
 * process dies, however it dies.
 */
export interface SessionLocks {
  /**
   * Holds a name until it is released or this process dies. Resolves once a connection exists; the lock follows within a round
   * trip, so that requests do not wait for it. Without a connection nothing is held. Never rejects.
   * @returns a function that releases it
   */
  hold(name: string): Promise<() => void>;
  /** Whether a live process holds one of these names. */
  isHeld(names: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}

const RECONNECT_MS = SECOND;

/** The first 64 bits of a digest, as the two 32-bit halves shown by pg_locks and as the signed number used as the lock's key. */
function keyOf(name: string): { readonly key: string; readonly high: number; readonly low: number } {
  const digest = createHash('sha256').update(name).digest();
  return { key: String(digest.readBigInt64BE(0)), high: digest.readUInt32BE(0), low: digest.readUInt32BE(4) };
}

/** @param connect opens a dedicated connection; called at the first `hold` */
export function createSessionLocks(db: Db, connect: () => Promise<Client>, log: Log): SessionLocks {
  /** Number of holds per name by requests of this process. */
  const wanted = new Map<string, number>();
  /** Names locked on the current connection. */
  const locked = new Set<string>();
  let client: Client | undefined;
  let opening: Promise<void> | undefined;
  let flushing = false;
  let closed = false;

  async function open(): Promise<void> {
    const opened = await connect();
    const lose = (): void => {
      if (client !== opened) return;
      client = undefined;
      locked.clear();
      if (wanted.size > 0 && !closed) setTimeout(() => void flush(), RECONNECT_MS).unref();
    };
    opened.on('error', lose);
    opened.on('end', lose);
    client = opened;
  }

  function connected(): Promise<void> {
    if (client) return Promise.resolve();
    opening ??= open().then(
      () => {
        opening = undefined;
      },
      error => {
        log.warn(
          { err: error },
          'no database connection for session locks: other processes treat running requests with an idempotency key as ended',
        );
        setTimeout(() => {
          opening = undefined;
          void flush();
        }, RECONNECT_MS).unref();
      },
    );
    return opening;
  }

  /**
   * Locks and unlocks the changes since the last flush, with one statement each. A request that ended before the flush costs
   * nothing.
   */
  async function flush(): Promise<void> {
    if (flushing) return;
    flushing = true;
    try {
      for (;;) {
        const lock = [...wanted.keys()].filter(name => !locked.has(name));
        const unlock = [...locked].filter(name => !wanted.has(name));
        if (closed || (lock.length === 0 && unlock.length === 0)) return;
        await connected();
        const session = client;
        if (!session) return;
        for (const name of lock) locked.add(name);
        for (const name of unlock) locked.delete(name);
        const run = (call: string, names: readonly string[]) =>
          names.length === 0
            ? undefined
            : session.query(`select ${call}(k) from unnest($1::bigint[]) as k`, [names.map(name => keyOf(name).key)]);
        await run('pg_try_advisory_lock', lock);
        await run('pg_advisory_unlock', unlock);
      }
    } catch (error) {
      log.warn({ err: error }, 'session locks could not be changed');
      await client?.end().catch(() => undefined);
    } finally {
      flushing = false;
    }
  }

  return {
    async hold(name) {
      wanted.set(name, (wanted.get(name) ?? 0) + 1);
      await connected();
      void flush();
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        const left = (wanted.get(name) ?? 1) - 1;
        if (left > 0) wanted.set(name, left);
        else wanted.delete(name);
        void flush();
      };
    },
    async isHeld(names) {
      if (names.some(name => wanted.has(name))) return true;
      const keys = names.map(keyOf);
      const { rows } = await sql`
        select from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 1 and l.granted
          and (l.classid::bigint, l.objid::bigint) in (
            select * from unnest(${keys.map(({ high }) => high)}::bigint[], ${keys.map(({ low }) => low)}::bigint[]))
        limit 1`.execute(db);
      return rows.length > 0;
    },
    async close() {
      closed = true;
      await client?.end();
    },
  };
}
