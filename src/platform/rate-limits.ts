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
  readonly exceeded: boolean;
}

/** Fixed windows of a minute. The store is an adapter: memory of this process, or Redis for several. */
export interface RateLimits {
  /** Charges all quotas, in order; after one that is exceeded the others are only read, so that a refused call costs nobody else. */
  consume(quotas: readonly Quota[], points: number): Promise<QuotaState[]>;
}

export const WINDOW_MS = MINUTE;

/** The limits differ by key, so the library only counts; who is over is decided here. */
export function createMemoryRateLimits(): RateLimits {
  return createRateLimits(new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_MS / SECOND }));
}

function createRateLimits(limiter: RateLimiterAbstract): RateLimits {
  return {
    async consume(quotas, points) {
      const states: QuotaState[] = [];
      let refused: boolean = false;
      for (const quota of quotas) {
        const key = `${quota.name}:${quota.key}`;
        const counted: { consumedPoints?: number; msBeforeNext?: number } | null = refused
          ? await limiter.get(key)
          : await limiter.penalty(key, points);
        const consumed: number = counted?.consumedPoints ?? 0;
        const exceeded: boolean = !refused && consumed > quota.limit;
        refused ||= exceeded;
        states.push({
          ...quota,
          exceeded,
          remaining: Math.max(0, quota.limit - consumed),
          resetMs: counted?.msBeforeNext ? counted.msBeforeNext : WINDOW_MS,
        });
      }
      return states;
    },
  };
}

/** Seconds until a window ends: rounded up, so that a caller who waits them is not early. */
export const resetSeconds = (state: QuotaState): number => Math.max(1, Math.ceil(state.resetMs / SECOND));

/** The headers of draft-ietf-httpapi-ratelimit-headers, and the X- ones of older clients. */
export function rateLimitHeaders(states: readonly QuotaState[], nowMs: number): Record<string, string> {
  const tightest = states.reduce((least, state) => (state.remaining < least.remaining ? state : least));
  const exceeded = states.find(state => state.exceeded);
  const headers: Record<string, string> = {
    'RateLimit-Policy': states.map(({ name, limit }) => `"${name}";q=${limit};w=${WINDOW_MS / SECOND}`).join(', '),
    RateLimit: states.map(state => `"${state.name}";r=${state.remaining};t=${resetSeconds(state)}`).join(', '),
    'X-RateLimit-Limit': String((exceeded ?? tightest).limit),
    'X-RateLimit-Remaining': String((exceeded ?? tightest).remaining),
  };
  if (exceeded) {
    headers['Retry-After'] = String(resetSeconds(exceeded));
    headers['X-RateLimit-Reset'] = String(Math.ceil((nowMs + exceeded.resetMs) / SECOND));
  }
  return headers;
}
