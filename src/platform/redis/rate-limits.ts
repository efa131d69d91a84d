import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { SECOND } from '../clock.ts';
import { COUNTS_ONLY, createRateLimits, type RateLimits, WINDOW_MS } from '../rate-limits.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Rate limits shared by several processes. While Redis is unavailable each process counts by itself, so that a caller may get up to
 * one allowance per process: better than no limits or no service.
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
