import { LRUCache } from 'lru-cache';
import type { Drain, Lane } from '../../../lanes/lane.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { EndpointQueue } from '../endpoints/endpoint-queue.ts';
import { DISABLED } from '../endpoints/target.ts';
import type { EndpointRef, HealthChange } from '../endpoints/targets.sql.ts';
import { AttemptWriter } from '../log/attempt-writer.ts';
import { type Attempted, attemptDelivery } from './attempt.ts';
import { ENDPOINT_TOPIC, endpointKey } from './lane.ts';
import {
  type DueDelivery,
  endDeliveries,
  endWaiting,
  SCAN_LIMIT,
  type WaitingEndpoint,
  waitingEndpoints,
  withIndexScans,
} from './queue.sql.ts';
import { Refiller } from './refill.ts';
import { FAILING_FOR_MS } from './verdict.ts';

/** Endpoints of a shard that are delivered to concurrently. */
const MAX_ENDPOINTS = 256;
/** Maximum of these that were slow at the last attempt; the other places are reserved for fast endpoints. */
const MAX_SLOW = 192;
const SLOW_MS = 5 * SECOND;
/** How long an empty shard waits for more deliveries before its turn ends. */
const LINGER_MS = 2 * SECOND;
/** Minimum pause between two scans of the shard, also as a multiple of the duration of the last scan. */
const MIN_SCAN_PAUSE_MS = 20;
const SCAN_PAUSE_FACTOR = 4;
/** Back-off of an endpoint after an internal error in its deliveries. */
const BACK_OFF_MS = 5 * SECOND;
/** Deliveries ended in one statement. */
const END_BATCH = 1_000;

/** Delivers the queue of a shard: endpoints concurrently, the deliveries of one endpoint in order, one attempt at a time. */
export function deliver(resources: Resources): Drain {
  // Shared by all shards, because an empty cache of this size allocates 0.4 MB.
  const endpoints = {
    slow: new LRUCache<string, true>({ max: 10_000 }),
    backingOff: new LRUCache<string, true>({ max: 10_000, ttl: BACK_OFF_MS }),
  };
  return async lane => {
    const run = new ShardRun(resources, lane, endpoints);
    const forget = resources.signals.on(ENDPOINT_TOPIC, topic => run.refresh(topic.slice(ENDPOINT_TOPIC.length + 1)));
    try {
      await run.loop();
    } finally {
      forget();
      await run.finish();
    }
    return undefined;
  };
}

const BEFORE_ALL = { tenantId: 0, endpointId: 0 };

class ShardRun {
  readonly #resources: Resources;
  readonly #lane: Lane;
  readonly #shard: number;
  readonly #slow: LRUCache<string, true>;
  readonly #backingOff: LRUCache<string, true>;
  readonly #attempts: AttemptWriter;
  readonly #refiller: Refiller;
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #work = new Set<Promise<void>>();
  /** The endpoint after which the next scan begins. */
  #scanAfter = BEFORE_ALL;
  /** Number of running endpoints that were slow at the last attempt. */
  #slowCount = 0;
  #changed = Promise.withResolvers<void>();

  constructor(
    resources: Resources,
    lane: Lane,
    { slow, backingOff }: Readonly<Record<'slow' | 'backingOff', LRUCache<string, true>>>,
  ) {
    this.#resources = resources;
    this.#lane = lane;
    this.#shard = Number(lane.key);
    this.#slow = slow;
    this.#backingOff = backingOff;
    this.#attempts = new AttemptWriter(resources);
    this.#refiller = new Refiller(resources, this.#shard);
  }

  async loop(): Promise<void> {
    while (await this.#lane.ready()) {
      const began = performance.now();
      this.#changed = Promise.withResolvers<void>();
      const nextMs = await this.#scan();
      const pauseMs = Math.max(MIN_SCAN_PAUSE_MS, SCAN_PAUSE_FACTOR * (performance.now() - began));
      const ms = Math.max(pauseMs, Math.min(LINGER_MS, nextMs ?? LINGER_MS));
      if (this.#queues.size > 0) {
        const changed = this.#changed.promise.then(() => false);
        const isWoken = (await Promise.race([this.#lane.wait(ms), changed])) || (await this.#lane.wait(pauseMs));
        if (isWoken) for (const queue of this.#queues.values()) queue.wake();
        continue;
      }
      if (nextMs !== undefined && nextMs <= LINGER_MS) await this.#lane.wait(ms);
      else if (!(await this.#lane.linger(LINGER_MS))) return;
    }
  }

  /** Waits for running attempts and writes their results. */
  async finish(): Promise<void> {
    await Promise.all(this.#work);
    await this.#attempts.flush();
  }

  /** Call when an endpoint was changed. */
  refresh(key: string): void {
    this.#queues.get(key)?.refresh();
  }

  /**
   * Starts endpoints with due deliveries, or with deliveries to be ended, while there are free places.
   * @returns milliseconds until the next delivery of the others is due
   */
  async #scan(): Promise<number | undefined> {
    const { db } = this.#resources;
    const begin = this.#scanAfter;
    const waiting = (after: EndpointRef) => withIndexScans(db, trx => waitingEndpoints(trx, this.#shard, after));
    const rows = await waiting(begin);
    const isWhole = rows.length < SCAN_LIMIT;
    // A scan that began in the middle of the shard wraps around.
    if (begin !== BEFORE_ALL && isWhole) rows.push(...(await waiting(BEFORE_ALL)));
    const last = rows.at(-1);
    this.#scanAfter = isWhole || !last ? BEFORE_ALL : { tenantId: last.tenant_id, endpointId: last.endpoint_id };
    let nextMs = isWhole ? undefined : 0;
    let lastStarted = begin;
    for (const row of rows) {
      const key = endpointKey(row.tenant_id, row.endpoint_id);
      if (this.#queues.has(key) || this.#backingOff.has(key)) continue;
      const dueMs = row.due_in_ms;
      if (dueMs > 0 && row.is_live) nextMs = Math.min(nextMs ?? dueMs, dueMs);
      else if (this.#queues.size >= MAX_ENDPOINTS || (this.#slow.has(key) && this.#slowCount >= MAX_SLOW)) {
        // The next scan continues after the last endpoint that got a place, so that all get their turn.
        this.#scanAfter = lastStarted;
        if (this.#queues.size >= MAX_ENDPOINTS) break;
      } else {
        lastStarted = { tenantId: row.tenant_id, endpointId: row.endpoint_id };
        this.#begin(row, key);
      }
    }
    return nextMs;
  }

  #begin(row: WaitingEndpoint, key: string): void {
    const isSlow = this.#slow.has(key);
    const queue = new EndpointQueue(row.tenant_id, row.endpoint_id, one => this.#refiller.fetch(one));
    this.#queues.set(key, queue);
    if (isSlow) this.#slowCount += 1;
    const work = this.#run(queue)
      .catch(error => {
        this.#backingOff.set(key, true);
        this.#resources.log.error(
          { err: error, endpoint: key },
          'deliveries to an endpoint failed on an internal error; trying again later',
        );
      })
      .finally(() => {
        this.#queues.delete(key);
        if (isSlow) this.#slowCount -= 1;
        this.#work.delete(work);
        this.#changed.resolve();
      });
    this.#work.add(work);
  }

  /** Delivers to one endpoint until nothing is due, and waits until the results are written. */
  async #run(queue: EndpointQueue): Promise<void> {
    let written = Promise.resolve();
    while (!this.#lane.signal.aborted) {
      await this.#attempts.waitForRoom();
      const next = await queue.next();
      if (!next || this.#lane.signal.aborted) break;
      const recorded = await this.#attempt(queue, next);
      if (!recorded) break;
      ({ written } = recorded);
      // If places are scarce, a slow endpoint gives its place up after each delivery.
      if (this.#slow.has(queue.key) && (this.#queues.size >= MAX_ENDPOINTS || this.#slowCount >= MAX_SLOW)) break;
      if (!queue.isRoundOver) continue;
      await this.#writeSoon(written);
      await queue.restart();
    }
    await this.#writeSoon(written);
    if (queue.stopped !== undefined) await this.#end(queue, queue.stopped);
  }

  /** Has pending attempts written at once, and waits for that of `written`. */
  #writeSoon(written: Promise<void>): Promise<void> {
    this.#attempts.hurry();
    return written;
  }

  /** @returns undefined if the attempt was not made or not finished; otherwise `written` resolves when it is recorded */
  async #attempt(
    queue: EndpointQueue,
    { payload, occurred_at, ...claimed }: DueDelivery,
  ): Promise<{ written: Promise<void> } | undefined> {
    const { open } = queue;
    if (!open) return undefined;
    if (payload === null || occurred_at === null) {
      await endDeliveries(this.#resources.db.write, queue.tenantId, [claimed.id], 'the event is no longer in the log');
      return { written: Promise.resolve() };
    }
    const began = performance.now();
    const attempted = await attemptDelivery(this.#resources, this.#lane, open, { ...claimed, payload, occurred_at });
    if (!attempted) return undefined;
    if (performance.now() - began >= SLOW_MS || attempted.timedOut) this.#slow.set(queue.key, true);
    else this.#slow.delete(queue.key);
    const health = changeOfHealth(queue, attempted);
    const written = this.#attempts.add({ ...attempted, tenantId: queue.tenantId }, health);
    if (health) queue.noteHealth(health.isFailing, written);
    if (health?.disable) queue.stop(DISABLED);
    return { written };
  }

  /** Ends the queued deliveries of an endpoint that was disabled or deleted, or whose tenant is suspended. */
  async #end(queue: EndpointQueue, reason: string): Promise<void> {
    const { db } = this.#resources;
    for (;;) {
      const ended = await endWaiting(db.write, queue.tenantId, this.#shard, queue.endpointId, reason, END_BATCH);
      if (ended < END_BATCH || this.#lane.signal.aborted) return;
    }
  }
}

/**
 * Returns the change of an endpoint's health after an attempt; undefined if there is none. Test deliveries do not count.
 * @param endpoint `failingForMs` counts from the first failure after the last success, by the database's clock
 */
function changeOfHealth(
  { tenantId, endpointId, failingForMs }: EndpointRef & { readonly failingForMs: number | null },
  { delivery, verdict }: Attempted,
): HealthChange | undefined {
  if (delivery.is_test) return undefined;
  if (delivery.status === 'delivered')
    return failingForMs === null ? undefined : { tenantId, endpointId, isFailing: false, disable: null };
  if (verdict.gone) return { tenantId, endpointId, isFailing: true, disable: 'gone' };
  if (failingForMs === null) return { tenantId, endpointId, isFailing: true, disable: null };
  return failingForMs >= FAILING_FOR_MS ? { tenantId, endpointId, isFailing: true, disable: 'failing' } : undefined;
}
