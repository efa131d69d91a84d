import type { Db } from '../../../database/database.ts';
import { isPermitted, zonesOfPerson } from '../../../platform/time-zones.ts';
import { cancelWaiting } from '../../messages/dispatch/cancel.ts';
import { PRIORITY } from '../../messages/dispatch/lane.ts';
import { confirmRecipients, findUnconfirmed, requeueWithdrawn, writeByMessage } from './claim.sql.ts';
import { findMergedMessages, findWaitingMessages, findWaitingPeople } from './outbox.sql.ts';
import { type RunRow, WAVE_OPEN, writeRun } from './run-store.ts';

/** Recipients that have an id for their message at a time, at most. */
export const MAX_BATCH = 500;

/**
 * Requeues recipients that have an id for their message, and no message: a process died before it was accepted, or the campaign was
 * stopped. The caller has locked the campaign, and nobody accepts these messages later.
 * @returns how many recipients there were, also of messages that turned out to be accepted
 */
export async function requeueClaims(trx: Db, tenantId: number, campaignId: number): Promise<number> {
  const found = await findUnconfirmed(trx, tenantId, campaignId, MAX_BATCH);
  const made = found.filter(row => row.is_accepted).map(row => row.message_id);
  if (made.length > 0) await confirmRecipients(trx, tenantId, made);
  const open = found.filter(row => !row.is_accepted).map(row => ({ messageId: row.message_id, reason: null }));
  if (open.length > 0) {
    const { pending } = await writeByMessage(trx, tenantId, campaignId, open);
    await writeRun(trx, tenantId, campaignId, WAVE_OPEN, { pending });
  }
  return found.length;
}

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
  return withdrawMessages(
    trx,
    tenantId,
    campaignId,
    waiting.map(({ message_id: id }) => id),
    why,
  );
}

/**
 * The same of those whose recipients' sending hours are over: the network was away, or held the channel, since they were made. They are
 * made anew in the next hours. The caller has locked the campaign.
 */
export async function withdrawLate(
  trx: Db,
  tenantId: number,
  {
    id,
    channel_id: channelId,
    sending_hours: hours,
    now_ms: nowMs,
  }: Pick<RunRow, 'id' | 'channel_id' | 'sending_hours' | 'now_ms'>,
): Promise<readonly number[]> {
  if (channelId === null || hours === null) return [];
  const waiting = await findWaitingPeople(trx, tenantId, id, channelId, PRIORITY.campaign);
  const late = waiting.filter(person => !isPermitted(zonesOfPerson(person), hours, nowMs));
  const ids = late.map(({ message_id: messageId }) => messageId);
  return withdrawMessages(trx, tenantId, id, ids, "The recipient's sending hours ended before it was sent.");
}

/**
 * The same of those to people who get an earlier message of the campaign, because two recipients were merged since. Their recipients are
 * then skipped as duplicates. The caller has locked the campaign.
 */
export async function withdrawMerged(
  trx: Db,
  tenantId: number,
  { id, channel_id: channelId }: Pick<RunRow, 'id' | 'channel_id'>,
): Promise<readonly number[]> {
  if (channelId === null) return [];
  const waiting = await findWaitingMessages(trx, tenantId, id, channelId, PRIORITY.campaign);
  const ids = await findMergedMessages(trx, tenantId, waiting);
  return withdrawMessages(trx, tenantId, id, ids, 'The contact was merged with another recipient of the campaign.');
}

async function withdrawMessages(
  trx: Db,
  tenantId: number,
  campaignId: number,
  ids: readonly string[],
  why: string,
): Promise<readonly number[]> {
  if (ids.length === 0) return [];
  const { messageIds, releasedChannelIds } = await cancelWaiting(trx, tenantId, { messageIds: ids }, why);
  const pending = await requeueWithdrawn(trx, tenantId, campaignId, messageIds);
  await writeRun(trx, tenantId, campaignId, pending > 0 ? WAVE_OPEN : {}, { pending });
  return releasedChannelIds;
}
