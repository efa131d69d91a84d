import { expect, test } from 'vitest';
import { KeyedSemaphore, QueueOverload } from '../../src/platform/keyed-semaphore.ts';

const options = { concurrency: 2, maxWaiting: 3, timeoutMs: 60_000 };

test('tasks of one key run with limited concurrency in order of arrival, and other keys do not wait', async () => {
  const turns = new KeyedSemaphore(options);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (key: string, name: string) =>
    turns.run(key, () => {
      begun.push(name);
      return new Promise<void>(resolve => ends.set(name, resolve));
    });
  const all = [run('a', '1'), run('a', '2'), run('a', '3'), run('a', '4'), run('b', '5')];
  expect(begun).toEqual(['1', '2', '5']);
  ends.get('2')?.();
  await all[1];
  expect(begun).toEqual(['1', '2', '5', '3']);
  for (const name of ['1', '3', '5']) ends.get(name)?.();
  await Promise.all([all[0], all[2], all[4]]);
  ends.get('4')?.();
  await all[3];
  expect(begun).toEqual(['1', '2', '5', '3', '4']);
});

test('a failing task frees its slot', async () => {
  const turns = new KeyedSemaphore({ ...options, concurrency: 1 });
  const broken = turns.run('a', () => Promise.reject(new Error('broken')));
  const sound = turns.run('a', () => Promise.resolve('done'));
  await expect(broken).rejects.toThrow('broken');
  expect(await sound).toBe('done');
});

test('a task is rejected if the queue is full or its timeout passes', async () => {
  const turns = new KeyedSemaphore({ concurrency: 1, maxWaiting: 1, timeoutMs: 20 });
  const blocked = Promise.withResolvers<void>();
  const first = turns.run('a', () => blocked.promise);
  const second = turns.run('a', () => Promise.resolve());
  await expect(turns.run('a', () => Promise.resolve())).rejects.toThrow(QueueOverload);
  await expect(second).rejects.toThrow(QueueOverload);
  blocked.resolve();
  await first;
  expect(await turns.run('a', () => Promise.resolve('free again'))).toBe('free again');
});
