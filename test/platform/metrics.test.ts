import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';

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
