import { expect, test } from 'vitest';
import { createRedisTextCache } from '../../src/platform/redis/text-cache.ts';
import { createMemoryTextCache } from '../../src/platform/text-cache.ts';
import { newPrefix, openRedis, redisUrl } from '../support/redis.ts';

test('a cache in memory is bounded: the least recently read texts go first', async () => {
  const cache = createMemoryTextCache();
  for (let index = 0; index <= 2_000; index += 1) {
    cache.save(String(index), 'text');
    await cache.find('0');
  }
  expect(await cache.find('0')).toBe('text');
  expect(await cache.find('1')).toBeUndefined();
  cache.save('large', 'x'.repeat(10_000_001));
  expect(await cache.find('large')).toBeUndefined();
});

test.skipIf(redisUrl === undefined)('processes share texts through Redis, and keep them while it is away', async () => {
  const redis = await openRedis();
  const prefix = newPrefix();
  const [one, other] = [1, 2].map(() => createRedisTextCache(redis, prefix, createMemoryTextCache()));
  one?.save('digest', 'text');
  await expect.poll(() => other?.find('digest')).toBe('text');
  expect(await redis.commands.ttl(`${prefix}:text:digest`)).toBeGreaterThan(6 * 24 * 3_600);
  await redis.close();
  expect(await other?.find('digest')).toBe('text');
  expect(await other?.find('unknown')).toBeUndefined();
  other?.save('later', 'text');
  expect(await other?.find('later')).toBe('text');
});
