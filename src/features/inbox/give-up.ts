import type { Lane } from '../../lanes/lane.ts';
import type { Resources } from '../../schema/context.ts';
import { removeErased } from './remove-erased.ts';
import { failedChanges, readWaiting, routeUpdates } from './route-updates.ts';
import { countUnhandled, storeUnhandled, type UnhandledChange } from './unhandled-changes.ts';
import { lockWaiting, removeGivenUp } from './webhooks.sql.ts';

/**
 * Takes a webhook that cannot be applied from the queue, and keeps its changes as unhandled, so that they are listed and can be
 * reprocessed: the network has had its answer and does not repeat them. @throws `LaneLost`
 */
export async function giveUp(
  { db, secrets, metrics }: Pick<Resources, 'db' | 'secrets' | 'metrics'>,
  lane: Lane,
  id: string,
  error: string,
): Promise<void> {
  const { tenantId } = lane;
  let unhandled: readonly UnhandledChange[] = [];
  await db.transaction(async trx => {
    const waiting = await lockWaiting(trx, tenantId, id);
    if (!waiting) return;
    const { webhooks } = await removeErased(trx, secrets, tenantId, [readWaiting(waiting)]);
    unhandled = failedChanges(await routeUpdates(trx, tenantId, webhooks), error);
    await storeUnhandled(trx, tenantId, unhandled);
    await removeGivenUp(trx, tenantId, id, error);
    await lane.fence(trx);
  });
  countUnhandled(metrics, unhandled);
}
