import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory } from 'rate-limiter-flexible';
import { MINUTE, SECOND } from './clock.ts';

/** One quota of a caller. */
export interface Quota {
  /** Name in the headers: `token`, `tenant`. */
  readonly name: string;
  readonly key: string;
  /** Points per window. */
  readonly limit: number;
}

export interface QuotaState extends Quota {
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
  /** Whether this quota rejected the call: it had fewer points left than requested. */
  readonly exceeded: boolean;
}

/** Rate limits with fixed windows. The store is an adapter: process memory, or Redis for several processes. */
export interface RateLimits {
  /**
   * Consumes `points` of every quota in one round trip. If one has too few left, the call is rejected and costs one point of it and
   * of each quota before it, but none of those after it: rejected calls stay cheap and do not affect other callers. Quotas never fall
   * below 0.
   */
  consume(quotas: readonly Quota[], points: number): Promise<QuotaState[]>;
  /** Returns consumed points to the quotas. */
  refund(quotas: readonly Quota[], points: number): Promise<void>;
  /**
   * Checks for exhausted quotas without consuming, before work is done for a call of unknown cost. Queries the store only for quotas
   * that this process has seen exhausted.
   * @returns the states, one of them exceeded; undefined if no quota is exhausted
   */
  findExhausted(quotas: readonly Quota[]): Promise<QuotaState[] | undefined>;
}

export const WINDOW_MS = MINUTE;

/** Limits differ by key, so the library only counts and the comparison is done here. */
export const COUNTS_ONLY = Number.MAX_SAFE_INTEGER;
/** Size of the cache of exhausted quotas. */
const MAX_EXHAUSTED = 10_000;

/** @param windowMs whole seconds */
export function createMemoryRateLimits(windowMs = WINDOW_MS): RateLimits {
  return createRateLimits(new RateLimiterMemory({ points: COUNTS_ONLY, duration: windowMs / SECOND }));
}

/** The part of a counter of the library that is used: any store has it. */
export type Counter = Pick<RateLimiterAbstract, 'penalty' | 'reward'>;

/** Rate limits over a counter of the library, with any store. */
export function createRateLimits(counter: Counter): RateLimits {
  const exhausted = new LRUCache<string, true>({ max: MAX_EXHAUSTED, ttl: WINDOW_MS });

  async function add(quota: Quota, points: number): Promise<QuotaState> {
    const key = `${quota.name}:${quota.key}`;
    const { consumedPoints, msBeforeNext } = await (points < 0
      ? counter.reward(key, -points)
      : counter.penalty(key, points));
    const remaining = Math.min(quota.limit, Math.max(0, quota.limit - consumedPoints));
    const resetMs = msBeforeNext > 0 ? msBeforeNext : WINDOW_MS;
    if (remaining === 0) exhausted.set(key, true, { ttl: resetMs });
    else exhausted.delete(key);
    return { ...quota, remaining, resetMs, exceeded: consumedPoints > quota.limit };
  }

  const markExceeded = (states: readonly QuotaState[], exceededIndex: number): QuotaState[] =>
    states.map((state, index) => ({ ...state, exceeded: index === exceededIndex }));

  return {
    async consume(quotas, points) {
      const states = await Promise.all(quotas.map(quota => add(quota, points)));
      const exceededIndex = states.findIndex(({ exceeded }) => exceeded);
      if (exceededIndex < 0) return states;
      const refunded = states.map((state, index) => {
        const refund = index <= exceededIndex ? points - 1 : points;
        return refund > 0 ? add(state, -refund) : state;
      });
      return markExceeded(await Promise.all(refunded), exceededIndex);
    },

    async refund(quotas, points) {
      await Promise.all(quotas.map(quota => add(quota, -points)));
    },

    async findExhausted(quotas) {
      if (!quotas.some(({ name, key }) => exhausted.has(`${name}:${key}`))) return undefined;
      const states = await Promise.all(quotas.map(quota => add(quota, 0)));
      const index = states.findIndex(({ remaining }) => remaining === 0);
      return index < 0 ? undefined : markExceeded(states, index);
    },
  };
}

/** Seconds until a window ends, rounded up, so that a caller who waits for them is not too early. */
export const resetSeconds = (state: QuotaState): number => Math.max(1, Math.ceil(state.resetMs / SECOND));

/** The end of a window in seconds since the epoch, rounded up. */
export const resetAtSeconds = (state: QuotaState, nowMs: number): number => Math.ceil((nowMs + state.resetMs) / SECOND);

/** The quota shown in single-value headers: the exceeded one, otherwise the one with the fewest points left. */
export const tightest = (states: readonly QuotaState[]): QuotaState =>
  states.find(state => state.exceeded) ??
  states.reduce((least, state) => (state.remaining < least.remaining ? state : least));

/** The headers of draft-ietf-httpapi-ratelimit-headers, and the X- ones of older clients. */
export function rateLimitHeaders(states: readonly QuotaState[], nowMs: number): Record<string, string> {
  const shown = tightest(states);
  const headers: Record<string, string> = {
    'RateLimit-Policy': states.map(({ name, limit }) => `"${name}";q=${limit};w=${WINDOW_MS / SECOND}`).join(', '),
    RateLimit: states.map(state => `"${state.name}";r=${state.remaining};t=${resetSeconds(state)}`).join(', '),
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
  };
  if (shown.exceeded) {
    headers['Retry-After'] = String(resetSeconds(shown));
    headers['X-RateLimit-Reset'] = String(resetAtSeconds(shown, nowMs));
  }
  return headers;
}
