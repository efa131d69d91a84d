import type { Resources } from '../../context.ts';
import { CodedError } from '../../errors.ts';
import { NetworkCallError } from '../../network/network.ts';
import type { Lane } from '../../platform/jobs.ts';
import { parseLane } from './lane.ts';
import { sync } from './sync.ts';
import { findSource } from './syncs-store.ts';

/** Reads the templates of the lane's business account where that is due. What fails is logged, and is due again later. */
export async function syncDue(resources: Resources, { key }: Lane): Promise<void> {
  const { tenantId, wabaId } = parseLane(key);
  const account = await findSource(resources.db.write, tenantId, wabaId);
  if (!account) return;
  try {
    const counts = await sync(resources, tenantId, account, true);
    if (counts) resources.log.debug({ tenantId, wabaId, ...counts }, 'templates were read');
  } catch (error) {
    if (!(error instanceof NetworkCallError || error instanceof CodedError)) throw error;
    resources.log.warn({ tenantId, wabaId, reason: error.message }, 'templates could not be read; it is tried again');
  }
}
