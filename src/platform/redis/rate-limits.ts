import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { SECOND } from '../clock.ts';
import { COUNTS_ONLY, createRateLimits, type RateLimits, WINDOW_MS } from '../rate-limits.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Rate limits that several processes share. While Redis is away each process counts by itself: a caller then gets up to
 * one allowance from each, which is better than none at all or a gateway that stands still.
 * @param prefix before every key, so that several installations can share one Redis
 * @param windowMs whole seconds
 */
export function createRedisRateLimits({ commands }: RedisConnection, prefix: string, windowMs = WINDOW_MS): RateLimits {
  const options = { points: COUNTS_ONLY, duration: windowMs / SECOND };
  return createRateLimits(
    new RateLimiterRedis({
      ...options,
      storeClient: commands,
      keyPrefix: `${prefix}:rate`,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(options),
    }),
  );
}
