import type { LogReader } from '../../../events/readers.ts';
import { CAMPAIGNS, laneOf } from '../run/lane.ts';
import { STOP_CODES } from '../run/protection.ts';
import { countDeleted, countOptOuts, countReplies, countStatuses, hasRecentCampaigns } from './progress.sql.ts';

/** Counts what became of the messages of campaigns, and wakes those that wait for it. */
export const campaignReader: LogReader = {
  name: 'campaigns',
  types: new Set([
    'message.sent',
    'message.delivered',
    'message.read',
    'message.failed',
    'message.cancelled',
    'message.received',
    'contact.deleted',
    'contact.opted_out',
    'consent.changed',
  ]),
  // 250 ms: a first wave is judged at that interval (`STEP_MS / 4`).
  pauseMs: 250,
  isNeeded: hasRecentCampaigns,
  async consume(trx, range) {
    const moved = await countStatuses(trx, range, Object.keys(STOP_CODES).map(Number));
    await countDeleted(trx, range);
    await countReplies(trx, range);
    await countOptOuts(trx, range);
    return moved.map(({ tenant_id: tenantId, campaign_id: id }) => ({ queue: CAMPAIGNS, key: laneOf(tenantId, id) }));
  },
};
