import type { Database } from '../../../database/database.ts';
import { lockCampaign } from '../store.ts';
import { changeStatus, stopChange } from './change-status.ts';
import { listBegunBefore } from './run-store.ts';

const CODE = 'RESTORED';
const RUNNING =
  'The database was restored from a backup: recipients who had no message then may have got one since. Resuming it sends to them.';
const SCHEDULED = 'The database was restored from a backup of before its start: it may have been sent since.';

/**
 * After a restore, stops campaigns whose recipients may have got their message since the backup: those that ran before an instant are
 * paused, and those that were to start before it fail, because only a running campaign can be paused.
 * @returns the number of stopped campaigns
 */
export async function stopRestored(db: Database, before: Date): Promise<number> {
  let stopped = 0;
  for (const { tenant_id: tenantId, id } of await listBegunBefore(db.write, before.toISOString()))
    await db.transaction(async trx => {
      const campaign = await lockCampaign(trx, tenantId, id);
      if (campaign?.status !== 'running' && campaign?.status !== 'scheduled') return;
      const stop =
        campaign.status === 'running'
          ? ({ how: 'pause', code: CODE, details: RUNNING } as const)
          : ({ how: 'fail', code: CODE, details: SCHEDULED } as const);
      await changeStatus(trx, tenantId, campaign, stopChange(stop), new Date().toISOString());
      stopped += 1;
    });
  return stopped;
}
