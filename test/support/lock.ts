import pg from 'pg';
import type { TestDatabase } from './database.ts';

export interface HeldLock {
  /** Texts of the statements that wait for the lock now. */
  waiting(): Promise<string[]>;
  /** Takes another lock in the same transaction. Of a deadlock, the other transaction is the victim. */
  lock(text: string, values?: unknown[]): Promise<void>;
  /** Ends the transaction that holds the lock, so that waiting statements continue. */
  release(): Promise<void>;
}

/**
 * Runs a statement that takes a lock (`lock table …`, `select … for update`), and keeps its transaction open. A test of a
 * race stops the product between two statements by it, instead of making many attempts that may all miss the moment.
 */
export async function holdLock(
  { url }: Pick<TestDatabase, 'url'>,
  text: string,
  values: unknown[] = [],
): Promise<HeldLock> {
  const [holder, watcher] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query('begin');
  await holder.query(text, values);
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    async waiting() {
      const found = await watcher.query<{ query: string }>(
        'select query from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
        [rows[0]?.pid],
      );
      return found.rows.map(({ query }) => query);
    },
    async lock(more, moreValues = []) {
      // The one whose wait takes this long finds the deadlock, and is aborted.
      await holder.query(`set local deadlock_timeout = '10min'`);
      await holder.query(more, moreValues);
    },
    async release() {
      await Promise.all([holder.end(), watcher.end()]);
    },
  };
}
