import type { Database } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import { isOfAnotherCluster, lockLog, renumber } from './adopt-store.ts';

/**
 * Takes over a log that came from another cluster, by dump and restore. Places in the log are transaction ids, which begin anew
 * there: what happens now would stand before all that is in the log, and readers would wait for it for ever. What they have
 * not taken yet is taken once; cursors of subscribers are expired.
 */
export async function adoptLog(db: Database, log: Log): Promise<void> {
  if (!(await isOfAnotherCluster(db.read))) return;
  const count = await db.transaction(async trx => {
    await lockLog(trx);
    return (await isOfAnotherCluster(trx)) ? await renumber(trx) : undefined;
  });
  if (count !== undefined)
    log.warn({ events: count }, 'this database was restored from another cluster: its event log has been renumbered');
}
