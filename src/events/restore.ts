import { randomInt } from 'node:crypto';
import type { Database, Db } from '../database/database.ts';
import { holdOutbox } from '../database/outbox-hold.sql.ts';
import { readCluster, writeOrigin } from './origin.sql.ts';
import { countEvents, expireCursors, lockLog, renumberEvents, renumberReaders } from './restore.sql.ts';

/** Events renumbered per statement: about half a second. */
const BATCH = 20_000;

export interface RestoreOptions {
  /** Renumbers log positions stored in other tables; called before events are renumbered. */
  readonly renumberOthers: (trx: Db) => Promise<void>;
  readonly progress?: (done: number, total: number) => void;
}

/**
 * Adopts the log of a copied or older database, in one transaction: events are renumbered in order from the lowest positions,
 * readers keep their position, and existing cursors expire. The outbox is held until an operator releases it.
 * @returns the number of events
 */
export async function restoreLog(db: Database, { renumberOthers, progress }: RestoreOptions): Promise<number> {
  const cluster = await readCluster(db.write);
  return db.transaction(async trx => {
    await lockLog(trx);
    await holdOutbox(trx);
    const total = await countEvents(trx);
    await renumberReaders(trx);
    await renumberOthers(trx);
    let done = 0;
    for (let after = { xid: 0n, seq: 0 }; ; ) {
      progress?.(done, total);
      const numbered = await renumberEvents(trx, after, done, BATCH);
      if (!numbered) break;
      after = numbered.until;
      done += numbered.count;
    }
    await expireCursors(trx);
    // Random rather than incremented: the same backup may be restored twice.
    await writeOrigin(trx, cluster, randomInt(1, 2 ** 31));
    return done;
  });
}
