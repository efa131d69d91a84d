import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mapAhead } from '../../src/platform/map-concurrently.ts';

async function* source(values: readonly number[], error?: Error): AsyncGenerator<number> {
  for (const value of values) {
    await Promise.resolve();
    yield value;
  }
  if (error) throw error;
}

const told = (error: unknown): string => `failed: ${(error as Error).message}`;

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

test('everything comes once and in the order of the source, however long each takes, and never more than the limit at a time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), async (delays, limit) => {
      let [running, most] = [0, 0];
      const mapped = mapAhead(
        source(delays.keys().toArray()),
        limit,
        async index => {
          running += 1;
          most = Math.max(most, running);
          for (let turn = delays[index] ?? 0; turn > 0; turn -= 1) await Promise.resolve();
          running -= 1;
          return `${index}`;
        },
        told,
      );
      expect(await all(mapped)).toEqual([...delays.keys()].map(String));
      expect(most).toBeLessThanOrEqual(limit);
    }),
    { numRuns: 60 },
  );
});

test('a burst waits together: none of ten values is there before all ten are under way', async () => {
  let begun = 0;
  const together = Promise.withResolvers<void>();
  const slow = async (value: number): Promise<string> => {
    begun += 1;
    if (begun === 10) together.resolve();
    await together.promise;
    return `${value}`;
  };
  expect(await all(mapAhead(source([...Array(10).keys()]), 16, slow, told))).toHaveLength(10);
});

test('a source that fails is told last, after all that came before', async () => {
  const mapped = mapAhead(source([1, 2], new Error('gone')), 4, async value => `${value}`, told);
  expect(await all(mapped)).toEqual(['1', '2', 'failed: gone']);
});

test('who leaves ends the source', async () => {
  let ended = false;
  async function* endless(): AsyncGenerator<number> {
    try {
      for (let value = 0; ; value += 1) yield value;
    } finally {
      ended = true;
    }
  }
  for await (const value of mapAhead(endless(), 4, async value => `${value}`, told)) if (value === '3') break;
  expect(ended).toBe(true);
});
