import { randomUUID } from 'node:crypto';
import { createLog } from '../../src/platform/log.ts';
import { connectRedis, type RedisConnection } from '../../src/platform/redis/connection.ts';
import { eventually } from './gateway.ts';

/** Where a Redis is for tests; without one they are skipped. */
export const redisUrl = process.env['PARLEY_TEST_REDIS_URL'];

/** Tests share the server, and no key. */
export const newPrefix = (): string => `parley-test-${randomUUID()}`;

/** A connection that is ready. */
export async function openRedis(
  url = redisUrl ?? '',
  log = createLog('silent'),
  timeoutMs = 20_000,
): Promise<RedisConnection> {
  const redis = connectRedis(url, log, timeoutMs);
  await eventually(() => {
    if (!redis.isReady() || redis.subscriber.status !== 'ready') throw new Error('Redis is not ready.');
  });
  return redis;
}
