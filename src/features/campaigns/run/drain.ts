import { CodedError } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import type { Drain, Lane } from '../../../lanes/lane.ts';
import { instantOf, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Context, Resources } from '../../../schema/context.ts';
import { OUTBOX, laneOf as outboxLaneOf, PRIORITY } from '../../messages/dispatch/lane.ts';
import { TokenBucket } from '../../messages/dispatch/pacing.ts';
import type { Content } from '../../messages/send/content.ts';
import { actFor } from '../../tenancy/tenants/act.ts';
import { isGone } from '../audience/parse-audience.ts';
import { changeStatus, stopChange } from './change-status.ts';
import { nextDueAt } from './claim.sql.ts';
import { campaignContent } from './content.ts';
import { parseLane } from './lane.ts';
import { CampaignStopped, makeMessages, requeueUnconfirmed } from './make-messages.ts';
import { countBacklog, findMergedMessages, findWaitingMessages } from './outbox.sql.ts';
import { prepareChunk } from './prepare.ts';
import {
  accountStop,
  failureStop,
  isWaveOver,
  LIMIT_SHARE,
  limitStop,
  madeOf,
  type Stop,
  stopOf,
  uncountedOf,
} from './protection.ts';
import { getRun, lockRun, type RunChange, type RunRow, writeRun } from './run-store.ts';
import { countReached, readSendingConditions, type SendingConditions } from './sending-conditions.sql.ts';
import { MAX_BATCH, withdrawLate, withdrawMerged } from './withdraw.ts';

/** Longest pause of a step: within this a change of the campaign, the channel or the template is noticed. */
const STEP_MS = SECOND;
/** Pause while the outbox has enough. */
const FULL_MS = SECOND / 10;
/** How often the people of a day are counted at least: the count reads the messages of a day. */
const REACH_MS = MINUTE;
/** How often it looks for messages that wait and may not be sent any more. */
const WAITING_MS = 5 * SECOND;
const SUSPENDED_MS = MINUTE;

/** Makes the messages of campaigns as the outbox drains; one lane per campaign. */
export function runCampaigns(resources: Resources): Drain {
  return async lane => {
    const { tenantId, campaignId } = parseLane(lane.key);
    let turn: CampaignTurn | undefined;
    while (await lane.ready()) {
      if (lane.isTurnOver()) return 'more';
      // Anew for each step, because a turn may last for days: the tenant may be suspended, and loaders keep what they have read.
      const context = await actFor(resources, tenantId, 'campaigns', ['messages:send']);
      if (!context) return { pauseMs: SUSPENDED_MS, error: 'The tenant is suspended.' };
      turn ??= new CampaignTurn(context, lane, campaignId);
      const waitMs = await turn.step(context);
      if (waitMs === undefined) return undefined;
      if (waitMs > 0) await lane.wait(waitMs);
    }
    return undefined;
  };
}

/** One turn of a lane. */
class CampaignTurn {
  /** Of the current step. */
  #context: Context;
  readonly #lane: Lane;
  readonly #campaignId: number;
  #bucket: TokenBucket | undefined;
  #bucketRate = 0;
  #reachedAt = Number.NEGATIVE_INFINITY;
  #reached = 0;
  #madeSinceCount = 0;
  #waitingAt = Number.NEGATIVE_INFINITY;
  /** By the last batch. */
  #lastAccepted = 0;

  constructor(context: Context, lane: Lane, campaignId: number) {
    this.#context = context;
    this.#lane = lane;
    this.#campaignId = campaignId;
  }

  /** @returns milliseconds until the next step; undefined if the campaign does not run */
  async step(context: Context): Promise<number | undefined> {
    this.#context = context;
    try {
      return await this.#advance();
    } catch (error) {
      if (!(error instanceof CampaignStopped)) throw error;
      await requeueUnconfirmed(context, this.#lane, this.#campaignId);
      return undefined;
    }
  }

  async #advance(): Promise<number | undefined> {
    const { db } = this.#context;
    const run = await getRun(db.write, this.#lane.tenantId, this.#campaignId);
    if (run?.status === 'scheduled') return this.#begin();
    if (run?.status !== 'running') throw new CampaignStopped();
    if (!run.is_prepared) {
      await prepareChunk(this.#context, this.#lane, this.#lane.tenantId, run.id);
      return 0;
    }
    const conditions = await readSendingConditions(db.write, this.#lane.tenantId, run.id, run.channel_id);
    const stop = stopOf(conditions) ?? failureStop(run, conditions, false) ?? (await this.#reachStop(conditions));
    if (stop) return this.#stop(stop);
    const content = await this.#content(run);
    if ('how' in content) return this.#stop(content);
    const restricted = accountStop(conditions, content.category, run.now_ms);
    if (restricted) return this.#stop(restricted);
    const sending = { content, channelId: conditions.channel_id as number, campaignId: run.id };
    if ((await requeueUnconfirmed(this.#context, this.#lane, run.id)) > 0) return this.#lastAccepted > 0 ? 0 : STEP_MS;
    await this.#withdrawWaiting(run);
    if (!run.is_wave_passed && run.wave_ended_at !== null) return this.#judgeWave(run, conditions);
    return this.#send(run, conditions, sending);
  }

  /** Starts a campaign whose time has come. */
  async #begin(): Promise<number | undefined> {
    const { db } = this.#context;
    return this.#change(async run => {
      if (run.status !== 'scheduled' || Date.parse(run.scheduled_at ?? '') > run.now_ms) return undefined;
      const { channel_id: channelId } = await readSendingConditions(
        db.write,
        this.#lane.tenantId,
        run.id,
        run.channel_id,
      );
      if (channelId === null)
        return { action: 'fail', code: 'CHANNEL_DISCONNECTED', details: 'No channel is connected.' };
      // It would be completed without a recipient.
      return (await isGone(this.#context, run.audience))
        ? { action: 'fail', code: 'AUDIENCE_GONE', details: 'The groups of the audience were deleted.' }
        : { action: 'start', channelId };
    });
  }

  /** The template as it is now; why it cannot be sent. */
  async #content(run: RunRow): Promise<Content | Stop> {
    try {
      return await campaignContent(this.#context, run);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      return { how: 'pause', code: 'TEMPLATE_UNAVAILABLE', details: error.message };
    }
  }

  async #reachStop({ messaging_limit: limit, channel_id: channelId, portfolio_id: portfolioId }: SendingConditions) {
    if (limit === null || channelId === null) return undefined;
    const nowMs = this.#context.clock.now();
    if (nowMs - this.#reachedAt >= REACH_MS || this.#madeSinceCount >= uncountedOf(limit)) {
      this.#reached = await countReached(this.#context.db.write, this.#lane.tenantId, channelId, portfolioId);
      this.#reachedAt = nowMs;
      this.#madeSinceCount = 0;
    }
    return limitStop(limit, this.#reached);
  }

  /** Takes back messages whose sending hours are over, and second ones to people who were merged. */
  async #withdrawWaiting({ id, channel_id: channelId, sending_hours: hours }: RunRow): Promise<void> {
    const { db, clock } = this.#context;
    const { monotonicMs } = instantOf(clock);
    if (channelId === null || monotonicMs - this.#waitingAt < WAITING_MS) return;
    this.#waitingAt = monotonicMs;
    const { tenantId } = this.#lane;
    if (hours) await this.#withdraw((trx, run) => withdrawLate(trx, tenantId, run));
    const waiting = await findWaitingMessages(db.write, tenantId, id, channelId, PRIORITY.campaign);
    const merged = waiting.length > 0 ? await findMergedMessages(db.write, tenantId, waiting) : [];
    if (merged.length > 0) await this.#withdraw((trx, run) => withdrawMerged(trx, tenantId, run));
  }

  async #withdraw(take: (trx: Db, run: RunRow) => Promise<readonly number[]>): Promise<void> {
    const { db, lanes, signals } = this.#context;
    const { tenantId } = this.#lane;
    const released = await db.transaction(async trx => {
      const run = await lockRun(trx, tenantId, this.#campaignId);
      const channelIds = run?.status === 'running' ? await take(trx, run) : [];
      await this.#lane.fence(trx);
      return channelIds;
    });
    for (const channelId of released) lanes.wake(OUTBOX, outboxLaneOf(tenantId, channelId));
    signals.send('events');
  }

  /** Decides after the first wave: releases the other recipients, or stops the campaign. */
  async #judgeWave(run: RunRow, conditions: SendingConditions): Promise<number | undefined> {
    const { db } = this.#context;
    // Most of it was not submitted: the network is away. Outcomes are awaited from when it is.
    const waiting = await findWaitingMessages(
      db.write,
      this.#lane.tenantId,
      run.id,
      run.channel_id as number,
      PRIORITY.campaign,
    );
    if (waiting.length * 2 > madeOf(run)) {
      if (run.now_ms - Date.parse(run.wave_ended_at ?? '') >= SECOND)
        await this.#writeWave({ wave_ended_at: new Date(run.now_ms).toISOString() });
      return STEP_MS / 4;
    }
    if (!isWaveOver(run, conditions, run.now_ms)) return STEP_MS / 4;
    const stop = failureStop(run, conditions, true);
    if (stop) return this.#stop(stop);
    await this.#writeWave({ is_wave_passed: true });
    return 0;
  }

  /** Unless messages of the wave were withdrawn meanwhile: it is made and judged again then. */
  async #writeWave(change: RunChange): Promise<void> {
    const { tenantId } = this.#lane;
    await this.#context.db.transaction(async trx => {
      const run = await lockRun(trx, tenantId, this.#campaignId);
      if (run?.status === 'running' && run.wave_ended_at !== null) await writeRun(trx, tenantId, run.id, change);
      await this.#lane.fence(trx);
    });
  }

  async #send(
    run: RunRow,
    conditions: SendingConditions,
    sending: Parameters<typeof makeMessages>[2],
  ): Promise<number | undefined> {
    const { tenantId } = this.#lane;
    const { db, lanes, signals } = this.#context;
    // The outbox holds one second of the channel's messages, of all campaigns together, and is refilled when less than half is left. By the
    // campaign's own rate, which only paces it, a faster campaign or one message that is tried again would keep out a slow one.
    const channelRate = conditions.messages_per_second ?? 1;
    const rate = Math.min(run.messages_per_second ?? Number.POSITIVE_INFINITY, channelRate);
    const target = Math.min(MAX_BATCH, Math.max(1, Math.ceil(channelRate)));
    const backlog = await countBacklog(db.write, tenantId, sending.channelId, PRIORITY.campaign, target);
    const limit = Math.min(target - backlog, this.#tokens(rate), this.#reachLeft(conditions));
    if (limit < 1 || backlog > target / 2) return FULL_MS;
    const made = await makeMessages(this.#context, this.#lane, sending, limit);
    this.#lastAccepted = made.accepted;
    if (made.accepted > 0) {
      this.#spend(made.accepted);
      this.#reached += made.accepted;
      this.#madeSinceCount += made.accepted;
      lanes.wake(OUTBOX, outboxLaneOf(tenantId, sending.channelId));
      signals.send('events');
    }
    if (made.stop) return this.#stopRefused(run, made.stop);
    return made.looked > 0 ? 0 : this.#waitOrComplete(run, sending.channelId);
  }

  #reachLeft({ messaging_limit: limit }: SendingConditions): number {
    if (limit === null) return Number.POSITIVE_INFINITY;
    return Math.min(Math.floor(limit * LIMIT_SHARE) - this.#reached, uncountedOf(limit) - this.#madeSinceCount);
  }

  /** No recipient is due now: waits for those that are due later, or completes the campaign. */
  async #waitOrComplete(run: RunRow, channelId: number): Promise<number | undefined> {
    const { db } = this.#context;
    const due = await nextDueAt(db.write, this.#lane.tenantId, run.id);
    if (due !== null) return Math.max(FULL_MS, Math.min(MINUTE, Date.parse(due) - run.now_ms));
    const waiting = await findWaitingMessages(db.write, this.#lane.tenantId, run.id, channelId, PRIORITY.campaign);
    if (waiting.length > 0) return STEP_MS / 4;
    return this.#change(async () => ({ action: 'complete' }));
  }

  #tokens(rate: number): number {
    const { monotonicMs: nowMs } = instantOf(this.#context.clock);
    if (!this.#bucket || this.#bucketRate !== rate) {
      this.#bucket = new TokenBucket(rate, Math.max(1, rate), nowMs);
      this.#bucketRate = rate;
    }
    return this.#bucket.available(nowMs);
  }

  #spend(count: number): void {
    const { monotonicMs: nowMs } = instantOf(this.#context.clock);
    for (let spent = 0; spent < count; spent += 1) this.#bucket?.take(nowMs);
  }

  /** Stops after a refusal of messages. The channel may have been paused since the step began: it is then the reason. */
  async #stopRefused(run: RunRow, refusal: Stop): Promise<number | undefined> {
    if (refusal.code !== 'MESSAGING_NOT_CONFIGURED') return this.#stop(refusal);
    const stop = stopOf(
      await readSendingConditions(this.#context.db.write, this.#lane.tenantId, run.id, run.channel_id),
    );
    // Without one it sends again: its recipients wait already.
    return stop ? this.#stop(stop) : STEP_MS;
  }

  #stop(stop: Stop): Promise<number | undefined> {
    this.#context.log.warn(
      { tenantId: this.#lane.tenantId, campaignId: this.#campaignId, code: stop.code, details: stop.details },
      'a campaign stopped itself',
    );
    return this.#change(async () => stopChange(stop));
  }

  /** Changes the status under the campaign's lock, if it is still running or scheduled. */
  async #change(
    decide: (run: RunRow) => Promise<Parameters<typeof changeStatus>[3] | undefined>,
  ): Promise<number | undefined> {
    const { db, lanes, signals } = this.#context;
    const { tenantId } = this.#lane;
    const changed = await db.transaction(async trx => {
      const run = await lockRun(trx, tenantId, this.#campaignId);
      if (!run || (run.status !== 'running' && run.status !== 'scheduled')) return undefined;
      const change = await decide(run);
      const done = change && (await changeStatus(trx, tenantId, run, change, new Date(run.now_ms).toISOString()));
      await this.#lane.fence(trx);
      return done;
    });
    if (!changed) return undefined;
    for (const channelId of changed.released) lanes.wake(OUTBOX, outboxLaneOf(tenantId, channelId));
    signals.send('events');
    return changed.campaign.status === 'running' ? 0 : undefined;
  }
}
