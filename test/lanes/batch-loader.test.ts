import { expect, test } from 'vitest';
import { createBatchLoader } from '../../src/lanes/batch-loader.ts';

test('concurrent requests form one batch, and results come in request order', async () => {
  const batches: (readonly number[])[] = [];
  const loader = createBatchLoader<number, number>(
    async requests => {
      batches.push(requests);
      return requests.map(request => request * 10);
    },
    { maxSize: 3, maxRunning: 1 },
  );
  expect(await Promise.all([1, 2, 3, 4].map(request => loader.load(request)))).toEqual([10, 20, 30, 40]);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test('requests beyond the limit of concurrent batches wait for the next batch', async () => {
  const running: { requests: readonly number[]; end: () => void }[] = [];
  const loader = createBatchLoader<number, number>(
    requests =>
      new Promise(resolve => {
        running.push({ requests, end: () => resolve(requests) });
      }),
    { maxSize: 10, maxRunning: 2 },
  );
  const turn = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)));
  const answers = [loader.load(1)];
  await turn();
  answers.push(loader.load(2));
  await turn();
  answers.push(loader.load(3), loader.load(4));
  await turn();
  expect(running.map(({ requests }) => requests)).toEqual([[1], [2]]);
  running[0]?.end();
  await turn();
  expect(running.map(({ requests }) => requests)).toEqual([[1], [2], [3, 4]]);
  for (const { end } of running) end();
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4]);
});

test('a failing request does not fail others in its batch', async () => {
  const loader = createBatchLoader<number, number>(
    async requests => {
      if (requests.includes(2)) throw new Error('not 2');
      return requests;
    },
    { maxSize: 10, maxRunning: 1 },
  );
  const results = await Promise.allSettled([1, 2, 3].map(request => loader.load(request)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
