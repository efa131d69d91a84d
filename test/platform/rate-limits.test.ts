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

/** What holds wherever the points are counted. @param create with a window in milliseconds */
function promises(create: (windowMs?: number) => RateLimits): void {
  const quotas = (...maxima: number[]): Quota[] => {
    const key = crypto.randomUUID();
    return maxima.map((limit, index) => ({ name: `q${index}`, key, limit }));
  };

  test('points are taken of every quota until one has not enough left', async () => {
    const limits = create();
    const mine = quotas(10, 20);
    expect(left(await limits.consume(mine, 4))).toEqual([6, 16]);
    expect(left(await limits.consume(mine, 6))).toEqual([0, 10]);
    expect(left(await limits.consume(mine, 1))).toEqual(['0, exceeded', 10]);
    // Another caller's are another's.
    expect(left(await limits.consume(quotas(10, 20), 1))).toEqual([9, 19]);
  });

  test('a call that asks for more than is left costs one point, and nothing of the quotas behind', async () => {
    const limits = create();
    const mine = quotas(10, 20);
    await limits.consume(mine, 5);
    expect(left(await limits.consume(mine, 6))).toEqual(['4, exceeded', 15]);
    expect(left(await limits.consume(mine, 4))).toEqual([0, 11]);
    for (let n = 0; n < 3; n += 1) expect(left(await limits.consume(mine, 7))).toEqual(['0, exceeded', 11]);
  });

  test('a quota that refuses costs one point of those before it', async () => {
    const limits = create();
    const mine = quotas(20, 5, 20);
    expect(left(await limits.consume(mine, 6))).toEqual([19, '4, exceeded', 20]);
    expect(left(await limits.consume(mine, 4))).toEqual([15, 0, 16]);
  });

  test('of calls at once no more go through than there are points for', async () => {
    const limits = create();
    const mine = quotas(50, 1_000);
    const states = await Promise.all(Array.from({ length: 120 }, () => limits.consume(mine, 1)));
    expect(states.filter(([first]) => first?.exceeded)).toHaveLength(70);
    expect(left(await limits.consume(mine, 1))).toEqual(['0, exceeded', 950]);
    const dear = quotas(50);
    const taken = await Promise.all(Array.from({ length: 30 }, () => limits.consume(dear, 7)));
    expect(taken.filter(([first]) => !first?.exceeded).length).toBeLessThanOrEqual(7);
  });

  test('points that are given back can be taken again, and never more than there were', async () => {
    const limits = create();
    const mine = quotas(3);
    await limits.consume(mine, 3);
    await limits.giveBack(mine, 1);
    expect(left(await limits.consume(mine, 1))).toEqual([0]);
    await limits.giveBack(mine, 9);
    expect(left(await limits.consume(mine, 0))).toEqual([3]);
  });

  test('what is used up is known to be so, without taking anything', async () => {
    const limits = create();
    const mine = quotas(2, 9);
    expect(await limits.spent(mine)).toBeUndefined();
    await limits.consume(mine, 1);
    expect(await limits.spent(mine)).toBeUndefined();
    await limits.consume(mine, 1);
    for (let n = 0; n < 3; n += 1) expect(left(await limits.spent(mine))).toEqual(['0, exceeded', 7]);
    await limits.giveBack(mine, 1);
    expect(await limits.spent(mine)).toBeUndefined();
    expect(left(await limits.consume(mine, 1))).toEqual([0, 7]);
  });

  test('a window ends when it said it would, and a new one has everything', async () => {
    const limits = create(1_000);
    let mine: Quota[];
    let first: QuotaState | undefined;
    let refused: QuotaState | undefined;
    do {
      // Anew where the machine slept through the window between the two calls.
      mine = quotas(3, 9);
      [first] = await limits.consume(mine, 3);
      [refused] = await limits.consume(mine, 1);
    } while (!refused?.exceeded);
    expect(first?.resetMs).toBeGreaterThan(0);
    expect(first?.resetMs).toBeLessThanOrEqual(1_000);
    // The second call, refused, has not put the end off.
    expect(refused.resetMs).toBeGreaterThan(0);
    expect(refused.resetMs).toBeLessThanOrEqual(first?.resetMs ?? 0);
    await new Promise(resolve => setTimeout(resolve, (refused?.resetMs ?? 0) + 20));
    expect(await limits.spent(mine)).toBeUndefined();
    expect(left(await limits.consume(mine, 1))).toEqual([2, 8]);
  });

  test('the headers of a refusal tell of the quota that refused', async () => {
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

describe('in the memory of a process', () => promises(createMemoryRateLimits));

describe.skipIf(redisUrl === undefined)('in Redis', () => {
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
    // What one has used up the other hears of at its next call.
    expect(left(await other.spent(mine))).toEqual(['0, exceeded']);
    await second.close();
  });

  test('keys end with their window', async () => {
    const prefix = newPrefix();
    await createRedisRateLimits(redis, prefix).consume([{ name: 'token', key: '1:2', limit: 5 }], 2);
    const [key = ''] = await redis.commands.keys(`${prefix}:*`);
    expect(key).toBe(`${prefix}:rate:token:1:2`);
    expect(await redis.commands.ttl(key)).toBeGreaterThan(50);
    expect(await redis.commands.ttl(key)).toBeLessThanOrEqual(60);
  });
});
