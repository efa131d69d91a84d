import type { Lane, TurnEnd } from '../../../lanes/lane.ts';
import { exponentialBackoffMs, hasPassed, type Instant, instantOf, SECOND } from '../../../platform/clock.ts';
import { findSecondMessages } from '../../campaigns/run/find-second-messages.ts';
import type { OpenCredentials } from '../../channels/credentials.ts';
import { pauseRefused } from '../../channels/pause.ts';
import { findEndedCodes } from '../../otp/find-ended-codes.ts';
import type { MessageStatusUpdate } from '../statuses/apply-statuses.ts';
import { type Attempted, attempt, type Hindrance } from './attempt.ts';
import { type Dispatch, inDoubtMs } from './dispatch.ts';
import { doubtReason, MERGED_REASON, PAIR_LIMIT_REASON, retryReason } from './hold-reason.ts';
import { PRIORITY, parseLane } from './lane.ts';
import type { LaneMemory } from './lane-memory.ts';
import { type Claimed, extendDoubt, findOptedOut, nextDueMs } from './outbox.sql.ts';
import type { Outcome } from './outcome-writer.ts';
import type { Pacing } from './pacing.ts';

/** Concurrent requests to the network per channel: those of a second at its rate, within these bounds. */
const MIN_IN_FLIGHT = 32;
const MAX_IN_FLIGHT = 320;
/** Concurrent requests of all channels, including those that wait for a connection: a request's timeout starts at its claim. Each lane may always have one. */
const MAX_CALLS = 640;
/**
 * Unless it is woken, a lane waits with its next claim until it has room for `MIN_CLAIM` messages, at most `CLAIM_SPACING_MS` after its
 * last claim: rate limit and responses free one place at a time, and a statement costs much more than another row of it. The spacing is
 * shorter than the time in which the burst of the rate limit refills (100 ms).
 */
const MIN_CLAIM = 16;
const CLAIM_SPACING_MS = 60;
/** An empty lane is released after this: a wake-up inside the process costs nothing, claiming a lane two statements. */
const LINGER_MS = 2 * SECOND;
/** Longest pause before another attempt to claim messages that are due but not claimable. */
const MAX_POLL_MS = SECOND / 4;
/** A turn notices within this time that its channel has another rate or token. One statement reads it for all lanes. */
const CHANNEL_READ_MS = SECOND;
/** How long a second message to merged recipients is held: their campaign drops it within 5 seconds. */
const MERGED_MS = 10 * SECOND;
/** Longest pause before another look whether a promotion of the database is over. */
const PROMOTION_POLL_MS = SECOND / 4;
/** Shortest pause. */
const MIN_POLL_MS = 5;

/** Reason with which waits are aborted. Without one, each abort creates an error with a stack trace. */
const CHANGED = 'changed';

/** A claimed message, and why it may not be sent. */
interface Claim {
  readonly message: Claimed;
  readonly hindrance: Hindrance;
  /** Whether it is a campaign's second message to one person; see `findSecondMessages`. */
  readonly isSecond: boolean;
}

/**
 * One turn of a lane: claims due messages within the rate limits and submits them to the network. It waits in five ways:
 *
 * | where | until | at most |
 * |---|---|---|
 * | `lane.wait(holdMs)` | the circuit breaker closes | `LINGER_MS`; the lane is released for longer |
 * | `#untilChange` | a response, a written outcome or a wake-up | the given time |
 * | `#waitForWork` | messages arrive in an empty lane (`lane.linger`) | `LINGER_MS`, then the lane is released |
 * | `#waitOrRelease`, by `nextDueMs` | the next message is due | `LINGER_MS`; the lane is released for longer |
 * | `#waitOrRelease`, with backoff | what blocks a due message is settled | `MAX_POLL_MS` |
 */
export class LaneRun {
  readonly #dispatch: Dispatch;
  readonly #lane: Lane;
  readonly #tenantId: number;
  readonly #channelId: number;
  #credentials: OpenCredentials;
  readonly #memory: LaneMemory;
  #pacing: Pacing;
  /** When the channel was last read. */
  #readAt: Instant;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #writes = new Set<Promise<void>>();
  /** Aborted to end the wait for a change. */
  #change = new AbortController();
  /** When messages were last claimed, by the monotonic clock. */
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** Consecutive polls that claimed nothing. */
  #polls = 0;
  /** Whether a claim may find something: false after a claim took all due messages, until something changes. */
  #mayBeDue = true;
  /** Whether this turn postponed a message, which may be due before the next sweep. */
  #hasPostponed = false;
  /** Why the channel has to be paused, and the token of the refused request. */
  #pause: { readonly reason: string; readonly accessToken: string } | undefined;

  constructor(dispatch: Dispatch, lane: Lane, credentials: OpenCredentials, memory: LaneMemory) {
    const { tenantId, channelId } = parseLane(lane.key);
    this.#dispatch = dispatch;
    this.#lane = lane;
    this.#tenantId = tenantId;
    this.#channelId = channelId;
    this.#credentials = credentials;
    this.#memory = memory;
    this.#readAt = instantOf(dispatch.resources.clock);
    this.#pacing = memory.pacing(credentials.messagesPerSecond, this.#readAt.monotonicMs);
  }

  async loop(): Promise<TurnEnd> {
    const { clock, db } = this.#dispatch.resources;
    // The previous process may also have stored statuses, so the wait for the statuses of its last calls starts again.
    if (this.#lane.isTakeover) await extendDoubt(db.write, this.#lane);
    while ((await this.#lane.ready()) && this.#pause === undefined) {
      if (this.#lane.isTurnOver()) return 'more';
      const now = instantOf(clock);
      if (hasPassed(clock, this.#readAt, CHANNEL_READ_MS) && !(await this.#readChannel(now))) return undefined;
      const holdMs = this.#memory.holdMs(now);
      if (holdMs > LINGER_MS) return { pauseMs: holdMs, error: this.#memory.holdReason };
      if (holdMs > 0) {
        await this.#lane.wait(holdMs);
        this.#mayBeDue = true;
        continue;
      }
      // Acceptances are written before more messages are claimed.
      if (this.#writes.size > 0 && this.#dispatch.outcomes.isFailing) {
        await this.#untilChange(LINGER_MS);
        continue;
      }
      if (this.#dispatch.lanes.timeline === undefined) {
        await this.#untilChange(PROMOTION_POLL_MS);
        this.#mayBeDue = true;
        continue;
      }
      const slots = this.#freeSlots();
      const remaining = Math.min(slots, this.#pacing.channel.available(now.monotonicMs));
      if (remaining < 1) {
        await this.#untilChange(slots < 1 ? LINGER_MS : this.#pacing.channel.waitMs(now.monotonicMs));
        continue;
      }
      const isWoken = this.#lane.takeWakeUp();
      if (isWoken || this.#mayBeDue) {
        const gatherMs = isWoken ? 0 : this.#gatherMs(remaining);
        if (gatherMs > 0) {
          await this.#untilChange(gatherMs);
          continue;
        }
        this.#mayBeDue = false;
        const claimed = await this.#claim(remaining);
        if (claimed.length >= remaining) this.#mayBeDue = true;
        if (claimed.length > 0) this.#polls = 0;
        for (const claim of claimed) this.#start(claim);
        if (claimed.length > 0) continue;
      }
      if (!(await this.#waitForWork())) return undefined;
    }
    return undefined;
  }

  /** Reads the channel again, because a turn may last for hours. @returns false if it no longer sends */
  async #readChannel(now: Instant): Promise<boolean> {
    const channel = await this.#dispatch.channels.load({ tenantId: this.#tenantId, channelId: this.#channelId });
    if (channel?.status !== 'active' || channel.isTenantSuspended) return false;
    this.#credentials = channel;
    this.#pacing = this.#memory.pacing(channel.messagesPerSecond, now.monotonicMs);
    this.#readAt = now;
    return true;
  }

  /** Waits for running requests and writes their outcomes. */
  async finish(): Promise<void> {
    await Promise.all(this.#inFlight);
    await Promise.all(this.#writes);
    if (this.#pause === undefined) return;
    const { reason, accessToken } = this.#pause;
    const { resources } = this.#dispatch;
    const ref = { tenantId: this.#tenantId, channelId: this.#channelId };
    if (await pauseRefused(resources, ref, reason, accessToken))
      resources.log.error({ ...ref, reason }, 'a channel was paused');
  }

  /** Requests that this lane may start: always one if none is running, regardless of other lanes. */
  #freeSlots(): number {
    const maximum = Math.min(MAX_IN_FLIGHT, Math.max(MIN_IN_FLIGHT, this.#pacing.messagesPerSecond));
    const free = maximum - this.#inFlight.size;
    return Math.min(free, Math.max(this.#inFlight.size === 0 ? 1 : 0, MAX_CALLS - this.#dispatch.calls));
  }

  /** Time to wait until a claim of `remaining` messages is worth a statement. */
  #gatherMs(remaining: number): number {
    if (remaining >= Math.max(MIN_CLAIM, (this.#pacing.messagesPerSecond * CLAIM_SPACING_MS) / SECOND)) return 0;
    return this.#claimedAtMs + CLAIM_SPACING_MS - performance.now();
  }

  async #claim(limit: number): Promise<Claim[]> {
    const { front } = this.#memory;
    this.#claimedAtMs = performance.now();
    const request = { tenantId: this.#tenantId, channelId: this.#channelId, limit, front };
    const rows = await this.#dispatch.claims.load(request);
    const claimed = rows.filter(message => this.#isNew(message));
    // Only templates that are not sealed have a category with a separate opt-out.
    const messageIds = claimed.flatMap(({ type, sealed, message_id: id }) =>
      type === 'template' && sealed === null ? [id] : [],
    );
    // Only authentication templates are sealed. Those without a one-time code are not found.
    const sealedIds = claimed.flatMap(({ sealed, message_id: id }) => (sealed === null ? [] : [id]));
    const ofCampaigns = claimed.filter(({ priority }) => priority === PRIORITY.campaign);
    const { write } = this.#dispatch.resources.db;
    const [optedOut, endedCodes, second] = await Promise.all([
      messageIds.length > 0
        ? findOptedOut(write, { tenantId: this.#tenantId, wabaId: this.#credentials.wabaId, messageIds })
        : undefined,
      sealedIds.length > 0 ? findEndedCodes(write, this.#tenantId, sealedIds) : undefined,
      ofCampaigns.length > 0 ? findSecondMessages(write, this.#tenantId, ofCampaigns) : undefined,
    ]);
    return claimed.map(message => ({
      message,
      hindrance: {
        optedOutCategory: optedOut?.get(message.message_id),
        endedCode: endedCodes?.get(message.message_id),
      },
      isSecond: second?.has(message.message_id) ?? false,
    }));
  }

  /** Whether this process has not begun this attempt before. Otherwise the database has lost it: nothing is sent. */
  #isNew(message: Claimed): boolean {
    const found = this.#dispatch.sent.claim(this.#tenantId, message);
    if (found === 'new') return true;
    // A call that was not answered: the message waits for its status.
    if (found !== 'known') this.#write({ lane: this.#lane, kind: 'settled', ...found });
    return false;
  }

  /** Waits until there may be work. @returns false if the lane is empty, or nothing is due soon */
  async #waitForWork(): Promise<boolean> {
    if (this.#mayBeDue) return true;
    if (this.#inFlight.size > 0 || this.#writes.size > 0) {
      await this.#untilChange(LINGER_MS);
      this.#mayBeDue ||= this.#hasPostponed;
      return true;
    }
    // Messages that are due later are found by the sweep.
    if (!this.#hasPostponed && this.#lane.isSlotWanted()) return false;
    const { config, db } = this.#dispatch.resources;
    this.#mayBeDue = true;
    const ms = await nextDueMs(db.write, this.#tenantId, this.#channelId, inDoubtMs(config), this.#memory.front);
    if (ms === undefined) return this.#lane.linger(LINGER_MS);
    if (ms > 0) return this.#waitOrRelease(ms);
    // Due but not claimable, because unread webhooks may settle it: poll with exponential backoff.
    this.#polls += 1;
    return this.#waitOrRelease(exponentialBackoffMs(this.#polls, { firstMs: MIN_POLL_MS, maxMs: MAX_POLL_MS }));
  }

  /**
   * Waits until a message is due.
   * @returns false if that is too far away: the lane is released, and the sweep finds it when it is due
   */
  async #waitOrRelease(ms: number): Promise<boolean> {
    if (ms <= LINGER_MS) {
      await this.#lane.wait(Math.max(MIN_POLL_MS, ms));
      return true;
    }
    return false;
  }

  /** Waits for a response of the network, a written outcome (which may unblock messages), a wake-up, or `ms`. */
  async #untilChange(ms: number): Promise<void> {
    this.#change = new AbortController();
    const isWoken = await this.#lane.wait(Math.max(1, ms), this.#change.signal);
    this.#mayBeDue ||= isWoken;
  }

  #start({ message, hindrance, isSecond }: Claim): void {
    if (isSecond) {
      this.#postpone(message, MERGED_MS, 'not tried', MERGED_REASON);
      return;
    }
    const { clock, log } = this.#dispatch.resources;
    const { monotonicMs } = instantOf(clock);
    // Ended codes make no call: the live code behind them does not wait for its pair's tokens.
    const waitMs = hindrance.endedCode === undefined ? this.#pacing.takePair(message.contact_id, monotonicMs) : 0;
    if (waitMs > 0) {
      this.#postpone(message, waitMs, 'not tried', PAIR_LIMIT_REASON);
      return;
    }
    this.#pacing.channel.take(monotonicMs);
    this.#dispatch.calls += 1;
    const credentials = this.#credentials;
    const call = attempt(this.#dispatch.resources, credentials, message, hindrance, () => this.#lane.mayCall())
      .then(attempted => this.#conclude(message, attempted, credentials))
      .catch(error => {
        // A bug, not a response: the message stays leased and is retried.
        log.error({ err: error, messageId: message.message_id }, 'a send attempt failed unexpectedly');
      })
      .finally(() => {
        this.#dispatch.calls -= 1;
        this.#inFlight.delete(call);
        this.#change.abort(CHANGED);
      });
    this.#inFlight.add(call);
  }

  #conclude(message: Claimed, attempted: Attempted, { accessToken }: OpenCredentials): void {
    const now = instantOf(this.#dispatch.resources.clock);
    const ref = { tenantId: this.#tenantId, messageId: message.message_id, at: new Date(now.wallMs).toISOString() };
    switch (attempted.kind) {
      case 'withheld':
        this.#postpone(message, 0, 'not tried');
        break;
      case 'sent':
        this.#memory.succeeded();
        this.#accept(message, { ...ref, status: 'sent', wamid: attempted.wamid, person: attempted.person });
        break;
      case 'failed': {
        const { code, title, details } = attempted.error;
        const status = { ...ref, status: 'failed' as const, error: { code, title, details } };
        this.#dispatch.sent.forget(message.message_id);
        this.#write({ lane: this.#lane, kind: 'settled', type: message.type, status });
        break;
      }
      case 'retry':
        if (attempted.hold !== 'no') this.#memory.hold(attempted.afterMs, attempted.hold, attempted.reason, now);
        if (attempted.inDoubt) this.#postpone(message, attempted.afterMs, 'in doubt', doubtReason(attempted.reason));
        else this.#postpone(message, attempted.afterMs, 'not taken', retryReason(attempted.reason));
        break;
      case 'pause':
        this.#pause = { reason: attempted.reason, accessToken };
        this.#postpone(message, 0, 'not tried');
        break;
    }
  }

  #accept({ type, attempts }: Claimed, status: MessageStatusUpdate): void {
    const acceptance = { type, status };
    this.#dispatch.sent.accept(attempts, acceptance);
    this.#write({ lane: this.#lane, kind: 'settled', ...acceptance });
  }

  #postpone(
    { message_id: messageId, attempts }: Claimed,
    afterMs: number,
    why: 'not tried' | 'not taken' | 'in doubt',
    reason?: string,
  ): void {
    if (why !== 'in doubt') this.#dispatch.sent.forget(messageId);
    const postponed = {
      messageId,
      attempts,
      afterMs,
      attempted: why !== 'not tried',
      inDoubt: why === 'in doubt',
      reason,
    };
    this.#write({ lane: this.#lane, kind: 'postponed', postponed });
  }

  #write(outcome: Outcome): void {
    const write = this.#dispatch.outcomes.write(outcome).then(isReleased => {
      this.#hasPostponed ||= outcome.kind === 'postponed';
      this.#mayBeDue ||= isReleased || outcome.kind === 'postponed';
      this.#writes.delete(write);
      this.#change.abort(CHANGED);
    });
    this.#writes.add(write);
  }
}
