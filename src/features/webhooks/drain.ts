import { LRUCache } from 'lru-cache';
import type { Resources } from '../../context.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
import type { Drain, Lane } from '../../platform/jobs.ts';
import { attemptDelivery } from './attempt.ts';
import { EndpointQueue } from './endpoint-queue.ts';
import { changeOfHealth } from './health.ts';
import { ENDPOINTS, endpointKey, WEBHOOKS } from './lane.ts';
import {
  byIndex,
  type Claimed,
  endEventless,
  endWaiting,
  LOOK,
  type WaitingEndpoint,
  waitingEndpoints,
} from './queue-store.ts';
import { Recorder } from './recorder.ts';
import { Refiller } from './refill.ts';

/** Endpoints of a shard to which something is under way. */
const MAX_ENDPOINTS = 256;
/** Of these, such as took long the last time: the rest is kept for those that answer. */
const MAX_SLOW = 192;
const SLOW_MS = 5 * SECOND;
/** An empty shard waits this long for more before its job ends. */
const LINGER_MS = 2 * SECOND;
/** What is further away is found by the sweep, and by the next turn. */
const MAX_ALARM_MS = HOUR;
/** Between two looks at the whole shard, where nothing has called for one; and a multiple of the time that a look took. */
const MIN_LOOK_MS = 20;
const LOOK_SHARE = 4;
/** An endpoint whose deliveries broke by a fault of ours is left alone for so long. */
const HOLD_MS = 5 * SECOND;
/** Deliveries ended in one statement. */
const END_BATCH = 1_000;

/** Delivers what waits in a shard: each endpoint in order, one attempt at a time, and none of them waiting for another. */
export function deliver(resources: Resources): Drain {
  const slow = new LRUCache<string, true>({ max: 10_000 });
  return async lane => {
    const run = new ShardRun(resources, lane, slow);
    const forget = resources.signals.on(ENDPOINTS, topic => run.refresh(topic.slice(ENDPOINTS.length + 1)));
    try {
      await run.loop();
    } finally {
      forget();
      await run.finish();
    }
  };
}

const NOWHERE = { tenantId: 0, endpointId: 0 };

class ShardRun {
  readonly #resources: Resources;
  readonly #lane: Lane;
  readonly #shard: number;
  readonly #slow: LRUCache<string, true>;
  readonly #recorder: Recorder;
  readonly #refiller: Refiller;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #work = new Set<Promise<void>>();
  readonly #held = new LRUCache<string, true>({ max: 10_000, ttl: HOLD_MS });
  /** Behind which endpoint the next look begins. */
  #behind = NOWHERE;
  #slowOnes = 0;
  #changed = Promise.withResolvers<void>();

  constructor(resources: Resources, lane: Lane, slow: LRUCache<string, true>) {
    this.#resources = resources;
    this.#lane = lane;
    this.#shard = Number(lane.key);
    this.#slow = slow;
    this.#recorder = new Recorder(resources);
    this.#refiller = new Refiller(resources, this.#shard);
  }

  async loop(): Promise<void> {
    const { clock, jobs } = this.#resources;
    while (!this.#lane.signal.aborted) {
      const began = performance.now();
      this.#changed = Promise.withResolvers<void>();
      const nextMs = await this.#look();
      const pauseMs = Math.max(MIN_LOOK_MS, LOOK_SHARE * (performance.now() - began));
      const ms = Math.max(pauseMs, nextMs === undefined ? LINGER_MS : Math.min(LINGER_MS, nextMs - clock.now()));
      if (this.#queues.size > 0) {
        const changed = this.#changed.promise.then(() => false);
        const poked = (await Promise.race([this.#lane.wait(ms), changed])) || (await this.#lane.wait(pauseMs));
        if (poked) for (const queue of this.#queues.values()) queue.poke();
        continue;
      }
      if (nextMs !== undefined && nextMs - clock.now() <= LINGER_MS) await this.#lane.wait(ms);
      else if (!(await this.#lane.linger(LINGER_MS))) {
        // Should this process die before, the sweep wakes the shard.
        if (nextMs !== undefined) {
          const ms = Math.max(1, Math.min(nextMs - clock.now(), MAX_ALARM_MS));
          setTimeout(() => jobs.wake(WEBHOOKS, this.#lane.key), ms).unref();
        }
        return;
      }
    }
  }

  /** Lets what is under way come to its end, and writes what came of it. */
  async finish(): Promise<void> {
    await Promise.all(this.#work);
    await this.#recorder.flushed();
  }

  /** An endpoint was changed. */
  refresh(key: string): void {
    this.#queues.get(key)?.refresh();
  }

  /** Begins with endpoints that have something due, or to be ended, as far as there is room. @returns when something falls due of those that have not */
  async #look(): Promise<number | undefined> {
    const { db, clock } = this.#resources;
    const begin = this.#behind;
    const waiting = (behind: typeof NOWHERE) => byIndex(db, trx => waitingEndpoints(trx, this.#shard, behind));
    const rows = await waiting(begin);
    const isWhole = rows.length < LOOK;
    // Looked at from its middle on, the shard is gone through once more from its beginning.
    if (begin !== NOWHERE && isWhole) rows.push(...(await waiting(NOWHERE)));
    const last = rows.at(-1);
    this.#behind = isWhole || !last ? NOWHERE : { tenantId: last.tenant_id, endpointId: last.endpoint_id };
    let nextMs = isWhole ? undefined : clock.now();
    let begun = begin;
    for (const row of rows) {
      const key = endpointKey(row.tenant_id, row.endpoint_id);
      if (this.#queues.has(key) || this.#held.has(key)) continue;
      const dueMs = Date.parse(row.next_attempt_at);
      if (dueMs > clock.now() && row.is_live) nextMs = Math.min(nextMs ?? dueMs, dueMs);
      else if (this.#queues.size >= MAX_ENDPOINTS || (this.#slow.has(key) && this.#slowOnes >= MAX_SLOW)) {
        // The next look goes on behind the last that found room, so that all get their turn.
        this.#behind = begun;
        if (this.#queues.size >= MAX_ENDPOINTS) break;
      } else {
        begun = { tenantId: row.tenant_id, endpointId: row.endpoint_id };
        this.#begin(row, key);
      }
    }
    return nextMs;
  }

  #begin(row: WaitingEndpoint, key: string): void {
    const isSlow = this.#slow.has(key);
    const queue = new EndpointQueue(row.tenant_id, row.endpoint_id, one => this.#refiller.fetch(one));
    this.#queues.set(key, queue);
    if (isSlow) this.#slowOnes += 1;
    const work = this.#run(queue)
      .catch(error => {
        this.#held.set(key, true);
        this.#resources.log.error({ err: error, endpoint: key }, 'deliveries to an endpoint broke; trying again later');
      })
      .finally(() => {
        this.#queues.delete(key);
        if (isSlow) this.#slowOnes -= 1;
        this.#work.delete(work);
        this.#changed.resolve();
      });
    this.#work.add(work);
  }

  /** Delivers to one endpoint until nothing is due, and waits until that is written. */
  async #run(queue: EndpointQueue): Promise<void> {
    let written = Promise.resolve();
    while (!this.#lane.signal.aborted) {
      await this.#recorder.room();
      const next = await queue.next();
      if (!next || this.#lane.signal.aborted) break;
      const recorded = await this.#attempt(queue, next);
      if (!recorded) break;
      ({ written } = recorded);
      // Where there is no room for others, one that is slow goes to the end of the line.
      if (this.#slow.has(queue.key) && (this.#queues.size >= MAX_ENDPOINTS || this.#slowOnes >= MAX_SLOW)) break;
      if (!queue.isRoundOver) continue;
      await this.#written(written);
      await queue.restart();
    }
    await this.#written(written);
    if (queue.stopped !== undefined) await this.#end(queue, queue.stopped);
  }

  #written(written: Promise<void>): Promise<void> {
    this.#recorder.hurry();
    return written;
  }

  /** @returns undefined when nothing came of it because we go away; otherwise when it is written */
  async #attempt(
    queue: EndpointQueue,
    { payload, occurred_at, ...claimed }: Claimed,
  ): Promise<{ written: Promise<void> } | undefined> {
    const { open } = queue;
    if (!open) return undefined;
    if (payload === null || occurred_at === null) {
      const now = new Date(this.#resources.clock.now()).toISOString();
      await endEventless(this.#resources.db.write, queue.tenantId, [claimed.id], 'the event is not kept any more', now);
      return { written: Promise.resolve() };
    }
    const began = performance.now();
    const attempted = await attemptDelivery(this.#resources, open, { ...claimed, payload, occurred_at });
    if (!attempted) return undefined;
    if (performance.now() - began >= SLOW_MS || attempted.timedOut) this.#slow.set(queue.key, true);
    else this.#slow.delete(queue.key);
    const health = changeOfHealth(queue, attempted);
    if (health) queue.failingSince = health.failingSince;
    if (health?.disable) queue.stop('the endpoint is disabled');
    return { written: this.#recorder.add({ ...attempted, tenantId: queue.tenantId }, health) };
  }

  /** Nothing more is sent to an endpoint: what waits ends. */
  async #end(queue: EndpointQueue, reason: string): Promise<void> {
    const { db, clock } = this.#resources;
    for (;;) {
      const now = new Date(clock.now()).toISOString();
      const ended = await endWaiting(db.write, queue.tenantId, this.#shard, queue.endpointId, reason, END_BATCH, now);
      if (ended < END_BATCH || this.#lane.signal.aborted) return;
    }
  }
}
