import { DAY } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { deleteHandled, deleteOldUnrouted } from './changes.sql.ts';
import { reprocess } from './reprocess.ts';
import { deleteOldWebhooks, INBOX } from './webhooks.sql.ts';

const BATCH = 500;

/**
 * Deletes processed webhooks, handled changes and unrouted changes past the retention period. Unhandled changes are kept.
 */
export async function cleanInbox({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.receivedDays * DAY).toISOString();
  for (const remove of [deleteOldWebhooks, deleteHandled, deleteOldUnrouted])
    while ((await remove(db.write, before, BATCH)) === BATCH);
}

/** Reprocesses unhandled changes after an upgrade and after a number is connected. */
export async function reprocessUnhandled(resources: Resources): Promise<void> {
  const { tenantIds, ...done } = await reprocess(resources, { isUpgrade: true });
  for (const tenantId of tenantIds) resources.lanes.wake(INBOX, String(tenantId));
  if (tenantIds.size > 0) resources.log.info(done, 'unhandled changes were reprocessed');
}
