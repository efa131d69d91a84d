import type { Author } from '../../../core/author.ts';
import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { record } from '../../tenancy/audit/record.ts';
import { type CampaignRow, publicCampaign } from '../campaign.ts';
import { type CampaignStatus, statusAfter } from '../state.ts';
import { type StatusChange, writeStatus } from '../store.ts';
import type { Stop } from './protection.ts';
import { writeRun } from './run-store.ts';
import { clearStopCode, readSendingConditions } from './sending-conditions.sql.ts';
import { requeueClaims, withdraw } from './withdraw.ts';

/** Status code of a campaign that somebody paused. */
export const MANUAL = 'MANUAL';

/** Columns and event of a status change. */
type Change =
  | { readonly action: 'schedule'; readonly at: string }
  | { readonly action: 'start'; readonly channelId: number }
  | { readonly action: 'resume' | 'complete' | 'cancel' }
  | { readonly action: 'pause' | 'fail'; readonly code: string; readonly details: string };

export interface Changed {
  readonly campaign: CampaignRow;
  /** Channels whose lanes may go on. */
  readonly released: readonly number[];
}

/**
 * Changes the status of a locked campaign, with its event, and an entry in the audit log if a person or token did it. Pausing,
 * cancelling and failing withdraw the messages that wait to be sent.
 * @param author undefined: the campaign itself
 */
export async function changeStatus(
  trx: Db,
  tenantId: number,
  before: CampaignRow,
  change: Change,
  nowIso: string,
  author?: Author,
): Promise<Changed> {
  const status = statusAfter(before.status, change.action);
  if (status === undefined) throw new Error(`A campaign that is ${before.status} cannot ${change.action}.`);
  const id = before.id;
  const stops = ['pause', 'cancel', 'fail'].includes(change.action);
  const released =
    stops && before.channel_id !== null && before.started_at !== null
      ? await withdraw(trx, tenantId, id, before.channel_id, `The campaign was stopped (${change.action}).`)
      : [];
  // For good: what a process has begun is not accepted. After a pause, it may be.
  if (change.action === 'cancel' || change.action === 'fail') await requeueClaims(trx, tenantId, id);
  if (change.action === 'resume') {
    // Resuming after an automatic stop accepts the failures so far: the rate is counted anew. Resuming after a manual pause does not,
    // or pausing would reset the protection.
    if (before.status_code !== MANUAL) {
      const { failed, delivered } = await readSendingConditions(trx, tenantId, id, before.channel_id);
      await writeRun(trx, tenantId, id, { failed_before: failed, settled_before: delivered + failed });
    }
    await clearStopCode(trx, tenantId, id);
  }
  const campaign = await writeStatus(trx, tenantId, id, columnsOf(change, status, nowIso));
  const event = eventOf(change, campaign);
  if (event) await append(trx, tenantId, [event]);
  const action = AUDITED[change.action];
  if (author && action)
    await record(trx, tenantId, {
      author,
      action,
      subject: `campaign:${id}`,
      ...(change.action === 'schedule' && { details: { scheduled_at: change.at } }),
    });
  return { campaign, released };
}

const AUDITED = {
  schedule: 'campaign.started',
  start: 'campaign.started',
  pause: 'campaign.paused',
  resume: 'campaign.resumed',
  cancel: 'campaign.cancelled',
  complete: undefined,
  fail: undefined,
} as const;

function columnsOf(change: Change, status: CampaignStatus, nowIso: string): StatusChange {
  switch (change.action) {
    case 'schedule':
      return { status, scheduled_at: change.at };
    case 'start':
      return { status, channel_id: change.channelId, started_at: nowIso };
    case 'pause':
      return { status, status_code: change.code, status_reason: change.details };
    case 'fail':
      return { status, status_code: change.code, status_reason: change.details, ended_at: nowIso };
    case 'complete':
    case 'cancel':
      return { status, ended_at: nowIso };
    case 'resume':
      return { status };
  }
}

function eventOf(change: Change, row: CampaignRow): NewEvent | undefined {
  const campaign = publicCampaign(row);
  switch (change.action) {
    case 'schedule':
      return undefined;
    case 'start':
      return { type: 'campaign.started', payload: { campaign } };
    case 'resume':
      return { type: 'campaign.resumed', payload: { campaign } };
    case 'complete':
      return { type: 'campaign.completed', payload: { campaign } };
    case 'cancel':
      return { type: 'campaign.cancelled', payload: { campaign } };
    case 'pause':
      return { type: 'campaign.paused', payload: { campaign, reason: { code: change.code, details: change.details } } };
    case 'fail':
      return { type: 'campaign.failed', payload: { campaign, reason: { code: change.code, details: change.details } } };
  }
}

/** The change of status of a stop. */
export const stopChange = ({ how, code, details }: Stop) => ({ action: how, code, details });
