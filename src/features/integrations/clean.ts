import type { Resources } from '../../context.ts';
import { DAY } from '../../platform/clock.ts';
import { deleteOldDeliveries } from './deliveries-store.ts';

const BATCH = 500;

/**
 * Removes payloads of shops that are done with and older than the deployment keeps them. What was done for which order stays:
 * shops report orders of last year again, and nobody should get their template a second time.
 */
export async function cleanDeliveries({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.receivedDays * DAY).toISOString();
  while ((await deleteOldDeliveries(db.write, before, BATCH)) === BATCH);
}
