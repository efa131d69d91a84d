import type { Db } from '../../../database/database.ts';
import { cancelWaiting } from '../../messages/dispatch/cancel.ts';
import { PRIORITY } from '../../messages/dispatch/lane.ts';
import { requeueWithdrawn } from './claim.sql.ts';
import { findWaitingMessages } from './outbox.sql.ts';
import { WAVE_OPEN, writeRun } from './run-store.ts';

/**
 * Cancels the messages of a campaign that wait to be sent, and makes their recipients pending again. Messages already submitted to
 * the network stay. The caller has locked the campaign.
 * @returns channels with messages that were blocked by one of them
 */
export async function withdraw(
  trx: Db,
  tenantId: number,
  campaignId: number,
  channelId: number,
  why: string,
): Promise<readonly number[]> {
  const waiting = await findWaitingMessages(trx, tenantId, campaignId, channelId, PRIORITY.campaign);
  if (waiting.length === 0) return [];
  const ids = waiting.map(({ message_id: id }) => id);
  const { messageIds, releasedChannelIds } = await cancelWaiting(trx, tenantId, { messageIds: ids }, why);
  const pending = await requeueWithdrawn(trx, tenantId, campaignId, messageIds);
  await writeRun(trx, tenantId, campaignId, pending > 0 ? WAVE_OPEN : {}, { pending });
  return releasedChannelIds;
}
