import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mapConcurrently } from '../../src/platform/map-concurrently.ts';

async function* source(values: readonly number[], error?: Error): AsyncGenerator<number> {
  for (const value of values) {
    await Promise.resolve();
    yield value;
  }
  if (error) throw error;
}

const describeError = (error: unknown): string => `failed: ${(error as Error).message}`;

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

test('every value is yielded once, in source order, with at most `limit` concurrent calls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), async (delays, limit) => {
      let [running, most] = [0, 0];
      const mapped = mapConcurrently(
        source(delays.keys().toArray()),
        limit,
        async index => {
          running += 1;
          most = Math.max(most, running);
          for (let turn = delays[index] ?? 0; turn > 0; turn -= 1) await Promise.resolve();
          running -= 1;
          return `${index}`;
        },
        describeError,
      );
      expect(await all(mapped)).toEqual([...delays.keys()].map(String));
      expect(most).toBeLessThanOrEqual(limit);
    }),
    { numRuns: 60 },
  );
});

test('ten values are mapped concurrently', async () => {
  let begun = 0;
  const together = Promise.withResolvers<void>();
  const slow = async (value: number): Promise<string> => {
    begun += 1;
    if (begun === 10) together.resolve();
    await together.promise;
    return `${value}`;
  };
  expect(await all(mapConcurrently(source([...Array(10).keys()]), 16, slow, describeError))).toHaveLength(10);
});

test('the error of a source is yielded last, after all earlier values', async () => {
  const mapped = mapConcurrently(source([1, 2], new Error('gone')), 4, async value => `${value}`, describeError);
  expect(await all(mapped)).toEqual(['1', '2', 'failed: gone']);
});

test('returning early closes the source', async () => {
  let ended = false;
  async function* endless(): AsyncGenerator<number> {
    try {
      for (let value = 0; ; value += 1) yield value;
    } finally {
      ended = true;
    }
  }
  for await (const value of mapConcurrently(endless(), 4, async value => `${value}`, describeError))
    if (value === '3') break;
  expect(ended).toBe(true);
});
