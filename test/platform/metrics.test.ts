import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createMetrics, observeMedia } from '../../src/platform/metrics.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('metrics of a stopped gateway are released, and those of the process are in each that runs', async () => {
  const stopped = new WeakRef(createMetrics());
  const text = await createMetrics().registry.metrics();
  expect(text).toContain('parley_nodejs_gc_duration_seconds');
  expect(text).toContain('parley_process_cpu_seconds_total');
  expect(text).toContain('parley_nodejs_eventloop_lag_p99_seconds');
  await expect
    .poll(() => {
      collectGarbage();
      // A failed comparison would keep the object itself.
      return stopped.deref() === undefined;
    })
    .toBe(true);
});

test('a scrape does not wait for a database that does not answer, and one read of it is in progress', async () => {
  const { registry } = createMetrics();
  let isAnswering = true;
  let reads = 0;
  observeMedia(registry, () => {
    reads += 1;
    return isAnswering ? Promise.resolve({ files: 3, bytes: 4, waiting: 5 }) : new Promise(() => undefined);
  });
  expect(await registry.metrics()).toContain('parley_media_waiting 5');
  isAnswering = false;
  for (let scrape = 0; scrape < 2; scrape += 1) expect(await registry.metrics()).toContain('parley_media_waiting 5');
  expect(reads).toBe(2);
}, 60_000);
