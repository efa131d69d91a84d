import { expect, test, vi } from 'vitest';
import { BatchedWriter, type BatchedWriterOptions, type Pending } from '../../src/lanes/batched-writer.ts';

type Entry = Pending<number, string>;
const OPTIONS: BatchedWriterOptions = { flushMs: 1, backoffFactor: 2, maxSize: 3, maxRunning: 1 };

/** A writer whose batches the test ends, one by one. */
function startWriter(options: Partial<BatchedWriterOptions> = {}) {
  const batches: { readonly items: readonly number[]; end(failed?: boolean): void }[] = [];
  const writer = new BatchedWriter<number, string>(
    batch =>
      new Promise<readonly Entry[]>(resolve => {
        const end = (failed = false): void => {
          if (!failed) for (const { item, written } of batch) written(`${item}`);
          resolve(failed ? batch : []);
        };
        batches.push({ items: batch.map(({ item }) => item), end });
      }),
    { ...OPTIONS, ...options },
  );
  const next = async (count: number) => {
    await vi.waitFor(() => expect(batches).toHaveLength(count), { timeout: 10_000, interval: 1 });
    return batches[count - 1];
  };
  return { writer, batches, next };
}

test('items that arrive together share a write, and the rest waits for the next', async () => {
  const { writer, next } = startWriter();
  const written = Promise.all([1, 2, 3, 4].map(item => writer.add(item)));
  const first = await next(1);
  expect(first?.items).toEqual([1, 2, 3]);
  first?.end();
  const second = await next(2);
  expect(second?.items).toEqual([4]);
  second?.end();
  expect(await written).toEqual(['1', '2', '3', '4']);
});

test('failed items are written again before newer ones, and failures are counted until a write succeeds', async () => {
  const { writer, next } = startWriter();
  const written = Promise.all([writer.add(1), writer.add(2)]);
  (await next(1))?.end(true);
  const newer = writer.add(3);
  const again = await next(2);
  expect([again?.items, writer.failures]).toEqual([[1, 2, 3], 1]);
  again?.end();
  expect(await Promise.all([written, newer])).toEqual([['1', '2'], '3']);
  expect(writer.failures).toBe(0);
});

test('a caller that waits is not made to wait for the full interval', async () => {
  const { writer, next } = startWriter({ flushMs: 3_600_000, hurry: { flushMs: 1, items: 3 } });
  const first = writer.add(1);
  writer.hurry();
  (await next(1))?.end();
  expect(await first).toBe('1');
  const many = Promise.all([2, 3, 4].map(item => writer.add(item)));
  (await next(2))?.end();
  expect(await many).toEqual(['2', '3', '4']);
});

test('with a spacing, what arrives after a write began waits for the next, unless it is enough or a caller waits', async () => {
  const { writer, next, batches } = startWriter({ spacingMs: 3_600_000, hurry: { flushMs: 1, items: 3 } });
  const first = writer.add(1);
  (await next(1))?.end();
  expect(await first).toBe('1');
  const few = [writer.add(2), writer.add(3)];
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(batches).toHaveLength(1);
  const enough = Promise.all([...few, writer.add(4)]);
  (await next(2))?.end();
  expect(await enough).toEqual(['2', '3', '4']);
  const last = writer.add(5);
  writer.hurry();
  (await next(3))?.end();
  expect(await last).toBe('5');
});

test('waitForRoom resolves when fewer items wait, flush when all items are written', async () => {
  const { writer, next } = startWriter({ maxSize: 1 });
  const done: string[] = [];
  void writer.add(1);
  void writer.add(2);
  const room = writer.waitForRoom(2).then(() => done.push('room'));
  const flushed = writer.flush().then(() => done.push('flushed'));
  (await next(1))?.end();
  await room;
  expect(done).toEqual(['room']);
  (await next(2))?.end();
  await flushed;
  expect(done).toEqual(['room', 'flushed']);
});
