import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/gateway.ts';
import { freePort, type Plant, sendText, setWebhookUrl, startPlant } from './processes.ts';

const SENDS = 2_000;
const CLIENTS = 16;
const PEOPLE = 400;
/** A lane whose process died is found after its heartbeat; what it had under way waits for its status first. */
const RECOVERY_MS = 30_000;

let plant: Plant;
beforeAll(async () => {
  plant = await startPlant({ window: 'open', pairLimit: false, throughputLimit: false });
});
afterAll(() => plant.stop());

test('every message that was accepted before a kill -9 is sent by the next process, none twice, and its statuses arrive', { timeout: 60_000 }, async () => {
  const port = await freePort();
  const first = await plant.startGateway(port);
  await setWebhookUrl(plant, first.url);
  const accepted: string[] = [];
  let next = 0;
  let killed: Promise<void> | undefined;
  const client = async (): Promise<void> => {
    while (next < SENDS) {
      const index = next;
      next += 1;
      const id = await sendText(first.url, plant.token, `+1415555${String(1_000 + (index % PEOPLE))}`, `Message ${index}`);
      if (id !== undefined) accepted.push(id);
      // The dead do not answer: whoever asked for the rest comes back when somebody lives there again.
      else await (killed ??= Promise.resolve());
      if (accepted.length >= SENDS / 2) killed ??= first.kill();
      if (killed && !revived) await until(() => revived);
    }
  };
  let revived = false;
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  await until(() => killed !== undefined);
  await killed;
  const beforeDeath = accepted.length;
  const sentBeforeDeath = (await plant.sent()).total;
  const second = await plant.startGateway(port);
  expect(second.url).toBe(first.url);
  revived = true;
  await clients;

  expect(beforeDeath).toBeGreaterThanOrEqual(SENDS / 2);
  expect(accepted.length).toBeGreaterThan(SENDS - CLIENTS - 1);
  // It died with work under way, or this test proves nothing.
  expect(sentBeforeDeath).toBeLessThan(beforeDeath);
  await eventually(async () => {
    const { byCallbackData } = await plant.sent();
    expect(accepted.filter(id => byCallbackData[id] === undefined)).toEqual([]);
  }, RECOVERY_MS);
  await eventually(async () => {
    const rows = await plant.database.query<{ status: string; count: number }>('select status, count(*)::int as count from messages group by status');
    expect(rows).toEqual([{ status: 'read', count: expect.any(Number) }]);
  }, RECOVERY_MS);
  const { duplicates, byCallbackData, total } = await plant.sent();
  expect(Object.entries(byCallbackData).filter(([, count]) => count > 1)).toEqual([]);
  expect(duplicates).toBe(0);
  const [stored] = await plant.database.query<{ count: number }>('select count(*)::int as count from messages');
  expect(total).toBe(stored?.count);
  expect(await plant.database.query('select message_id from outbox')).toEqual([]);
  expect(await second.end()).toBe(0);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5));
}
