import { Agent, request } from 'undici';
import { sign } from '../network/cloud-api/signature.ts';
import { DAY, exponentialBackoffMs, SECOND } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { createDueQueue } from './due-queue.ts';
import type { Update } from './update.ts';

/** Maximum number of updates per POST (Meta's webhook page). */
const BATCH_MAX = 1_000;
/** Updates due within this time share a POST, so that a burst of sends does not cause a burst of requests. */
const GATHER_MS = 5;
/** Maximum pause while the receiver is unreachable, so that it gets everything soon after a restart. */
const UNREACHABLE_PAUSE_MS = 2 * SECOND;
const POST_TIMEOUT_MS = 10 * SECOND;
/** The network retries for seven days; then the update is lost. */
const GIVE_UP_AFTER_MS = 7 * DAY;

export interface OutboxOptions {
  readonly appSecret: string;
  readonly log: Log;
  /** The URL for an update; undefined keeps it, `null` drops it (no subscription). */
  target(update: Update): string | null | undefined;
  body(updates: readonly Update[]): Buffer;
  batchMax(): number;
  /** Maximum number of concurrent POSTs. */
  connections(): number;
  /** Whether this update is posted twice. */
  repeats(update: Update): boolean;
  /** Called once per update, when it is acknowledged or lost. */
  done(updates: readonly Update[], lost: boolean): void;
}

export interface OutboxCounts {
  /** Not acknowledged yet. */
  readonly pending: number;
  readonly delivered: number;
  /** Lost after all retries, or dropped without a subscription. */
  readonly failed: number;
  readonly posts: number;
  readonly failedPosts: number;
  readonly lastFailure: string | null;
}

export interface Outbox {
  add(update: Update, delayMs: number): void;
  /** Posts an update alone at once; resolves after this first attempt, whatever its result. */
  deliverNow(update: Update): Promise<void>;
  counts(): OutboxCounts;
  /** Resolves when nothing is pending. */
  settled(): Promise<void>;
  /** Retries kept updates after the webhook URL has changed. */
  wake(): void;
  stop(): Promise<void>;
}

interface Item {
  readonly update: Update;
  /** A deliberate duplicate: its result is ignored. */
  readonly repeat: boolean;
  readonly since: number;
  attempts: number;
}

/**
 * Delivers updates to the webhook in batches, with a few concurrent POSTs. Whatever does not get 200 is retried, at once and then with
 * back-off. Because POSTs are concurrent, updates may overtake each other, as on the network.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const queue = createDueQueue<Item>();
  const agent = new Agent({ connections: null, keepAliveTimeout: 4 * SECOND });
  const now = () => performance.now();
  const waiters = new Set<() => void>();
  let kept: Item[] = [];
  let pending = 0;
  let delivered = 0;
  let failed = 0;
  let posts = 0;
  let failedPosts = 0;
  let lastFailure: string | null = null;
  let running = 0;
  let unreachable = 0;
  let pausedUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let timerDue = Number.POSITIVE_INFINITY;
  let stopped = false;

  function arm(): void {
    const next = queue.peek();
    if (stopped || !next || running >= options.connections()) return;
    const due = Math.max(next.due, pausedUntil, now() + GATHER_MS);
    if (timer && timerDue <= due) return;
    clearTimeout(timer);
    timerDue = due;
    timer = setTimeout(flush, Math.max(0, due - now()));
  }

  function flush(): void {
    timer = undefined;
    timerDue = Number.POSITIVE_INFINITY;
    while (running < options.connections() && now() >= pausedUntil) {
      const batch = takeBatch();
      if (!batch) break;
      void post(batch.url, batch.items);
    }
    arm();
  }

  /** The due items for one URL. Repeatedly rejected batches become smaller, so that one bad update delays few others. */
  function takeBatch(): { url: string; items: Item[] } | undefined {
    const items: Item[] = [];
    let url: string | undefined;
    let maxItems = 1;
    for (let next = queue.peek(); next && next.due <= now() && items.length < maxItems; next = queue.peek()) {
      const item = next.value;
      const target = options.target(item.update);
      if (url !== undefined && (target !== url || item.attempts !== items[0]?.attempts)) break;
      queue.pop();
      if (target === undefined) kept.push(item);
      else if (target === null) finish([item], true);
      else {
        if (url === undefined)
          maxItems = Math.min(options.batchMax(), Math.max(10, BATCH_MAX >> (2 * Math.max(0, item.attempts - 3))));
        url = target;
        items.push(item);
      }
    }
    return url === undefined ? undefined : { url, items };
  }

  async function post(url: string, items: readonly Item[]): Promise<void> {
    running += 1;
    posts += 1;
    try {
      const body = options.body(items.map(item => item.update));
      const response = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'facebookexternalua',
          'x-hub-signature-256': sign(body, options.appSecret),
        },
        body,
        dispatcher: agent,
        headersTimeout: POST_TIMEOUT_MS,
        bodyTimeout: POST_TIMEOUT_MS,
      });
      await response.body.dump();
      unreachable = 0;
      if (response.statusCode === 200) finish(items, false);
      else retry(items, `HTTP ${response.statusCode}`);
    } catch (error) {
      if (stopped) return;
      // Unreachable: does not count as an attempt of the updates; all of them wait.
      unreachable += 1;
      pausedUntil = now() + Math.min(UNREACHABLE_PAUSE_MS, retryPauseMs(unreachable));
      retry(items, error instanceof Error ? error.message : String(error), false);
    } finally {
      running -= 1;
      arm();
    }
  }

  function retry(items: readonly Item[], reason: string, counts = true): void {
    failedPosts += 1;
    lastFailure = reason;
    for (const item of items) {
      if (counts) item.attempts += 1;
      if (now() - item.since > GIVE_UP_AFTER_MS) finish([item], true);
      else queue.push(now() + (counts ? retryPauseMs(item.attempts) : 0), item);
    }
    options.log.debug({ updates: items.length, reason }, 'the receiver did not acknowledge a webhook; retrying');
  }

  function finish(items: readonly Item[], lost: boolean): void {
    const first = items.filter(item => !item.repeat);
    if (lost) failed += first.length;
    else delivered += first.length;
    pending -= first.length;
    if (first.length > 0)
      options.done(
        first.map(item => item.update),
        lost,
      );
    for (const item of first) {
      if (!lost && options.repeats(item.update)) queue.push(now() + GATHER_MS, { ...item, repeat: true, attempts: 0 });
    }
    if (pending === 0) {
      for (const waiter of waiters) waiter();
      waiters.clear();
    }
  }

  return {
    add(update, delayMs) {
      pending += 1;
      queue.push(now() + delayMs, { update, repeat: false, since: now(), attempts: 0 });
      arm();
    },
    async deliverNow(update) {
      pending += 1;
      const item: Item = { update, repeat: false, since: now(), attempts: 0 };
      const url = options.target(update);
      if (url) await post(url, [item]);
      else {
        queue.push(now(), item);
        arm();
      }
    },
    counts: () => ({ pending, delivered, failed, posts, failedPosts, lastFailure }),
    settled: () => (pending === 0 ? Promise.resolve() : new Promise(resolve => waiters.add(resolve))),
    wake() {
      const items = kept;
      kept = [];
      pausedUntil = 0;
      for (const item of items) queue.push(now(), item);
      arm();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await agent.destroy();
    },
  };
}

/** At once, then 250 ms doubling up to 5 s. */
function retryPauseMs(attempt: number): number {
  return attempt <= 1 ? 0 : exponentialBackoffMs(attempt - 2, { firstMs: 250, maxMs: 5 * SECOND });
}
