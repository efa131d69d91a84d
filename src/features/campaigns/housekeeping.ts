import { DAY } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { findUnusedLists } from './lists/list-usage.sql.ts';
import { removeUnused } from './lists/remove.ts';

/** How long a list is kept after its last use: rows were added, or a campaign that had it was over. */
const KEEP_LISTS_MS = 30 * DAY;
const BATCH = 100;

/** Deletes the lists of people that no campaign has used for 30 days. Their people remain contacts. */
export async function cleanLists({ db, clock }: Pick<Resources, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now() - KEEP_LISTS_MS).toISOString();
  for (let count = BATCH; count === BATCH; ) {
    const lists = await findUnusedLists(db.write, before, BATCH);
    let deleted = 0;
    for (const { tenant_id: tenantId, id } of lists)
      if ((await db.transaction(trx => removeUnused(trx, tenantId, id))) !== 'used') deleted++;
    count = deleted;
  }
}
