import type { Resources } from '../../context.ts';
import { DAY } from '../../platform/clock.ts';
import { dropMonths } from './deliveries-store.ts';

/**
 * Removes the log of deliveries by whole months: what the deployment keeps for 30 days is gone after 61 at the latest. A month of
 * which something still waits (it was replayed on its last day) stays until that has come to its end.
 */
export async function cleanDeliveryLog({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.logsDays * DAY).toISOString();
  await dropMonths(db.write, before);
}
