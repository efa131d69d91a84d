import { newIdAt } from '../../../core/ids.ts';
import type { Db } from '../../../database/database.ts';
import type { Lane } from '../../../lanes/lane.ts';
import { SECOND } from '../../../platform/clock.ts';
import { isPermitted, nextPermitted, zonesOfPerson } from '../../../platform/time-zones.ts';
import type { Context } from '../../../schema/context.ts';
import type { Content } from '../../messages/send/content.ts';
import type { SendingHours } from '../campaign.ts';
import { REASON, type SkipReason, STATE } from '../recipients/recipient.ts';
import { acceptClaims, type Claim, type ClaimOutcome, isFinal, stopsAll } from './accept.ts';
import {
  type Candidate,
  confirmRecipients,
  findCandidates,
  findUnconfirmed,
  lockChoice,
  type RecipientChange,
  useIndexOrder,
  writeByMessage,
  writeRecipients,
} from './claim.sql.ts';
import { madeOf, type Stop } from './protection.ts';
import { isRunning, lockRun, type RunRow, WAVE_OPEN, writeRun } from './run-store.ts';
import { MAX_BATCH, requeueClaims } from './withdraw.ts';

/** How long a recipient waits whom another campaign messages at this moment. */
const CLAIMED_MS = SECOND;

export interface Made {
  /** Number of recipients examined; 0: none is due. */
  readonly looked: number;
  readonly accepted: number;
  readonly stop: Stop | undefined;
}

interface Sending {
  readonly content: Content;
  readonly channelId: number;
  readonly campaignId: number;
}

/** The campaign was paused or cancelled: no message of it is accepted. */
export class CampaignStopped extends Error {
  override readonly name = 'CampaignStopped';
}

/**
 * Makes the next messages of a campaign, at most `limit`. In one transaction recipients are chosen and get the id of their message; the
 * messages are then accepted under these ids, which exist once. A process that dies in between leaves recipients with an id and no
 * message, and `requeueUnconfirmed` requeues them: nobody is messaged twice, and nobody is left out.
 * @throws CampaignStopped
 */
export async function makeMessages(context: Context, lane: Lane, sending: Sending, limit: number): Promise<Made> {
  const tenantId = lane.tenantId;
  const chosen = await context.db.transaction(async trx => {
    const run = await lockRun(trx, tenantId, sending.campaignId);
    if (run?.status !== 'running') throw new CampaignStopped();
    const category = sending.content.category ?? null;
    await useIndexOrder(trx);
    await lockChoice(trx, tenantId, run.frequency_cap !== null);
    const candidates = await findCandidates(trx, tenantId, {
      campaignId: run.id,
      position: run.position,
      limit: MAX_BATCH,
      listId: 'listId' in run.audience ? run.audience.listId : null,
      category,
      channelId: sending.channelId,
      cap: run.frequency_cap,
    });
    const wave = run.is_wave_passed ? limit : Math.min(limit, (run.wave_size ?? 0) - madeOf(run));
    const { changes, claims, looked } = choose(candidates, run.sending_hours, wave, run.now_ms);
    await writeRecipients(trx, tenantId, run.id, changes);
    const isWaveMade = !run.is_wave_passed && madeOf(run) + claims.length >= (run.wave_size ?? 0);
    const nowIso = new Date(run.now_ms).toISOString();
    const last = looked.findLast(candidate => !candidate.is_waiting);
    const skipped = changes.filter(({ state }) => state === STATE.skipped).length;
    await writeRun(
      trx,
      tenantId,
      run.id,
      {
        ...(last && { position: last.contact_id }),
        ...(claims.length > 0 && { last_message_at: nowIso }),
        ...(isWaveMade && run.wave_ended_at === null && { wave_ended_at: nowIso }),
      },
      { pending: -skipped - claims.length, skipped },
    );
    await lane.fence(trx);
    return { run, claims, looked: looked.length };
  });
  const { accepted, stop } = await acceptAndStore(context, lane, chosen.run, chosen.claims, sending);
  return { looked: chosen.looked, accepted, stop };
}

/**
 * Decides about candidates in their order until `limit` of them get a message.
 * @returns also those that were looked at
 */
function choose(candidates: readonly Candidate[], hours: SendingHours | null, limit: number, nowMs: number) {
  const changes: RecipientChange[] = [];
  const claims: Claim[] = [];
  const looked: Candidate[] = [];
  const current = new Set<number>();
  const dueByZones = new Map<readonly string[], Due>();
  const skip = (contactId: number, reason: SkipReason): void =>
    void changes.push({ contactId, state: STATE.skipped, reason: REASON[reason] });
  const wait = (contactId: number, untilMs: number): void =>
    void changes.push({ contactId, state: STATE.waiting, dueAt: new Date(untilMs).toISOString() });
  for (const candidate of candidates) {
    if (claims.length >= limit) break;
    looked.push(candidate);
    const { contact_id: contactId, current_id: currentId, reason, values } = candidate;
    const due = hours && reason === null ? dueOf(candidate, hours, nowMs, dueByZones) : 'now';
    if (reason !== null) changes.push({ contactId, state: STATE.skipped, reason });
    else if (currentId === null) skip(contactId, 'gone');
    else if (current.has(currentId)) skip(contactId, 'duplicate');
    else if (due === 'never') skip(contactId, 'outside_hours');
    else if (due !== 'now') wait(contactId, due);
    else if (candidate.is_claimed) wait(contactId, nowMs + CLAIMED_MS);
    else {
      const messageId = newIdAt(nowMs);
      current.add(currentId);
      claims.push({ contactId: currentId, messageId, values });
      changes.push({ contactId, state: STATE.waiting, dueAt: new Date(nowMs).toISOString(), messageId });
    }
  }
  return { changes, claims, looked };
}

/** Milliseconds since the epoch; never: its zones have no such time in common. */
type Due = number | 'now' | 'never';

/** When a recipient may get a message. @param known by time zones */
function dueOf(
  { time_zone: timeZone, phone, user_id: userId }: Candidate,
  hours: SendingHours,
  nowMs: number,
  known: Map<readonly string[], Due>,
): Due {
  const zones = zonesOfPerson({ timeZone, phone, userId });
  const present = known.get(zones);
  if (present !== undefined) return present;
  const due = isPermitted(zones, hours, nowMs) ? 'now' : (nextPermitted(zones, hours, nowMs) ?? 'never');
  known.set(zones, due);
  return due;
}

/**
 * Requeues recipients whose messages were not made, because the process died or the campaign was stopped: they are chosen anew, by what
 * holds then. Their former messages cannot be accepted later: that takes the locks of the campaign and the lane (`acceptAndStore`).
 * @returns how many recipients there were, also of messages that turned out to be accepted
 */
export async function requeueUnconfirmed({ db }: Context, lane: Lane, campaignId: number): Promise<number> {
  const { tenantId } = lane;
  if ((await findUnconfirmed(db.write, tenantId, campaignId, 1)).length === 0) return 0;
  return db.transaction(async trx => {
    if (!(await lockRun(trx, tenantId, campaignId))) return 0;
    const found = await requeueClaims(trx, tenantId, campaignId);
    await lane.fence(trx);
    return found;
  });
}

async function acceptAndStore(
  context: Context,
  lane: Lane,
  run: RunRow,
  claims: readonly Claim[],
  { content, channelId }: Sending,
): Promise<{ readonly accepted: number; readonly stop: Stop | undefined }> {
  if (claims.length === 0) return { accepted: 0, stop: undefined };
  const { tenantId } = lane;
  const author = { kind: 'campaign', id: run.id, name: run.name } as const;
  // A pause or cancellation waits for the messages that are being accepted, and withdraws them.
  const precondition = async (trx: Db): Promise<void> => {
    if (!(await isRunning(trx, tenantId, run.id))) throw new CampaignStopped();
    await lane.fence(trx);
  };
  const outcomes = await acceptClaims(context, claims, { content, channelId, author, precondition });
  const accepted = outcomes.filter(({ error }) => error === undefined).map(({ claim }) => claim.messageId);
  if (accepted.length > 0) await confirmRecipients(context.db.write, tenantId, accepted);
  const stop = outcomes.find(({ error }) => stopsAll(error))?.error;
  await settleRefused(context, tenantId, run.id, outcomes);
  for (const { error, claim } of outcomes)
    if (error !== undefined && !isFinal(error) && !stopsAll(error))
      context.log.warn(
        { err: error, tenantId, campaignId: run.id, messageId: claim.messageId },
        'a message of a campaign could not be accepted; it is tried again',
      );
  return {
    accepted: accepted.length,
    stop: stopsAll(stop) ? { how: 'pause', code: stop.code, details: stop.message } : undefined,
  };
}

/** Skips recipients whose message is refused for good, and requeues those that nothing can be sent to now. */
async function settleRefused(
  context: Context,
  tenantId: number,
  campaignId: number,
  outcomes: readonly ClaimOutcome[],
): Promise<void> {
  const refused = outcomes.filter(({ error }) => isFinal(error));
  const requeued = outcomes.filter(({ error }) => stopsAll(error));
  if (refused.length + requeued.length === 0) return;
  await context.db.transaction(async trx => {
    if (!(await lockRun(trx, tenantId, campaignId))) return;
    const written = await writeByMessage(trx, tenantId, campaignId, [
      ...refused.map(({ claim, error }) => ({
        messageId: claim.messageId,
        reason: REASON[reasonOfError(error)] as number | null,
      })),
      ...requeued.map(({ claim }) => ({ messageId: claim.messageId, reason: null })),
    ]);
    const change = requeued.length > 0 ? WAVE_OPEN : {};
    await writeRun(trx, tenantId, campaignId, change, written);
  });
}

function reasonOfError(error: unknown): SkipReason {
  const code = isFinal(error) ? error.code : undefined;
  if (code === 'CONTACT_OPTED_OUT') return 'opted_out';
  return code === 'NOT_FOUND' ? 'gone' : 'invalid';
}
