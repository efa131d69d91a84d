import { expect, test } from 'vitest';
import { durationOf } from '../support/durations.ts';
import { eventually } from '../support/gateway.ts';
import { freePort, sendText, setFaults, setWebhookUrl } from '../support/processes.ts';
import { startPlant } from './processes.ts';

/** Slow enough that some sends are always in flight. */
const CALM = { window: 'open', pairLimit: false, throughputLimit: false, latencyMs: 40 } as const;
const SENDS = 1_000;
/** Accepted after the network became slow, and before the kill: more than the 320 that a lane has under way at once. */
const BACKLOG = 400;
/** Below the time-out of a request, and time enough for the clients to have the backlog accepted. */
const SLOW_MS = 3_500;
const CLIENTS = 16;
const PEOPLE = 200;
/** From TIMES in processes.ts: a request's timeout and the margin for writing its outcome. */
const LEASE_MS = 9_000;
/** The guarantee with production heartbeats and sweeps: a lane whose process died is taken over within this time. */
const TAKE_OVER_MS = 30_000;
/** Timeout for work without such a limit, on a busy machine. */
const PATIENCE_MS = 120_000;

test.concurrent('messages accepted before a kill -9 are sent exactly once by the next process, and their statuses arrive', {
  timeout: 400_000,
}, async ({ onTestFinished }) => {
  const plant = await startPlant(CALM);
  onTestFinished(() => plant.stop());
  const port = await freePort();
  const first = await plant.startGateway(port);
  await setWebhookUrl(plant.emulatorUrl, first.url);
  const accepted: string[] = [];
  const halfway = Promise.withResolvers<void>();
  const slowed = Promise.withResolvers<void>();
  const behind = Promise.withResolvers<void>();
  const revived = Promise.withResolvers<void>();
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < SENDS) {
      const index = next;
      next += 1;
      if (index >= SENDS / 2) await slowed.promise;
      const id = await sendText(first.url, plant.token, {
        to: `+1415555${1_000 + (index % PEOPLE)}`,
        text: `Message ${index}`,
      });
      if (id !== undefined) accepted.push(id);
      if (accepted.length >= SENDS / 2) halfway.resolve();
      if (accepted.length >= SENDS / 2 + BACKLOG) behind.resolve();
      // A killed process does not respond: clients retry when the next one listens.
      if (id === undefined) await revived.promise;
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  await halfway.promise;
  // The process is killed with as many sends in flight as it may have, and others queued.
  await setFaults(plant.emulatorUrl, { latencyMs: SLOW_MS });
  slowed.resolve();
  await behind.promise;
  await first.kill();
  await setFaults(plant.emulatorUrl, { latencyMs: CALM.latencyMs });
  const beforeDeath = accepted.length;
  const sentBeforeDeath = (await plant.sent()).total;
  // Long enough for every lease to expire: sends in flight must not be retried before their status could arrive.
  await new Promise(resolve => setTimeout(resolve, LEASE_MS));
  const second = await plant.startGateway(port);
  expect(second.url).toBe(first.url);
  revived.resolve();
  await clients;

  expect(beforeDeath).toBeGreaterThanOrEqual(SENDS / 2);
  expect(accepted.length).toBeGreaterThan(SENDS - CLIENTS - 1);
  // The process was killed with sends in flight and others queued; otherwise this test proves nothing.
  expect(sentBeforeDeath).toBeLessThan(beforeDeath);
  await eventually(async () => {
    const { byCallbackData } = await plant.sent();
    expect(accepted.filter(id => byCallbackData[id] === undefined)).toHaveLength(0);
  }, PATIENCE_MS);
  await eventually(async () => {
    const rows = await plant.database.query<{ status: string; count: number }>(
      'select status, count(*)::int as count from message_states group by status',
    );
    expect(rows).toEqual([{ status: 'read', count: expect.any(Number) }]);
  }, PATIENCE_MS);
  const { duplicates, byCallbackData, total } = await plant.sent();
  expect(Object.entries(byCallbackData).filter(([, count]) => count > 1)).toEqual([]);
  expect(duplicates).toBe(0);
  const [stored] = await plant.database.query<{ count: number }>('select count(*)::int as count from messages');
  expect(total).toBe(stored?.count);
  expect(await plant.database.query('select message_id from outbox')).toEqual([]);
  expect(await second.end()).toBe(0);
});

test.concurrent('when the process that drains a lane is killed, another takes over within 30 seconds, and no message is sent twice', {
  timeout: 400_000,
}, async ({ onTestFinished }) => {
  const plant = await startPlant(CALM);
  onTestFinished(() => plant.stop());
  const { token } = plant;
  const first = await plant.startGateway(await freePort());
  await setWebhookUrl(plant.emulatorUrl, first.url);
  await sendText(first.url, token, { to: '+14155551000', text: 'The lane is with the first.' });
  await eventually(async () => expect((await plant.sent()).total).toBe(1));
  // Continuous work, so that the lanes stay with the first process while the second starts.
  let others = 0;
  const busy = setInterval(
    () => void sendText(first.url, token, { to: `+1415555${2_000 + ++others}`, text: 'Still with the first.' }),
    200,
  );
  const second = await plant.startGateway(await freePort());
  clearInterval(busy);
  await setWebhookUrl(plant.emulatorUrl, second.url);
  const ids: string[] = [];
  const send = async (index: number): Promise<void> => {
    const id = await sendText(second.url, token, { to: `+1415555${1_100 + (index % 50)}`, text: `Message ${index}` });
    if (id !== undefined) ids.push(id);
  };
  for (let index = 0; index < 100; index += 1) await send(index);
  const inFlight = Promise.all(Array.from({ length: 200 }, (_, index) => send(100 + index)));
  await first.kill();
  const sentByFirst = (await plant.sent()).total;
  // From now on the network gets messages only from the second process.
  const takenOver = durationOf(() =>
    eventually(async () => expect((await plant.sent()).total).toBeGreaterThan(sentByFirst), PATIENCE_MS),
  );
  await inFlight;
  expect(ids).toHaveLength(300);
  expect(await takenOver).toBeLessThan(TAKE_OVER_MS);
  await eventually(async () => {
    const { byCallbackData } = await plant.sent();
    expect(ids.filter(id => byCallbackData[id] === undefined)).toEqual([]);
  }, PATIENCE_MS);
  expect((await plant.sent()).duplicates).toBe(0);
  await eventually(
    async () =>
      expect(
        await plant.database.query(
          `select s.*, o.attempts, o.next_attempt_at, now() from message_states s left join outbox o on o.message_id = s.message_id where status <> 'read'`,
        ),
      ).toEqual([]),
    PATIENCE_MS,
  );
  // Each person got messages in the order of acceptance according to the log; ids are generated earlier.
  const accepted = await plant.database.query<{ id: string }>(
    `select payload->'message'->>'id' as id from events where type = 'message.queued' order by xid, seq`,
  );
  const answer = await fetch(`${plant.emulatorUrl}/_emulator/sent?limit=1000`);
  const { messages } = (await answer.json()) as { messages: { to: string; callbackData: string }[] };
  for (const list of Map.groupBy(messages, message => message.to).values()) {
    const order = list.map(message => message.callbackData);
    expect(order).toEqual(accepted.map(({ id }) => id).filter(id => order.includes(id)));
  }
  expect(await second.end()).toBe(0);
});
