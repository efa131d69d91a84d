import type { Resources } from '../../context.ts';
import { DAY } from '../../platform/clock.ts';
import { dropPartitions } from '../../platform/partitions.ts';

/** Removes the log of deliveries by whole months: what the deployment keeps for 30 days is gone after 61 at the latest. */
export async function cleanDeliveryLog({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.logsDays * DAY).toISOString();
  for (const table of ['webhook_attempts', 'webhook_deliveries']) await dropPartitions(db.write, table, before, 'all');
}
