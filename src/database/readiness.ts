import type { Database } from './database.ts';
import { transactionTime } from './expressions.ts';

const CACHED_MS = 1_000;
const TIMEOUT_MS = 2_000;

/** Resolves to the reason why this process cannot write to its database; undefined if it can. Never rejects. */
export type WriteProbe = () => Promise<string | undefined>;

/**
 * Probes with a write, because a standby and a read-only database still answer `select 1`. A full disk is found only when the row needs
 * another page; a probe that takes new space each time would leave it to vacuum. `pg_logical_emit_message` would leave no dead row, but
 * every logical replica would decode it. At most one transaction a second, however many callers;
 * none without callers.
 */
export function createWriteProbe(db: Pick<Database, 'write'>): WriteProbe {
  let running: Promise<string | undefined> | undefined;
  let result: { readonly reason: string | undefined; readonly atMs: number } | undefined;

  const write = async (): Promise<string | undefined> => {
    const update = db.write.updateTable('deployment').set({ probed_at: transactionTime });
    const reason = await update.executeTakeFirstOrThrow().then(
      ({ numUpdatedRows }) => (numUpdatedRows === 1n ? undefined : 'the table deployment is empty'),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    result = { reason, atMs: performance.now() };
    running = undefined;
    return reason;
  };

  return async () => {
    if (result && !running && performance.now() - result.atMs < CACHED_MS) return result.reason;
    running ??= write();
    return Promise.race([running, timeout()]);
  };
}

const timeout = (): Promise<string> =>
  new Promise(resolve =>
    setTimeout(() => resolve(`the database did not answer within ${TIMEOUT_MS} ms`), TIMEOUT_MS).unref(),
  );
