import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobs, type Jobs } from '../../src/platform/jobs.ts';
import { createLog } from '../../src/platform/log.ts';
import type { Signals } from '../../src/platform/signals.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { pollSeldom } from './poll-seldom.ts';

let database: TestDatabase;
let jobs: Jobs;

/** Signals within one process. */
function localSignals(): Signals {
  const listeners = new Map<string, Set<(topic: string) => void>>();
  return {
    send: topic => listeners.get(topic.split(':', 1)[0] ?? '')?.forEach(listener => void listener(topic)),
    on(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => set.delete(listener);
    },
    close: async () => undefined,
  };
}

let restorePolling: () => void;
beforeAll(async () => {
  restorePolling = pollSeldom();
  database = await createTestDatabase();
  jobs = await createJobs(database.url, ['places'], localSignals(), createLog('silent'));
});
afterAll(async () => {
  restorePolling();
  await jobs.stop(1_000);
  await database.drop();
});

test('an empty lane that lingers gives its place to a lane that has something to do', async () => {
  const drained: string[] = [];
  await jobs.work('places', 2, async lane => {
    drained.push(lane.key);
    // Without giving way, the third lane would wait out an hour.
    await lane.linger(3_600_000);
  });
  jobs.wake('places', 'a');
  jobs.wake('places', 'b');
  await expect.poll(() => [...drained].sort()).toEqual(['a', 'b']);
  jobs.wake('places', 'c');
  await expect.poll(() => drained).toContain('c');
});
