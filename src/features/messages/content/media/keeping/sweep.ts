import { DAY, MINUTE } from '../../../../../platform/clock.ts';
import type { Resources } from '../../../../../schema/context.ts';
import { deleteUnreferenced, expireKept, forgetKey, lockUnusedKeys, postponeKey } from './contents.sql.ts';
import { loseExpired } from './queue.sql.ts';

const BATCH = 100;

type SweepResources = Pick<Resources, 'db' | 'files' | 'config'>;

/** Applies the retention period, and gives up files that the network has deleted. */
export async function expireFiles({ db, config }: SweepResources): Promise<void> {
  while ((await loseExpired(db.write, BATCH)) === BATCH);
  const { mediaDays } = config.retention;
  if (mediaDays === undefined) return;
  while ((await expireKept(db.write, mediaDays, BATCH)) === BATCH);
}

/** Files that one run fails to delete before it ends: if the store is away, each failure takes a while. */
const MAX_FAILURES = 3;
/** Before a file that could not be deleted is tried again, behind the others. */
const FAILED_PAUSE_MS = 10 * MINUTE;

/**
 * Deletes contents that no file refers to, then bytes under unused keys. A key stays listed until its bytes are deleted, so nothing
 * is left behind by a killed process or by a store that is away. A file that cannot be deleted does not hold up the others.
 * @throws FileStoreError of the last file that could not be deleted
 */
export async function deleteUnusedContents(resources: Pick<SweepResources, 'db' | 'files'>): Promise<void> {
  const { db } = resources;
  while ((await db.transaction(trx => deleteUnreferenced(trx, BATCH))) === BATCH);
  const failures: unknown[] = [];
  for (let isMore = true; isMore && failures.length < MAX_FAILURES; ) {
    const { found, failure } = await deleteBatch(resources);
    if (failure) failures.push(failure.cause);
    isMore = found === BATCH || failure !== undefined;
  }
  if (failures.length > 0) throw failures.at(-1);
}

/** Deletes the bytes of one batch, up to the first that fail: that key is postponed. @returns the number of keys found */
const deleteBatch = ({
  db,
  files,
}: Pick<SweepResources, 'db' | 'files'>): Promise<{ readonly found: number; readonly failure?: { cause: unknown } }> =>
  db.transaction(async trx => {
    const keys = await lockUnusedKeys(trx, BATCH);
    for (const { tenant_id: tenantId, storage_key: key } of keys) {
      try {
        await files.delete(key);
      } catch (cause) {
        await postponeKey(trx, tenantId, key, FAILED_PAUSE_MS);
        return { found: keys.length, failure: { cause } };
      }
      await forgetKey(trx, tenantId, key);
    }
    return { found: keys.length };
  });

/** Time for which a key is reserved while its bytes are written. */
export const RESERVED_MS = DAY;
