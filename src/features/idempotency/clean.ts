import type { Resources } from '../../context.ts';
import { deleteExpiredKeys } from './store.ts';

const BATCH = 1_000;

/** Removes keys whose 24 hours are over, in small batches, so that nobody waits for a lock. */
export async function deleteOldKeys({ db }: Resources): Promise<void> {
  while ((await deleteExpiredKeys(db.write, BATCH)) === BATCH);
}
