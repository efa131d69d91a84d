import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { SECOND } from '../clock.ts';
import { COUNTS_ONLY, type Counter, createRateLimits, type RateLimits, WINDOW_MS } from '../rate-limits.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Rate limits shared by several processes. While Redis is unavailable or refuses writes each process counts by itself, so that a caller
 * may get up to one allowance per process: better than no limits or no service.
 * @param prefix before every key, so that several installations can share one Redis
 * @param windowMs whole seconds
 */
export function createRedisRateLimits(
  { commands, onFailure }: RedisConnection,
  prefix: string,
  windowMs = WINDOW_MS,
): RateLimits {
  const options = { points: COUNTS_ONLY, duration: windowMs / SECOND };
  const shared = new RateLimiterRedis({
    ...options,
    storeClient: commands,
    keyPrefix: `${prefix}:rate`,
    rejectIfRedisNotReady: true,
  });
  const own = new RateLimiterMemory(options);
  // Instead of the library's insurance limiter, which does not report why it takes over.
  const count = (by: (counter: Counter) => Promise<RateLimiterRes>): Promise<RateLimiterRes> =>
    by(shared).catch((error: unknown) => {
      onFailure(error, 'each process counts rate limits by itself');
      return by(own);
    });
  return createRateLimits({
    penalty: (key, points) => count(counter => counter.penalty(key, points)),
    reward: (key, points) => count(counter => counter.reward(key, points)),
  });
}
