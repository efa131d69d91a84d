import type { ChildProcess } from 'node:child_process';
import { expect, test } from 'vitest';
import { eventually } from '../support/gateway.ts';
import { sendText, setWebhookUrl } from '../support/processes.ts';
import { startPlant } from './processes.ts';

/** Shortened, so that a short suspension loses the lanes. */
const TIMES = {
  PARLEY_LANE_LEASE_MS: '1000',
  PARLEY_NETWORK_TIMEOUT_MS: '2000',
  PARLEY_RECONCILE_MS: '4000',
};
const ABSENCE_MS = 4_000;
const ROUNDS = 2;
const PATIENCE_MS = 120_000;

test('a worker suspended while it holds a lane neither resends nor loses messages when it resumes', {
  timeout: 300_000,
}, async ({ onTestFinished }) => {
  const plant = await startPlant({ window: 'open', pairLimit: false, throughputLimit: false, latencyMs: 400 }, TIMES);
  onTestFinished(() => plant.stop());
  const gateway = await plant.startRole('gateway');
  await setWebhookUrl(plant.emulatorUrl, gateway.url);
  const workers = new Map<number, ChildProcess>();
  for (const { child } of [await plant.startRole('worker'), await plant.startRole('worker')])
    if (child.pid !== undefined) workers.set(child.pid, child);

  const accepted: string[] = [];
  let next = 0;
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      next += 1;
      const id = await sendText(gateway.url, plant.token, {
        to: `+1415556${1_000 + (next % 300)}`,
        text: `Message ${next}`,
      });
      if (id !== undefined) accepted.push(id);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  for (let round = 0; round < ROUNDS; round += 1) {
    // The process that holds the channel's lane now, with calls in flight.
    const holder = await eventually(async () => {
      const [row] = await plant.database.query<{ pid: number; epoch: string }>(
        `select split_part(p.name, ':', 2)::int as pid, l.epoch from lanes l join lane_processes p on p.id = l.holder
         where l.queue = 'outbox' and l.lease_until > now() and exists (select from outbox)`,
      );
      expect(workers.has(row?.pid ?? 0)).toBe(true);
      return row;
    });
    const child = workers.get(holder?.pid ?? 0);
    child?.kill('SIGSTOP');
    await new Promise(resolve => setTimeout(resolve, ABSENCE_MS));
    // Otherwise this test would prove nothing.
    await eventually(async () => {
      const [now] = await plant.database.query<{ epoch: string }>(`select epoch from lanes where queue = 'outbox'`);
      expect(now?.epoch, 'the lane is taken over').not.toBe(holder?.epoch);
    });
    child?.kill('SIGCONT');
  }
  isOver = true;
  await clients;
  await eventually(
    async () => expect(await plant.database.query('select message_id from outbox')).toEqual([]),
    PATIENCE_MS,
  );
  const { byCallbackData, duplicates } = await plant.sent();
  expect(accepted.filter(id => byCallbackData[id] === undefined)).toEqual([]);
  expect(duplicates).toBe(0);
  expect(Object.values(byCallbackData).filter(count => count > 1)).toEqual([]);
});
