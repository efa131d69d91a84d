import { CodedError } from '../../../core/errors.ts';
import type { Lane, TurnEnd } from '../../../lanes/lane.ts';
import { NetworkCallError } from '../../../network/network.ts';
import type { Resources } from '../../../schema/context.ts';
import { findActiveAccount } from '../store.ts';
import { parseLaneKey } from './request-sync.ts';
import { sync } from './sync.ts';

/** Syncs the lane's business account if it is due. A failure is logged and retried later. */
export async function syncDue(resources: Resources, lane: Lane): Promise<TurnEnd> {
  const { tenantId, wabaId } = parseLaneKey(lane.key);
  const account = await findActiveAccount(resources.db.write, tenantId, wabaId);
  if (!account) return undefined;
  try {
    const counts = await sync(resources, tenantId, account, lane);
    if (counts) resources.log.debug({ tenantId, wabaId, ...counts }, 'templates synced');
  } catch (error) {
    if (!(error instanceof NetworkCallError || error instanceof CodedError)) throw error;
    resources.log.warn({ tenantId, wabaId, reason: error.message }, 'template sync failed and will be retried');
  }
  return undefined;
}
