import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createMemoryRateLimits,
  type Quota,
  type QuotaState,
  type RateLimits,
  rateLimitHeaders,
} from '../../src/platform/rate-limits.ts';
import type { RedisConnection } from '../../src/platform/redis/connection.ts';
import { createRedisRateLimits } from '../../src/platform/redis/rate-limits.ts';
import { newPrefix, openRedis, redisUrl } from '../support/redis.ts';

const left = (states: readonly QuotaState[] | undefined): (string | number)[] | undefined =>
  states?.map(({ remaining, exceeded }) => (exceeded ? `${remaining}, exceeded` : remaining));

/** The tests of every implementation. @param create with a window in milliseconds */
function promises(create: (windowMs?: number) => RateLimits): void {
  const quotas = (...maxima: number[]): Quota[] => {
    const key = crypto.randomUUID();
    return maxima.map((limit, index) => ({ name: `q${index}`, key, limit }));
  };

  test('points are consumed from every quota until one has too few left', async () => {
    const limits = create();
    const mine = quotas(10, 20);
    expect(left(await limits.consume(mine, 4))).toEqual([6, 16]);
    expect(left(await limits.consume(mine, 6))).toEqual([0, 10]);
    expect(left(await limits.consume(mine, 1))).toEqual(['0, exceeded', 10]);
    // Other callers are not affected.
    expect(left(await limits.consume(quotas(10, 20), 1))).toEqual([9, 19]);
  });

  test('a call that exceeds a quota costs one point of it, and none of the quotas after it', async () => {
    const limits = create();
    const mine = quotas(10, 20);
    await limits.consume(mine, 5);
    expect(left(await limits.consume(mine, 6))).toEqual(['4, exceeded', 15]);
    expect(left(await limits.consume(mine, 4))).toEqual([0, 11]);
    for (let n = 0; n < 3; n += 1) expect(left(await limits.consume(mine, 7))).toEqual(['0, exceeded', 11]);
  });

  test('a call that exceeds a quota costs one point of the quotas before it', async () => {
    const limits = create();
    const mine = quotas(20, 5, 20);
    expect(left(await limits.consume(mine, 6))).toEqual([19, '4, exceeded', 20]);
    expect(left(await limits.consume(mine, 4))).toEqual([15, 0, 16]);
  });

  test('concurrent calls never consume more points than the limit', async () => {
    const limits = create();
    const mine = quotas(50, 1_000);
    const states = await Promise.all(Array.from({ length: 120 }, () => limits.consume(mine, 1)));
    expect(states.filter(([first]) => first?.exceeded)).toHaveLength(70);
    expect(left(await limits.consume(mine, 1))).toEqual(['0, exceeded', 950]);
    const dear = quotas(50);
    const taken = await Promise.all(Array.from({ length: 30 }, () => limits.consume(dear, 7)));
    expect(taken.filter(([first]) => !first?.exceeded).length).toBeLessThanOrEqual(7);
  });

  test('refunded points can be consumed again, but never exceed the limit', async () => {
    const limits = create();
    const mine = quotas(3);
    await limits.consume(mine, 3);
    await limits.refund(mine, 1);
    expect(left(await limits.consume(mine, 1))).toEqual([0]);
    await limits.refund(mine, 9);
    expect(left(await limits.consume(mine, 0))).toEqual([3]);
  });

  test('spent() reports used-up quotas without consuming points', async () => {
    const limits = create();
    const mine = quotas(2, 9);
    expect(await limits.findExhausted(mine)).toBeUndefined();
    await limits.consume(mine, 1);
    expect(await limits.findExhausted(mine)).toBeUndefined();
    await limits.consume(mine, 1);
    for (let n = 0; n < 3; n += 1) expect(left(await limits.findExhausted(mine))).toEqual(['0, exceeded', 7]);
    await limits.refund(mine, 1);
    expect(await limits.findExhausted(mine)).toBeUndefined();
    expect(left(await limits.consume(mine, 1))).toEqual([0, 7]);
  });

  test('a window ends at the announced time, and the next one has the full limit', async () => {
    const limits = create(1_000);
    let mine: Quota[];
    let first: QuotaState | undefined;
    let refused: QuotaState | undefined;
    do {
      // Starts over if the window ended between the two calls.
      mine = quotas(3, 9);
      [first] = await limits.consume(mine, 3);
      [refused] = await limits.consume(mine, 1);
    } while (!refused?.exceeded);
    expect(first?.resetMs).toBeGreaterThan(0);
    expect(first?.resetMs).toBeLessThanOrEqual(1_000);
    // The second, rejected call has not extended the window.
    expect(refused.resetMs).toBeGreaterThan(0);
    expect(refused.resetMs).toBeLessThanOrEqual(first?.resetMs ?? 0);
    await new Promise(resolve => setTimeout(resolve, (refused?.resetMs ?? 0) + 20));
    expect(await limits.findExhausted(mine)).toBeUndefined();
    expect(left(await limits.consume(mine, 1))).toEqual([2, 8]);
  });

  test('the headers of a rejected call show the exceeded quota', async () => {
    const limits = create();
    const mine = quotas(60, 3);
    const now = 1_700_000_000_000;
    const states = await limits.consume(mine, 5);
    const seconds = Math.ceil((states[1]?.resetMs ?? 0) / 1_000);
    expect(rateLimitHeaders(states, now)).toEqual({
      'RateLimit-Policy': '"q0";q=60;w=60, "q1";q=3;w=60',
      RateLimit: `"q0";r=59;t=${Math.ceil((states[0]?.resetMs ?? 0) / 1_000)}, "q1";r=2;t=${seconds}`,
      'X-RateLimit-Limit': '3',
      'X-RateLimit-Remaining': '2',
      'Retry-After': String(seconds),
      'X-RateLimit-Reset': String(Math.ceil((now + (states[1]?.resetMs ?? 0)) / 1_000)),
    });
  });
}

describe('rate limits in process memory', () => promises(createMemoryRateLimits));

describe.skipIf(redisUrl === undefined)('rate limits in Redis', () => {
  let redis: RedisConnection;
  beforeAll(async () => {
    redis = await openRedis();
  });
  afterAll(() => redis.close());

  promises(windowMs => createRedisRateLimits(redis, newPrefix(), windowMs));

  test('several processes share one count', async () => {
    const second = await openRedis();
    const prefix = newPrefix();
    const [one, other] = [createRedisRateLimits(redis, prefix), createRedisRateLimits(second, prefix)];
    const mine = [{ name: 'token', key: 'k', limit: 40 }];
    const states = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? one : other).consume(mine, 1)),
    );
    expect(states.filter(([state]) => state?.exceeded)).toHaveLength(20);
    // The other process learns of the spent quota at its next call.
    expect(left(await other.findExhausted(mine))).toEqual(['0, exceeded']);
    await second.close();
  });

  test('keys expire with their window', async () => {
    const prefix = newPrefix();
    await createRedisRateLimits(redis, prefix).consume([{ name: 'token', key: '1:2', limit: 5 }], 2);
    const [key = ''] = await redis.commands.keys(`${prefix}:*`);
    expect(key).toBe(`${prefix}:rate:token:1:2`);
    expect(await redis.commands.ttl(key)).toBeGreaterThan(50);
    expect(await redis.commands.ttl(key)).toBeLessThanOrEqual(60);
  });
});
