import type { Resources } from '../../context.ts';
import { deleteExpired } from './store.ts';

const BATCH = 1_000;

/** Removes files that the network has forgotten, and places whose file never came. */
export async function deleteOldMedia({ db, clock }: Resources): Promise<void> {
  while ((await deleteExpired(db.write, new Date(clock.now()).toISOString(), BATCH)) === BATCH);
}
