import { Agent, request } from 'undici';
import { DAY, SECOND } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { sign } from '../cloud-api/signature.ts';
import { createDueQueue } from './due-queue.ts';
import type { Update } from './update.ts';

/** Most updates in one POST (Meta's webhook page). */
const BATCH_MAX = 1_000;
/** Updates that fall due within this time leave in one POST, so that a burst of sends does not become a burst of requests. */
const GATHER_MS = 5;
const CONCURRENT_POSTS = 4;
/** Longest pause while nobody listens: a receiver that starts again gets everything soon after. */
const UNREACHABLE_PAUSE_MS = 2 * SECOND;
const POST_TIMEOUT_MS = 10 * SECOND;
/** The network tries for seven days; then the update is lost and there is no way to ask for it. */
const GIVE_UP_AFTER_MS = 7 * DAY;

export interface OutboxOptions {
  readonly appSecret: string;
  readonly log: Log;
  /** Where an update goes; undefined keeps it, `null` drops it (nobody subscribed). */
  target(update: Update): string | null | undefined;
  body(updates: readonly Update[]): Buffer;
  batchMax(): number;
  /** Whether this update is posted a second time. */
  repeats(update: Update): boolean;
  /** Called once for each update: acknowledged, or lost. */
  done(updates: readonly Update[], lost: boolean): void;
}

export interface OutboxCounts {
  /** Not acknowledged yet. */
  readonly pending: number;
  readonly delivered: number;
  /** Given up, or dropped because nobody is subscribed. */
  readonly failed: number;
  readonly posts: number;
  readonly failedPosts: number;
  readonly lastFailure: string | null;
}

export interface Outbox {
  add(update: Update, delayMs: number): void;
  /** Posts an update now, on its own; resolves after this first attempt, whatever came of it. */
  deliverNow(update: Update): Promise<void>;
  counts(): OutboxCounts;
  /** Resolves when nothing is pending. */
  settled(): Promise<void>;
  /** Looks again at what was kept, after the webhook's address changed. */
  wake(): void;
  stop(): Promise<void>;
}

interface Item {
  readonly update: Update;
  /** Posted a second time on purpose: nobody waits for it. */
  readonly repeat: boolean;
  readonly since: number;
  attempts: number;
}

/**
 * Delivers updates to the webhook: due ones gathered into batches, a few POSTs at a time, everything that is not answered
 * with 200 again: at once, then after growing pauses. Several POSTs run at the same time, so updates may overtake each
 * other, as they do on the network.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const queue = createDueQueue<Item>();
  const agent = new Agent({ connections: CONCURRENT_POSTS + 1, keepAliveTimeout: 4 * SECOND });
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
    if (stopped || !next || running >= CONCURRENT_POSTS) return;
    const due = Math.max(next.due, pausedUntil, now() + GATHER_MS);
    if (timer && timerDue <= due) return;
    clearTimeout(timer);
    timerDue = due;
    timer = setTimeout(flush, due - now());
  }

  function flush(): void {
    timer = undefined;
    timerDue = Number.POSITIVE_INFINITY;
    while (running < CONCURRENT_POSTS && now() >= pausedUntil) {
      const batch = takeBatch();
      if (!batch) break;
      void post(batch.url, batch.items);
    }
    arm();
  }

  /** The due items that go to one address. A batch that was refused again and again is cut down, so that one bad update stops few others. */
  function takeBatch(): { url: string; items: Item[] } | undefined {
    const items: Item[] = [];
    let url: string | undefined;
    let room = 1;
    for (let next = queue.peek(); next && next.due <= now() && items.length < room; next = queue.peek()) {
      const item = next.value;
      const target = options.target(item.update);
      if (url !== undefined && (target !== url || item.attempts !== items[0]?.attempts)) break;
      queue.pop();
      if (target === undefined) kept.push(item);
      else if (target === null) finish([item], true);
      else {
        if (url === undefined)
          room = Math.min(options.batchMax(), Math.max(10, BATCH_MAX >> (2 * Math.max(0, item.attempts - 3))));
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
      const answer = await request(url, {
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
      await answer.body.dump();
      unreachable = 0;
      if (answer.statusCode === 200) finish(items, false);
      else again(items, `HTTP ${answer.statusCode}`);
    } catch (error) {
      if (stopped) return;
      // Nobody there: attempts are not counted against the updates, all of them wait together.
      unreachable += 1;
      pausedUntil = now() + Math.min(UNREACHABLE_PAUSE_MS, backoffMs(unreachable));
      again(items, error instanceof Error ? error.message : String(error), false);
    } finally {
      running -= 1;
      arm();
    }
  }

  function again(items: readonly Item[], reason: string, counts = true): void {
    failedPosts += 1;
    lastFailure = reason;
    for (const item of items) {
      if (counts) item.attempts += 1;
      if (now() - item.since > GIVE_UP_AFTER_MS) finish([item], true);
      else queue.push(now() + (counts ? backoffMs(item.attempts) : 0), item);
    }
    options.log.debug({ updates: items.length, reason }, 'webhook not acknowledged');
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
function backoffMs(attempt: number): number {
  return attempt <= 1 ? 0 : Math.min(5 * SECOND, 250 * 2 ** (attempt - 2));
}
