import { DAY } from '../../../../../platform/clock.ts';
import type { Resources } from '../../../../../schema/context.ts';
import { deleteUnreferenced, expireKept, forgetKey, lockUnusedKeys } from './contents.sql.ts';
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

/**
 * Deletes contents that no file refers to, then bytes under unused keys. A key stays listed until its bytes are deleted, so nothing
 * is left behind by a killed process or by a store that is away.
 */
export async function deleteUnusedContents({ db, files }: Pick<SweepResources, 'db' | 'files'>): Promise<void> {
  while ((await db.transaction(trx => deleteUnreferenced(trx, BATCH))) === BATCH);
  for (let found = BATCH; found === BATCH; ) {
    found = await db.transaction(async trx => {
      const keys = await lockUnusedKeys(trx, BATCH);
      for (const { tenant_id: tenantId, storage_key: key } of keys) {
        await files.delete(key);
        await forgetKey(trx, tenantId, key);
      }
      return keys.length;
    });
  }
}

/** Time for which a key is reserved while its bytes are written. */
export const RESERVED_MS = DAY;
