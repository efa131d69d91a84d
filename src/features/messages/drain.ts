import { LRUCache } from 'lru-cache';
import type { Resources } from '../../context.ts';
import type { OutgoingContent, OutgoingType } from '../../network/network.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
import type { Drain, Lane } from '../../platform/jobs.ts';
import type { JsonObject } from '../../platform/json.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { setPaused } from '../channels/pause.ts';
import { type AddressedStatus, applyStatuses } from './apply-statuses.ts';
import { OUTBOX, parseLane } from './lane.ts';
import { LaneMemory } from './lane-memory.ts';
import { type Claimed, claimDue, nextDue, type Postponed, postpone } from './outbox.ts';
import type { Pacing } from './pacing.ts';
import { decide } from './retry.ts';

/** Requests to the network under way at once for one channel. */
const MAX_IN_FLIGHT = 32;
/** An empty lane waits this long for more before its job ends: a wake-up inside the process costs nothing, a new job some ms. */
const LINGER_MS = 2 * SECOND;
/** Longest pause before looking again for what is due but cannot be taken yet. */
const MAX_LOOK_MS = SECOND / 4;
/** What is further away is found by the sweep, and by the next turn. */
const MAX_ALARM_MS = HOUR;
/** So long a lane may run before others get their turn. */
const TURN_MS = 30 * SECOND;
/** Between the time-out of a request and the end of its lease, for writing what came of it. */
const LEASE_MARGIN_MS = 5 * SECOND;
/** Outcomes are written together: one transaction for all that came in within this time. */
const FLUSH_MS = 5;

/** Outcomes that cannot be written are tried again this often: they are the only ones who know what the network took. */
const MAX_WRITES = 6;
/** Lanes of which something is remembered. */
const MAX_MEMORIES = 10_000;

/** Sends what waits on one channel, in order for each person, as fast as the channel and each person may be sent to. */
export function drain(resources: Resources): Drain {
  const memories = new LRUCache<string, LaneMemory>({ max: MAX_MEMORIES });
  return async lane => {
    const { tenantId, channelId } = parseLane(lane.key);
    const credentials = await credentialsOf(resources, tenantId, channelId);
    if (credentials?.status !== 'active') return;
    const memory = memories.get(lane.key) ?? new LaneMemory();
    memories.set(lane.key, memory);
    const run = new Run(resources, lane, tenantId, channelId, credentials, memory);
    try {
      await run.loop();
    } finally {
      await run.finish();
    }
  };
}

type Credentials = NonNullable<Awaited<ReturnType<typeof credentialsOf>>>;

class Run {
  readonly #resources: Resources;
  readonly #lane: Lane;
  readonly #tenantId: number;
  readonly #channelId: number;
  readonly #credentials: Credentials;
  readonly #memory: LaneMemory;
  readonly #pacing: Pacing;
  readonly #inFlight = new Set<Promise<void>>();
  #statuses: AddressedStatus[] = [];
  #postponed: Postponed[] = [];
  #flushing: Promise<void> | undefined;
  #failedWrites = 0;
  #looks = 0;
  #pauseReason: string | undefined;

  constructor(
    resources: Resources,
    lane: Lane,
    tenantId: number,
    channelId: number,
    credentials: Credentials,
    memory: LaneMemory,
  ) {
    this.#resources = resources;
    this.#lane = lane;
    this.#tenantId = tenantId;
    this.#channelId = channelId;
    this.#credentials = credentials;
    this.#memory = memory;
    this.#pacing = memory.pacing(credentials.messagesPerSecond, resources.clock.now());
  }

  async loop(): Promise<void> {
    const { clock, jobs } = this.#resources;
    const until = clock.now() + TURN_MS;
    while (!this.#lane.signal.aborted && this.#pauseReason === undefined) {
      const now = clock.now();
      if (now > until) {
        // Others wait for a place: go to the end of the queue. While this lane runs, waking it marks it to be looked at again.
        jobs.wake(OUTBOX, this.#lane.key);
        return;
      }
      const holdMs = this.#memory.holdMs(now);
      if (holdMs > 0) {
        if (!(await this.#sleep(holdMs))) return;
        continue;
      }
      const room = Math.min(MAX_IN_FLIGHT - this.#inFlight.size, this.#pacing.channel.available(now));
      if (room < 1) {
        await this.#untilChange(this.#inFlight.size >= MAX_IN_FLIGHT ? LINGER_MS : this.#pacing.channel.waitMs(now));
        continue;
      }
      const claimed = await this.#claim(room, now);
      for (const message of claimed) this.#start(message);
      if (claimed.length > 0) this.#looks = 0;
      if (claimed.length === 0 && !(await this.#rest())) return;
    }
  }

  /** Lets what is under way come to its end, and writes what came of it. */
  async finish(): Promise<void> {
    await Promise.all(this.#inFlight);
    await this.#flush();
    if (this.#pauseReason !== undefined) {
      await setPaused(this.#resources, this.#tenantId, this.#channelId, this.#pauseReason);
      this.#resources.log.error(
        { tenantId: this.#tenantId, channelId: this.#channelId, reason: this.#pauseReason },
        'a channel was paused',
      );
    }
  }

  #claim(limit: number, now: number): Promise<Claimed[]> {
    const { config, db } = this.#resources;
    // A living process knows after the request's time-out; of a dead one's request the status has this long to tell.
    const lease = now + Math.max(config.network.requestTimeoutMs + LEASE_MARGIN_MS, config.network.reconcileMs);
    return claimDue(
      db.write,
      this.#tenantId,
      this.#channelId,
      limit,
      new Date(now).toISOString(),
      new Date(lease).toISOString(),
    );
  }

  /** @returns false when the lane is empty, or has nothing due for long */
  async #rest(): Promise<boolean> {
    if (this.#inFlight.size > 0 || this.#flushing) {
      await this.#untilChange(LINGER_MS);
      return true;
    }
    const next = await nextDue(this.#resources.db.write, this.#tenantId, this.#channelId);
    if (next === undefined) return this.#lane.linger(LINGER_MS);
    const ms = Date.parse(next) - this.#resources.clock.now();
    if (ms > 0) return this.#sleep(ms);
    // Due, and yet not to be had: in doubt, with webhooks to be read first. Look again, less and less often.
    this.#looks += 1;
    return this.#sleep(Math.min(MAX_LOOK_MS, FLUSH_MS * 2 ** this.#looks));
  }

  /**
   * Waits for the time when there is something to do. A lane that waits for long gives its place to others, and has itself
   * woken; should this process die before, the sweep wakes it.
   * @returns false when the place is to be given up
   */
  async #sleep(ms: number): Promise<boolean> {
    if (ms <= LINGER_MS) {
      await this.#lane.wait(Math.max(FLUSH_MS, ms));
      return true;
    }
    const { jobs } = this.#resources;
    setTimeout(() => jobs.wake(OUTBOX, this.#lane.key), Math.min(ms, MAX_ALARM_MS)).unref();
    return false;
  }

  /** Waits for an answer of the network, for outcomes that were written (what stood behind may go then), for something new, or for `ms`. */
  async #untilChange(ms: number): Promise<void> {
    await Promise.race([
      this.#lane.wait(Math.max(1, ms)),
      ...this.#inFlight,
      ...(this.#flushing ? [this.#flushing] : []),
    ]);
  }

  #start(message: Claimed): void {
    const now = this.#resources.clock.now();
    const waitMs = this.#pacing.takePair(message.contact_id, now);
    if (waitMs > 0) {
      this.#postpone(message, waitMs, 'not tried');
      return;
    }
    this.#pacing.channel.take(now);
    const attempt = this.#attempt(message)
      .catch(error => {
        // Not the network's answer but our own fault: the message stays leased and is looked at again.
        this.#resources.log.error({ err: error, messageId: message.message_id }, 'an attempt to send broke');
      })
      .finally(() => this.#inFlight.delete(attempt));
    this.#inFlight.add(attempt);
  }

  async #attempt(message: Claimed): Promise<void> {
    const { network, clock, config, metrics, secrets } = this.#resources;
    const refusal = localRefusal(message);
    const outcome = refusal
      ? ({ kind: 'refused', error: refusal } as const)
      : await network.send(this.#credentials, {
          callbackData: message.message_id,
          to: message.phone ?? message.network_user_id ?? '',
          content: contentOf(message, secrets),
          ...(message.reply_to_wamid !== null && { replyTo: message.reply_to_wamid }),
        });
    metrics.messagesSettled.inc({ outcome: outcome.kind });
    const now = clock.now();
    const decision = decide(outcome, {
      number: message.attempts,
      ageMs: now - Date.parse(message.created_at),
      reconcileMs: config.network.reconcileMs,
      jitter: Math.random(),
    });
    const at = new Date(now).toISOString();
    switch (decision.kind) {
      case 'sent':
        this.#memory.succeeded();
        this.#record({ messageId: message.message_id, status: 'sent', at, wamid: decision.wamid });
        break;
      case 'failed': {
        const { code, title, details } = decision.error;
        this.#record({ messageId: message.message_id, status: 'failed', at, error: { code, title, details } });
        break;
      }
      case 'retry':
        if (decision.hold !== 'no') this.#memory.hold(decision.afterMs, decision.hold, now);
        this.#postpone(message, decision.afterMs, outcome.kind === 'in_doubt' ? 'in doubt' : 'not taken');
        break;
      case 'pause':
        this.#pauseReason = decision.reason;
        this.#postpone(message, 0, 'not tried');
        break;
    }
  }

  #record(status: AddressedStatus): void {
    this.#statuses.push(status);
    this.#scheduleFlush();
  }

  #postpone(
    { message_id: messageId, attempts }: Claimed,
    afterMs: number,
    why: 'not tried' | 'not taken' | 'in doubt',
  ): void {
    const until = new Date(this.#resources.clock.now() + afterMs).toISOString();
    this.#postponed.push({ messageId, attempts, until, attempted: why !== 'not tried', inDoubt: why === 'in doubt' });
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    this.#flushing ??= new Promise<void>(resolve => setTimeout(resolve, FLUSH_MS * 4 ** this.#failedWrites))
      .then(() => this.#write())
      .finally(() => {
        this.#flushing = undefined;
        if (this.#statuses.length > 0 || this.#postponed.length > 0) this.#scheduleFlush();
      });
  }

  async #flush(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  /** Never rejects: what cannot be written is kept for the next time, and given up only when the database stays away. */
  async #write(): Promise<void> {
    const { db, clock, signals, log } = this.#resources;
    const [statuses, postponed] = [this.#statuses, this.#postponed];
    this.#statuses = [];
    this.#postponed = [];
    try {
      await db.transaction(async trx => {
        await postpone(trx, this.#tenantId, this.#channelId, postponed);
        if (statuses.length > 0) await applyStatuses(trx, this.#tenantId, statuses, clock.now());
      });
      this.#failedWrites = 0;
    } catch (error) {
      this.#failedWrites += 1;
      const givenUp = this.#failedWrites >= MAX_WRITES;
      log.error(
        { err: error, lane: this.#lane.key, outcomes: statuses.length + postponed.length, givenUp },
        'outcomes could not be written',
      );
      if (givenUp) {
        // Their leases run out; what the network took is settled by its status.
        this.#failedWrites = 0;
        return;
      }
      this.#statuses.unshift(...statuses);
      this.#postponed.unshift(...postponed);
    }
    if (statuses.length > 0) signals.send('events');
  }
}

/** What must not reach the network any more, though it was accepted. */
function localRefusal(message: Claimed) {
  if (message.opted_out_at !== null) {
    return {
      code: 0,
      title: 'Contact opted out',
      details: 'The contact asked not to be messaged after this message was accepted.',
      retryClass: 'no_retry',
    } as const;
  }
  if (message.phone === null && message.network_user_id === null)
    return {
      code: 0,
      title: 'No phone number',
      details: 'The contact has no phone number any more.',
      retryClass: 'no_retry',
    } as const;
  return undefined;
}

function contentOf(message: Claimed, secrets: Resources['secrets']): OutgoingContent {
  const type = message.type as OutgoingType;
  if (type === 'text') return { type, text: message.body ?? '', previewUrl: message.content['preview_url'] === true };
  const content = message.sealed ? (JSON.parse(secrets.open(message.sealed)) as JsonObject) : message.content;
  // How a template reads is kept beside it for people: the network would refuse a word that it does not know.
  const { rendered: _ours, ...object } = content;
  return { type, object };
}
