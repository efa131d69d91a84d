import type { Db } from '../../../database/database.ts';
import { DAY } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { releaseFileKeys } from '../../messages/content/media/keeping/keys.ts';
import { deleteOldExports, endExpired, endExportsOf } from './exports.sql.ts';

const BATCH = 100;
/** For the list of exports; their files end long before. */
const KEEP_ROWS_MS = 90 * DAY;

/** Deletes the files of exports whose time is over, and the rows of old ones. */
export async function cleanExports({ db }: Pick<Resources, 'db'>): Promise<void> {
  for (let count = BATCH; count === BATCH; )
    count = await db.transaction(async trx => {
      const ended = await endExpired(trx, BATCH);
      for (const { tenant_id: tenantId, storage_key: key } of ended) await releaseFileKeys(trx, tenantId, [key]);
      return ended.length;
    });
  await deleteOldExports(db.write, KEEP_ROWS_MS);
}

/** Ends the exported files that have data of people who are being erased, in the transaction of their erasure. */
export async function eraseExports(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> {
  const keys = await endExportsOf(trx, tenantId, contactIds);
  if (keys.length > 0) await releaseFileKeys(trx, tenantId, keys);
}
