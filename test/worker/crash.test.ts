import { expect, test } from 'vitest';
import { eventually } from '../support/gateway.ts';
import { freePort, sendText, setWebhookUrl, startPlant } from './processes.ts';

/** Slow enough that some sends are always under way. */
const CALM = { window: 'open', pairLimit: false, throughputLimit: false, latencyMs: 40 } as const;
const SENDS = 2_000;
const CLIENTS = 16;
const PEOPLE = 400;
/** A lane whose process died is found after its heartbeat; what it had under way waits for its status first. */
/** Of TIMES in processes.ts: a request's time-out and the margin for writing its outcome. */
const LEASE_MS = 7_000;
const RECOVERY_MS = 30_000;

test.concurrent('every message that was accepted before a kill -9 is sent by the next process, none twice, and its statuses arrive', { timeout: 60_000 }, async ({ onTestFinished }) => {
  const plant = await startPlant(CALM);
  onTestFinished(() => plant.stop());
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
  // Long enough for every lease to run out: what was under way must still not be tried before the network could tell of it.
  await new Promise(resolve => setTimeout(resolve, LEASE_MS));
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
    expect(accepted.filter(id => byCallbackData[id] === undefined)).toHaveLength(0);
  }, RECOVERY_MS).catch(async error => {
    console.log('BEFORE', beforeDeath, 'sentBefore', sentBeforeDeath, 'accepted', accepted.length);
    console.log(await plant.database.query('select count(*), count(dispatched_at) as doubt, min(attempts), max(attempts), min(next_attempt_at), max(next_attempt_at), now() from outbox'));
    console.log(await plant.database.query('select name, state, singleton_key, created_on, started_on, heartbeat_on, heartbeat_seconds, retry_count, output, now() from pgboss.job order by created_on'));
    console.log(await plant.database.query('select processed_at is null as open, count(*), max(attempts), max(error), max(received_at) from inbound_webhooks group by 1'));
    throw error;
  });
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

test.concurrent('of two processes one drains a lane; when it is killed the other takes over within 30 seconds, and nobody gets a message twice', { timeout: 60_000 }, async ({ onTestFinished }) => {
  const plant = await startPlant(CALM);
  onTestFinished(() => plant.stop());
  const { token } = plant;
  const first = await plant.startGateway(await freePort());
  await setWebhookUrl(plant, first.url);
  await sendText(first.url, token, '+14155551000', 'The lane is with the first.');
  await eventually(async () => expect((await plant.sent()).total).toBe(1));
  const second = await plant.startGateway(await freePort());
  await setWebhookUrl(plant, second.url);
  const ids: string[] = [];
  const send = async (index: number): Promise<void> => {
    const id = await sendText(second.url, token, `+1415555${1_100 + (index % 50)}`, `Message ${index}`);
    if (id !== undefined) ids.push(id);
  };
  for (let index = 0; index < 100; index += 1) await send(index);
  const inFlight = Promise.all(Array.from({ length: 200 }, (_, index) => send(100 + index)));
  await first.kill();
  const killedAt = Date.now();
  await inFlight;
  expect(ids).toHaveLength(300);
  await eventually(async () => {
    const { byCallbackData } = await plant.sent();
    expect(ids.filter(id => byCallbackData[id] === undefined)).toEqual([]);
  }, 30_000);
  expect(Date.now() - killedAt).toBeLessThan(30_000);
  expect((await plant.sent()).duplicates).toBe(0);
  await eventually(async () => expect(await plant.database.query(`select 1 from messages where status <> 'read'`)).toHaveLength(0), 30_000);
  // Each person has got theirs in the order in which they were accepted.
  const answer = await fetch(`${plant.emulatorUrl}/_emulator/sent?limit=1000`);
  const { messages } = (await answer.json()) as { messages: { to: string; callbackData: string }[] };
  const byPerson = Map.groupBy(messages, message => message.to);
  for (const list of byPerson.values()) {
    const order = list.map(message => message.callbackData);
    expect(order).toEqual([...order].sort());
  }
  expect(await second.end()).toBe(0);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5));
}
