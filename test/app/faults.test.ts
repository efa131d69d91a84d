import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../src/emulator/emulator.ts';
import type { FaultsPatch } from '../../src/emulator/faults.ts';
import { createLog } from '../../src/platform/log.ts';
import { codeOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { freePort } from '../support/processes.ts';
import { newPhone } from '../support/seed.ts';

/** Timeout for responses that arrive, possibly after seconds on a busy machine. */
const ENV = { PARLEY_NETWORK_TIMEOUT_MS: '30000', PARLEY_RECONCILE_MS: '5000', PARLEY_LANES: '40' };
/** Wait for a status if there is no response: five seconds instead of thirty in production. */
const IMPATIENT = { ...ENV, PARLEY_NETWORK_TIMEOUT_MS: '3000' };
const RECONCILE_MS = Number(ENV.PARLEY_RECONCILE_MS);
/** Generous, because none of these tests is about speed. */
const PATIENCE_MS = 120_000;
const CALM = { window: 'open', pairLimit: false, throughputLimit: false } as const;
type NextFaultInput = NonNullable<FaultsPatch['next']>[number];
const SEND =
  'mutation ($to: String!, $text: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: $text } } }) { message { databaseId } userErrors { code message path } } }';
const MESSAGE =
  'query ($id: ID!) { message(id: $id) { status error { code title details } wamid sentAt deliveredAt failedAt } }';

let gateway: TestGateway;
let impatient: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: ENV, emulator: { faults: { ...CALM, regainAccessMinutes: 1 } } });
  impatient = await startGateway({ env: IMPATIENT, emulator: { faults: CALM } });
});
afterAll(async () => {
  await gateway.stop();
  await impatient.stop();
});

async function send(tenant: TestTenant, to: string, text = 'Hi', where = gateway): Promise<string> {
  const answer = await where.graphql(SEND, { to, text }, tenant.token);
  expect(answer.errors).toBeUndefined();
  return answer.data.sendMessage.message.databaseId;
}

let tenants: Promise<unknown> = Promise.resolve();
/** Tenants are created one after the other, because their numbers are sequential. */
function newTenant(where: TestGateway): Promise<TestTenant> {
  const made = tenants.then(() => where.addTenant());
  tenants = made.catch(() => undefined);
  return made;
}

/** Creates a tenant, and thereby a lane; its first send gets the fault. */
async function sendInto(
  fault: Omit<NextFaultInput, 'to'>,
  where = gateway,
): Promise<{ tenant: TestTenant; id: string; to: string }> {
  const [tenant, to] = [await newTenant(where), newPhone()];
  where.emulator.setFaults({ next: [{ ...fault, to }] });
  return { tenant, to, id: await send(tenant, to, 'Hi', where) };
}

async function message(tenant: TestTenant, id: string, where = gateway) {
  return (await where.graphql(MESSAGE, { id }, tenant.token)).data.message;
}

const looks = new WeakMap<TestGateway, Promise<Map<string, string>>>();
const LOOK_EVERY_MS = 50;
/** Polls the statuses of all messages once for all waiting tests, to save CPU time. */
function statuses(where: TestGateway): Promise<Map<string, string>> {
  const present = looks.get(where);
  if (present) return present;
  const look = where.database
    .query<{ id: string; status: string }>('select message_id as id, status from message_states')
    .then(rows => new Map(rows.map(({ id, status }) => [id, status.toUpperCase()])));
  looks.set(where, look);
  const forget = (): void => void setTimeout(() => looks.delete(where), LOOK_EVERY_MS);
  look.then(forget, forget);
  return look;
}

async function becomes(tenant: TestTenant, id: string, status: string, where = gateway) {
  await eventually(async () => expect((await statuses(where)).get(id)).toBe(status), PATIENCE_MS);
  const found = await message(tenant, id, where);
  expect(found.status).toBe(status);
  return found;
}

const timesTaken = (id: string, where = gateway): number => where.emulator.sent({ limit: 0 }).byCallbackData[id] ?? 0;

/** Waits until the outbox is empty, after which nothing is retried. */
const queueIsEmpty = (where: TestGateway, id: string): Promise<void> =>
  eventually(
    async () => expect(await where.database.query('select 1 from outbox where message_id = $1', [id])).toEqual([]),
    PATIENCE_MS,
  );

describe.concurrent('the network’s error code decides', () => {
  test.each([100, 131_008, 131_009, 131_021, 131_026, 131_030, 131_047, 131_051, 132_000, 132_001])(
    '%d fails the message with its code, title and details',
    async code => {
      const { tenant, id } = await sendInto({ errorCode: code });
      const failed = await becomes(tenant, id, 'FAILED');
      expect(failed).toMatchObject({
        error: { code, title: expect.stringMatching(/\w/), details: expect.any(String) },
        wamid: null,
        failedAt: expect.any(String),
      });
      expect(timesTaken(id)).toBe(0);
    },
  );

  test.each([1, 2, 130_429, 131_000, 131_016, 131_056, 133_004])(
    '%d is retried after a pause, and the message is sent once',
    async code => {
      const { tenant, id } = await sendInto({ errorCode: code });
      await becomes(tenant, id, 'READ');
      expect(timesTaken(id)).toBe(1);
    },
  );

  test.each([0, 10, 33, 190, 200, 368, 131_005, 131_031, 131_042, 131_048, 133_010])(
    '%d pauses the channel with an event; queued messages are sent when it is resumed',
    async code => {
      const { tenant, id } = await sendInto({ errorCode: code });
      const channel = await eventually(async () => {
        const { data } = await gateway.graphql('{ channels { nodes { id status statusReason } } }', {}, tenant.token);
        expect(data.channels.nodes).toMatchObject([
          { status: 'PAUSED', statusReason: expect.stringContaining(String(code)) },
        ]);
        return data.channels.nodes[0];
      });
      const refused = await gateway.graphql(SEND, { to: newPhone(), text: 'Hi' }, tenant.token);
      expect(codeOf(refused)).toBe('MESSAGING_NOT_CONFIGURED');
      expect(await message(tenant, id)).toMatchObject({ status: 'QUEUED', error: null });
      const resumed = await gateway.graphql(
        'mutation ($id: ID!) { resumeChannel(input: { id: $id }) { channel { status statusReason } } }',
        { id: channel.id },
        tenant.token,
      );
      expect(resumed.data.resumeChannel.channel).toEqual({ status: 'ACTIVE', statusReason: null });
      await becomes(tenant, id, 'READ');
      expect(timesTaken(id)).toBe(1);
      const events = await gateway.database.query<{ status: string }>(
        `select payload->'channel'->>'status' as status from events e where tenant_id = $1 and type = 'channel.updated' order by e.xid, e.seq`,
        [tenant.id],
      );
      expect(events.map(event => event.status)).toEqual(['active', 'paused', 'active']);
    },
  );

  test.each([4, 80_007, 133_016])('%d holds the lane for the requested time, without other attempts', async code => {
    const sentAt = Date.now();
    const { tenant, id } = await sendInto({ errorCode: code });
    const held = await eventually(async () => {
      // Later than the attempt's lease: its timeout plus five seconds.
      const rows = await gateway.database.query<{ until: Date; attempts: number }>(
        "select attempts, next_attempt_at as until from outbox where message_id = $1 and next_attempt_at > now() + interval '40 s'",
        [id],
      );
      expect(rows).toHaveLength(1);
      return rows[0];
    });
    expect(held?.attempts).toBe(1);
    // One minute from the network's response, which came between these two times.
    expect(held?.until.getTime()).toBeGreaterThanOrEqual(sentAt + 60_000);
    expect(held?.until.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
    const later = await Promise.all([send(tenant, newPhone()), send(tenant, newPhone())]);
    await new Promise(resolve => setTimeout(resolve, 2_500));
    expect(later.map(other => timesTaken(other))).toEqual([0, 0]);
  });

  test.each([300, 400, 404, 429])('HTTP %d with a page of a proxy is retried', async httpStatus => {
    const { tenant, id } = await sendInto({ httpStatus });
    await becomes(tenant, id, 'READ');
    expect(timesTaken(id)).toBe(1);
  });

  test('a refusal with a code beyond all codes is retried, and such a failure by webhook fails the message', async () => {
    const refused = await sendInto({ errorCode: 3_000_000_000 });
    await becomes(refused.tenant, refused.id, 'READ');
    expect(timesTaken(refused.id)).toBe(1);
    const failed = await sendInto({ asyncErrorCode: 3_000_000_000, when: 'after' });
    await becomes(failed.tenant, failed.id, 'FAILED');
  });

  test('a failure reported by webhook after a 200 fails the sent message with the network’s error', async () => {
    const { tenant, id } = await sendInto({ asyncErrorCode: 131_047, when: 'after' });
    const failed = await becomes(tenant, id, 'FAILED');
    expect(failed).toMatchObject({
      error: { code: 131_047, title: 'Re-engagement message', details: expect.stringContaining('more than 24 hours') },
      wamid: expect.stringMatching(/^wamid\./),
    });
  });
});

describe.concurrent('a lost response', () => {
  test.each<[string, Omit<NextFaultInput, 'to'>]>([
    ['a 502 before the network took it', { httpStatus: 502, when: 'before' }],
    ['a silence before the network took it', { timeout: true, when: 'before' }],
    ['a reset connection before the network took it', { reset: true, when: 'before' }],
    ['a 502 after the network took it', { httpStatus: 502, when: 'after' }],
    ['a 500 with a passing code after the network took it', { errorCode: 131_000, when: 'after' }],
    ['a silence after the network took it', { timeout: true, when: 'after' }],
    ['a reset connection after the network took it', { reset: true, when: 'after' }],
    ['an answer that comes too late', { latencyMs: 5_000, when: 'after' }],
  ])('%s: the message arrives, and once', async (_what, fault) => {
    const { tenant, id } = await sendInto(fault, impatient);
    await becomes(tenant, id, 'READ', impatient);
    await queueIsEmpty(impatient, id);
    expect(timesTaken(id, impatient)).toBe(1);
  });

  test('without a status the message is sent again after the reconciliation time, not before', async () => {
    const deaf = await startGateway({ env: IMPATIENT, emulator: { faults: { ...CALM, dropStatuses: 1 } } });
    deaf.emulator.setFaults({ next: [{ timeout: true, when: 'after' }] });
    const id = await send(deaf.tenant, newPhone(), 'Hi', deaf);
    await becomes(deaf.tenant, id, 'SENT', deaf);
    await queueIsEmpty(deaf, id);
    const times = deaf.emulator.sent().messages.map(({ at }) => Date.parse(at));
    expect(times).toHaveLength(2);
    const [first = 0, second = 0] = times.sort();
    expect(second - first).toBeGreaterThanOrEqual(RECONCILE_MS);
    await deaf.stop();
  });

  test('a status that arrives before the response settles the message, and the response changes nothing', async () => {
    const early = await startGateway({
      env: ENV,
      emulator: { faults: { ...CALM, statusBeforeAnswer: true, latencyMs: 150 } },
    });
    const ids = await Promise.all(Array.from({ length: 10 }, () => send(early.tenant, newPhone(), 'Hi', early)));
    for (const id of ids) await becomes(early.tenant, id, 'READ', early);
    expect(early.emulator.sent().duplicates).toBe(0);
    const rows = await early.database.query<{ types: string[] }>(
      `select array_agg(type order by e.xid, e.seq) as types from events e where type like 'message.%' group by payload->'message'->>'id'`,
    );
    const order = ['message.queued', 'message.sent', 'message.delivered', 'message.read'];
    for (const { types } of rows) {
      // A message that was read first is not reported as delivered later.
      expect(types).toEqual(order.filter(type => types.includes(type)));
      expect([types[0], types.at(-1)]).toEqual(['message.queued', 'message.read']);
    }
    await early.stop();
  });

  test('a database failure while outcomes are written causes no duplicate message, even without a status', async () => {
    const shaken = await startGateway({
      // Sends in flight in a failed lane are released when their lease expires: this plus five seconds.
      env: { ...ENV, PARLEY_NETWORK_TIMEOUT_MS: '10000' },
      emulator: { faults: { ...CALM, dropStatuses: 1, latencyMs: 20 } },
    });
    const sends = Array.from({ length: 300 }, () =>
      send(shaken.tenant, newPhone(), 'Hi', shaken).catch(() => undefined),
    );
    for (let round = 0; round < 5; round += 1) {
      await new Promise(resolve => setTimeout(resolve, 60));
      await shaken.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'parley' and pid <> pg_backend_pid()`,
      );
    }
    const ids = (await Promise.all(sends)).filter(id => id !== undefined);
    expect(ids.length).toBeGreaterThan(0);
    const unsent = () =>
      shaken.database.query("select message_id as id, status from message_states where status <> 'sent'");
    await eventually(async () => expect(await unsent()).toEqual([]), PATIENCE_MS);
    const stored = await shaken.database.query<{ id: string }>('select id from messages');
    expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    expect(shaken.emulator.sent({ limit: 0 }).duplicates).toBe(0);
    await shaken.stop();
  });
});

describe.concurrent('between acceptance and dispatch', () => {
  test('a contact that opts out gets no queued messages', async () => {
    const { tenant, id, to } = await sendInto({ timeout: true, when: 'before' }, impatient);
    const behind = await send(tenant, to, 'behind it', impatient);
    const { data } = await impatient.graphql(
      'query ($to: String!) { contacts(search: $to) { nodes { id } } }',
      { to: to.slice(-7) },
      tenant.token,
    );
    await impatient.graphql(
      'mutation ($id: ID!) { updateContact(input: { id: $id, isOptedOut: true }) { contact { id } } }',
      { id: data.contacts.nodes[0].id },
      tenant.token,
    );
    expect(await becomes(tenant, behind, 'FAILED', impatient)).toMatchObject({
      error: { title: 'Contact opted out' },
    });
    expect([timesTaken(id, impatient), timesTaken(behind, impatient)]).toEqual([0, 0]);
  });

  test('a network outage delays messages without loss, and is retried with growing pauses', async () => {
    // It is stopped and started again: meanwhile the system must not give its port to anybody else.
    const lonely = await startGateway({ env: ENV, emulator: { port: await freePort(), faults: CALM } });
    const { port } = new URL(lonely.emulator.url);
    const { numbers } = (await fetch(`${lonely.emulator.url}/_emulator/numbers`).then(answer => answer.json())) as {
      numbers: { phoneNumberId: string; wabaId: string; displayPhoneNumber: string; verifiedName: string }[];
    };
    await lonely.emulator.stop();
    const ids = await Promise.all(Array.from({ length: 20 }, () => send(lonely.tenant, newPhone(), 'Hi', lonely)));
    await new Promise(resolve => setTimeout(resolve, 1_500));
    const metrics = await fetch(`${lonely.url}/metrics`).then(answer => answer.text());
    expect(Number(/outcome="unsent"\} (\d+)/.exec(metrics)?.[1])).toBeLessThan(100);
    const back = await startEmulator({
      port: Number(port),
      appSecret: 'test-app-secret',
      verifyToken: 'test-verify-token',
      numbers: numbers.map(number => ({
        ...number,
        accessToken: `access-${Number(number.phoneNumberId) - 1_000}`,
        messagesPerSecond: 1_000,
      })),
      webhookUrl: `${lonely.url}/network/cloud-api/webhook`,
      faults: CALM,
      log: createLog('silent'),
    });
    for (const id of ids) await becomes(lonely.tenant, id, 'READ', lonely);
    expect(back.sent({ limit: 0 })).toMatchObject({ total: 20, duplicates: 0 });
    await back.stop();
    await lonely.stop();
  });
});
