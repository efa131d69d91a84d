import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DueDelivery } from '../../../../src/features/webhooks/delivery/queue.sql.ts';
import { EndpointQueue } from '../../../../src/features/webhooks/endpoints/endpoint-queue.ts';
import type { OpenTarget } from '../../../../src/features/webhooks/endpoints/target.ts';
import type { Target } from '../../../../src/features/webhooks/endpoints/targets.sql.ts';

test('a queue returns every delivery once and in order during concurrent changes, inserts and restarts', async () => {
  const at = '2026-01-31T07:58:39.120Z';
  const idOf = (index: number): string => `019b76da-a800-7000-8000-${String(index).padStart(12, '0')}`;
  const rowOf = (index: number) => ({ id: idOf(index), next_attempt_at: at }) as DueDelivery;
  const target = { enabled: true, tenant_status: 'active', failing_since: null } as Target;
  const steps = fc.array(fc.constantFrom('take', 'take', 'take', 'change', 'put', 'wait', 'again'), { maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 120 }), fc.integer({ min: 1, max: 40 }), steps, async (first, limit, actions) => {
      /** What waits in the table. */
      let waiting = Array.from({ length: first }, (_, index) => rowOf(index));
      let made = first;
      const taken: string[] = [];
      let fetching = Promise.resolve();
      const fetch = async (one: EndpointQueue): Promise<void> => {
        await new Promise(resolve => setImmediate(resolve));
        one.setTarget(target, performance.now(), () => ({}) as OpenTarget);
        const { wanted } = one;
        if (!wanted) return;
        const found = waiting.filter(row => wanted.after === undefined || row.id > wanted.after.id).slice(0, limit);
        await new Promise(resolve => setImmediate(resolve));
        one.add(found, found.length >= limit);
      };
      const queue = new EndpointQueue(1, 2, one => {
        fetching = fetching.then(() => fetch(one));
        return fetching;
      });
      const take = async (): Promise<boolean> => {
        const next = await queue.next();
        if (next) taken.push(next.id);
        return next !== undefined;
      };
      for (const action of actions) {
        if (action === 'take') await take();
        if (action === 'change') queue.refresh();
        if (action === 'wait') await new Promise(resolve => setImmediate(resolve));
        if (action === 'put') {
          waiting.push(rowOf(made));
          made += 1;
          queue.wake();
        }
        if (action === 'again') {
          // All that was taken is written by then, and so waits no more.
          waiting = waiting.filter(row => !taken.includes(row.id));
          await queue.restart();
        }
      }
      queue.wake();
      while (await take()) queue.wake();
      expect(taken).toEqual(Array.from({ length: made }, (_, index) => idOf(index)));
    }),
    // The example: a delivery is queued while a fetch that has read the table is on its way.
    { numRuns: 60, examples: [[5, 5, ['take', 'wait', 'put']]] },
  );
});

test('a queue knows since when its endpoint fails as of the last read, and its own change until that is written', async () => {
  let failing_for_ms: number | null = 1_000;
  const written = Promise.withResolvers<void>();
  const row = (id: string) => ({ id, next_attempt_at: '2026-01-31T07:58:39.120Z' }) as DueDelivery;
  const queue = new EndpointQueue(1, 2, async one => {
    const beganAt = performance.now();
    await new Promise(resolve => setImmediate(resolve));
    one.setTarget(
      { enabled: true, tenant_status: 'active', failing_for_ms } as Target,
      beganAt,
      () => ({}) as OpenTarget,
    );
    one.add([row('a')], true);
  });
  const next = async () => {
    queue.refresh();
    await queue.next();
    return queue.failingForMs;
  };
  expect(await next()).toBe(1_000);
  failing_for_ms = 2_000;
  expect(await next()).toBe(2_000);
  queue.noteHealth(false, written.promise);
  expect(await next()).toBeNull();
  failing_for_ms = null;
  written.resolve();
  await written.promise;
  expect(await next()).toBeNull();
  failing_for_ms = 5;
  expect(await next()).toBe(5);
});
