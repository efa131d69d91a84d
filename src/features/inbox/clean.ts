import type { Resources } from '../../context.ts';
import { DAY } from '../../platform/clock.ts';
import { deleteOldWebhooks } from './store.ts';

const BATCH = 500;

/** Removes webhooks of the network that have been worked on and are older than the deployment keeps them. */
export async function cleanInbox({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.receivedDays * DAY).toISOString();
  while ((await deleteOldWebhooks(db.write, before, BATCH)) === BATCH);
}
