import type { Db } from '../../../database/database.ts';
import { DAY } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { releaseFileKeys } from '../../messages/content/media/keeping/keys.ts';
import { deleteOldExports, endExpired, endExportsOf } from './exports.sql.ts';

const BATCH = 100;
/** For the list of exports; their files end long before. */
const KEEP_ROWS_MS = 90 * DAY;

/** Deletes expired files of exports, and the rows of old exports. */
export async function cleanExports({ db }: Pick<Resources, 'db'>): Promise<void> {
  for (let count = BATCH; count === BATCH; )
    count = await db.transaction(async trx => {
      const ended = await endExpired(trx, BATCH);
      for (const { tenant_id: tenantId, storage_key: key } of ended) await releaseFileKeys(trx, tenantId, [key]);
      return ended.length;
    });
  await deleteOldExports(db.write, KEEP_ROWS_MS);
}

/**
 * Ends the exported files that have data of people who are being erased, in the transaction of their erasure. A file that has ended
 * before, by its age, holds nothing: it was deleted, and so was the list of its people.
 * @returns for each file the contacts whose data it had
 */
export async function eraseExports(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<(readonly number[])[]> {
  const ended = await endExportsOf(trx, tenantId, contactIds);
  if (ended.length > 0)
    await releaseFileKeys(
      trx,
      tenantId,
      ended.map(row => row.storage_key),
    );
  return ended.map(row => row.contact_ids);
}
