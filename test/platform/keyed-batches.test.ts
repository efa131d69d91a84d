import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KeyedBatches } from '../../src/platform/keyed-batches.ts';
import { QueueOverload } from '../../src/platform/keyed-semaphore.ts';

/** Runs items in batches, which it notes. */
function collector(batches: KeyedBatches) {
  const seen: number[][] = [];
  const run = (item: number, key = 'key'): Promise<number> =>
    batches.run(key, item, async items => {
      seen.push([...items]);
      return items.map(one => one * 10);
    });
  return { seen, run };
}

describe('without a spacing', () => {
  test('items of one turn share a batch, each with its own result', async () => {
    const { seen, run } = collector(new KeyedBatches({ maxSize: 3, maxRunning: 1, maxWaiting: 10 }));
    expect(await Promise.all([1, 2, 3, 4].map(item => run(item)))).toEqual([10, 20, 30, 40]);
    expect(seen).toEqual([[1, 2, 3], [4]]);
    await run(5);
    expect(seen.at(-1)).toEqual([5]);
  });

  test('a batch that fails fails all its items, and no others', async () => {
    const batches = new KeyedBatches({ maxSize: 10, maxRunning: 1, maxWaiting: 10 });
    const failing = Promise.allSettled(
      [1, 2].map(item => batches.run('a', item, () => Promise.reject(new Error('no')))),
    );
    const other = collector(batches).run(3, 'b');
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await other).toBe(30);
  });

  test('more items than may wait are refused', () => {
    const { run } = collector(new KeyedBatches({ maxSize: 10, maxRunning: 1, maxWaiting: 1 }));
    void run(1);
    expect(() => run(2)).toThrow(QueueOverload);
  });
});

describe('with a spacing', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const start = () => collector(new KeyedBatches({ maxSize: 10, maxRunning: 1, maxWaiting: 10, spacingMs: 25 }));

  test('the first do not wait; those that arrive soon after them share the next batch', async () => {
    const { seen, run } = start();
    const first = [run(1), run(1), run(1)];
    await vi.advanceTimersByTimeAsync(0);
    expect(await Promise.all(first)).toEqual([10, 10, 10]);
    const later = [run(2)];
    await vi.advanceTimersByTimeAsync(20);
    later.push(run(3));
    await vi.advanceTimersByTimeAsync(4);
    expect(seen).toEqual([[1, 1, 1]]);
    await vi.advanceTimersByTimeAsync(2);
    expect(await Promise.all(later)).toEqual([20, 30]);
    expect(seen).toEqual([
      [1, 1, 1],
      [2, 3],
    ]);
    await vi.advanceTimersByTimeAsync(100);
    const alone = run(4);
    await vi.advanceTimersByTimeAsync(0);
    expect(await alone).toBe(40);
  });

  test('a sender that awaits each item before the next is not delayed by the spacing', async () => {
    const { seen, run } = start();
    for (const item of [1, 2, 3]) {
      const only = run(item);
      await vi.advanceTimersByTimeAsync(0);
      expect(await only).toBe(item * 10);
    }
    expect(seen).toEqual([[1], [2], [3]]);
  });

  test('several such senders wait for each other, not for the spacing', async () => {
    const { seen, run } = start();
    const batchOf = async (...items: number[]) => {
      const done = items.map(item => run(item));
      await vi.advanceTimersByTimeAsync(0);
      return done;
    };
    await Promise.all(await batchOf(1, 2, 3));
    const [two, third] = [await batchOf(4, 5), [] as Promise<number>[]];
    expect(seen).toEqual([[1, 2, 3]]);
    third.push(...(await batchOf(6)));
    expect(await Promise.all([...two, ...third])).toEqual([40, 50, 60]);
    expect(seen).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  test('after one of them has left, the others wait for the spacing once, then no longer', async () => {
    const { seen, run } = start();
    const batchOf = async (...items: number[]) => {
      const done = Promise.all(items.map(item => run(item)));
      let isDone = false;
      void done.then(() => {
        isDone = true;
      });
      await vi.advanceTimersByTimeAsync(0);
      const wasAtOnce = isDone;
      await vi.advanceTimersByTimeAsync(wasAtOnce ? 0 : 30);
      await done;
      return wasAtOnce;
    };
    await batchOf(1, 2, 3);
    const atOnce: boolean[] = [];
    for (let round = 0; round < 10; round += 1) atOnce.push(await batchOf(4, 5));
    expect(seen).toHaveLength(11);
    expect([atOnce[0], atOnce.at(-1)]).toEqual([false, true]);
  });

  test('keys do not wait for each other', async () => {
    const { seen, run } = start();
    void run(1);
    await vi.advanceTimersByTimeAsync(0);
    void run(2, 'other');
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual([[1], [2]]);
  });
});
