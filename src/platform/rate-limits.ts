import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory } from 'rate-limiter-flexible';
import { MINUTE, SECOND } from './clock.ts';

/** One quota of a caller. */
export interface Quota {
  /** As it stands in the headers: `token`, `tenant`. */
  readonly name: string;
  readonly key: string;
  /** Points per window. */
  readonly limit: number;
}

export interface QuotaState extends Quota {
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
  /** This quota refused the call: it had fewer points left than were asked for. */
  readonly exceeded: boolean;
}

/** Fixed windows of a minute. The store is an adapter: memory of this process, or Redis for several. */
export interface RateLimits {
  /**
   * Takes `points` of every quota, in one trip to the store. When one has not enough left the call is refused, and costs
   * one point of it and of those before it, none of those behind: a refused call costs nobody else, and never more than a
   * call does that asks for little. A quota with nothing left is at 0, never below.
   */
  consume(quotas: readonly Quota[], points: number): Promise<QuotaState[]>;
  /** Gives points back that were taken before it was known whether they had to be. */
  giveBack(quotas: readonly Quota[], points: number): Promise<void>;
  /**
   * Whether nothing is left, of what this process has seen used up: only then does it look into the store. To be asked
   * before work is put into a call whose price is not known yet.
   * @returns the states, one of them exceeded; undefined when the call may go on
   */
  spent(quotas: readonly Quota[]): Promise<QuotaState[] | undefined>;
}

export const WINDOW_MS = MINUTE;

/** The limits differ by key, so the library only counts; who is over is decided here. */
export const COUNTS_ONLY = Number.MAX_SAFE_INTEGER;
/** Quotas of which this process remembers that nothing is left. */
const MAX_SPENT = 10_000;

/** @param windowMs whole seconds */
export function createMemoryRateLimits(windowMs = WINDOW_MS): RateLimits {
  return createRateLimits(new RateLimiterMemory({ points: COUNTS_ONLY, duration: windowMs / SECOND }));
}

/** Quotas over a counter of the library, whatever its store. */
export function createRateLimits(counter: RateLimiterAbstract): RateLimits {
  const spent = new LRUCache<string, true>({ max: MAX_SPENT, ttl: WINDOW_MS });

  async function add(quota: Quota, points: number): Promise<QuotaState> {
    const key = `${quota.name}:${quota.key}`;
    const { consumedPoints, msBeforeNext } = await (points < 0
      ? counter.reward(key, -points)
      : counter.penalty(key, points));
    const remaining = Math.min(quota.limit, Math.max(0, quota.limit - consumedPoints));
    const resetMs = msBeforeNext > 0 ? msBeforeNext : WINDOW_MS;
    if (remaining === 0) spent.set(key, true, { ttl: resetMs });
    else spent.delete(key);
    return { ...quota, remaining, resetMs, exceeded: consumedPoints > quota.limit };
  }

  const onlyRefusing = (states: readonly QuotaState[], refusing: number): QuotaState[] =>
    states.map((state, index) => ({ ...state, exceeded: index === refusing }));

  return {
    async consume(quotas, points) {
      const taken = await Promise.all(quotas.map(quota => add(quota, points)));
      const refusing = taken.findIndex(({ exceeded }) => exceeded);
      if (refusing < 0) return taken;
      const settled = taken.map((state, index) => {
        const surplus = index <= refusing ? points - 1 : points;
        return surplus > 0 ? add(state, -surplus) : state;
      });
      return onlyRefusing(await Promise.all(settled), refusing);
    },

    async giveBack(quotas, points) {
      await Promise.all(quotas.map(quota => add(quota, -points)));
    },

    async spent(quotas) {
      if (!quotas.some(({ name, key }) => spent.has(`${name}:${key}`))) return undefined;
      const states = await Promise.all(quotas.map(quota => add(quota, 0)));
      const empty = states.findIndex(({ remaining }) => remaining === 0);
      return empty < 0 ? undefined : onlyRefusing(states, empty);
    },
  };
}

/** Seconds until a window ends: rounded up, so that a caller who waits them is not early. */
export const resetSeconds = (state: QuotaState): number => Math.max(1, Math.ceil(state.resetMs / SECOND));

/** When a window ends, in seconds since the epoch, rounded up as well. */
export const resetAtSeconds = (state: QuotaState, nowMs: number): number => Math.ceil((nowMs + state.resetMs) / SECOND);

/** The quota that a caller hears of who looks at one alone: the one that refused, else the one with the least left. */
export const tightest = (states: readonly QuotaState[]): QuotaState =>
  states.find(state => state.exceeded) ??
  states.reduce((least, state) => (state.remaining < least.remaining ? state : least));

/** The headers of draft-ietf-httpapi-ratelimit-headers, and the X- ones of older clients. */
export function rateLimitHeaders(states: readonly QuotaState[], nowMs: number): Record<string, string> {
  const told = tightest(states);
  const headers: Record<string, string> = {
    'RateLimit-Policy': states.map(({ name, limit }) => `"${name}";q=${limit};w=${WINDOW_MS / SECOND}`).join(', '),
    RateLimit: states.map(state => `"${state.name}";r=${state.remaining};t=${resetSeconds(state)}`).join(', '),
    'X-RateLimit-Limit': String(told.limit),
    'X-RateLimit-Remaining': String(told.remaining),
  };
  if (told.exceeded) {
    headers['Retry-After'] = String(resetSeconds(told));
    headers['X-RateLimit-Reset'] = String(resetAtSeconds(told, nowMs));
  }
  return headers;
}
