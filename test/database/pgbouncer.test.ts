import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { run } from '../cli/program.ts';
import { type Follower, follow } from '../features/events/subscriber.ts';
import { type Receiver, startReceiver } from '../features/webhooks/receiver.ts';
import { createEndpoint, LOOPBACK } from '../features/webhooks/setup.ts';
import { dataOf } from '../support/answers.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { type PgBouncer, pgbouncerPath, startPgBouncer } from '../support/pgbouncer.ts';

const PERSON = '+14155550123';
/** Few messages to each: of a person's messages that take more than 6 s to be sent, the pair limit delays the rest. */
const PEOPLE = Array.from({ length: 20 }, (_, at) => `+141555501${at + 10}`);
const TEXTS = ['First', 'Second'];
const MESSAGES = PEOPLE.length * TEXTS.length;

describe.skipIf(pgbouncerPath === undefined)('PgBouncer in transaction mode', () => {
  let pgbouncer: PgBouncer;
  let gateway: TestGateway;
  let receiver: Receiver;
  let follower: Follower;
  beforeAll(async () => {
    pgbouncer = await startPgBouncer(inject('serverUrl'));
    gateway = await startGateway({
      pgbouncer: pgbouncer.through,
      env: LOOPBACK,
      emulator: { faults: { pairLimit: false } },
    });
    receiver = await startReceiver();
    await createEndpoint(gateway, { url: `${receiver.url}/all`, events: ['message.*'] });
    follower = await follow(gateway.url, gateway.tenant.token);
  });
  afterAll(async () => {
    await follower?.stop();
    await gateway?.stop();
    await receiver?.stop();
    await pgbouncer?.stop();
  });

  const types = (): string[] => follower.events.map(({ type }) => type);

  test('an inbound message creates a contact, a message and an event for subscribers', async () => {
    gateway.emulator.inbound({ from: PERSON, text: 'Hello', phoneNumberId: gateway.tenant.phoneNumberId });
    await eventually(() => expect(types()).toEqual(expect.arrayContaining(['contact.created', 'message.received'])));
    const { contacts } = dataOf(await gateway.graphql('{ contacts { nodes { phone createdAt } } }'));
    expect(contacts.nodes).toEqual([{ phone: PERSON, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  });

  test('messages of concurrent callers are sent in order, with statuses, events and webhooks', async () => {
    const send = `mutation ($phone: String!, $text: String!) {
      sendMessage(input: { to: { phone: $phone }, content: { text: { body: $text } } }) { message { databaseId } userErrors { code message path } }
    }`;
    const count = (type: string): number => types().filter(seen => seen === type).length;
    const before = count('message.received');
    for (const from of PEOPLE)
      gateway.emulator.inbound({ from, text: 'Hi', phoneNumberId: gateway.tenant.phoneNumberId });
    await eventually(() => expect(count('message.received')).toBe(before + PEOPLE.length));
    await Promise.all(
      PEOPLE.map(async phone => {
        for (const text of TEXTS)
          expect(dataOf(await gateway.graphql(send, { phone, text })).sendMessage.userErrors).toEqual([]);
      }),
    );
    await eventually(() => expect(count('message.read')).toBe(MESSAGES));
    for (const to of PEOPLE) {
      const { messages } = gateway.emulator.sent({ to });
      expect(messages.map(({ body }) => body)).toEqual(TEXTS);
    }
    await eventually(() => {
      const delivered = receiver.at('/all').map(({ body }) => body.type);
      expect(delivered.filter(type => type === 'message.read')).toHaveLength(MESSAGES);
    });
  });

  test('concurrent reads and writes see only rows of their own tenant', async () => {
    const calls = Array.from({ length: 100 }, async (_, at) => {
      const name = `Group ${at}`;
      const created = dataOf(
        await gateway.graphql(
          'mutation ($name: String!) { createContactGroup(input: { name: $name }) { contactGroup { databaseId } } }',
          {
            name,
          },
        ),
      ).createContactGroup.contactGroup.databaseId;
      const { group } = dataOf(
        await gateway.graphql('query ($id: ID!) { group: contactGroup(id: $id) { name } }', { id: created }),
      );
      return [name, group.name];
    });
    for (const [name, seen] of await Promise.all(calls)) expect(seen).toBe(name);
  });

  test('only leases and signals use session connections', async () => {
    const rows = await gateway.database.query<{ connections: number }>(
      "select count(*)::int as connections from pg_stat_activity where datname = current_database() and application_name = 'parley'",
    );
    // Three through PgBouncer, two for leases, one for LISTEN.
    expect(rows[0]?.connections).toBeLessThanOrEqual(6);
  });
});

describe.skipIf(pgbouncerPath === undefined)('an incomplete PgBouncer configuration', () => {
  let pgbouncer: PgBouncer;
  let directory: string;
  beforeAll(async () => {
    pgbouncer = await startPgBouncer(inject('serverUrl'));
    directory = await mkdtemp(join(tmpdir(), 'parley-pgbouncer-cli-'));
  });
  afterAll(async () => {
    await pgbouncer.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('is rejected with the missing setting: PARLEY_PGBOUNCER, the direct URL, or the role settings that migrate applies', async () => {
    const database = await createTestDatabase();
    const env = {
      PORT: '0',
      PARLEY_LOG_LEVEL: 'error',
      PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATABASE_URL: pgbouncer.through(database.url),
    };
    const on = { ...env, PARLEY_PGBOUNCER: 'true', PARLEY_DIRECT_DATABASE_URL: database.url };
    try {
      const withoutSwitch = await run(directory, ['serve'], env);
      expect([withoutSwitch.code, withoutSwitch.output]).toEqual([1, expect.stringContaining('PARLEY_PGBOUNCER=true')]);
      const withoutAddress = await run(directory, ['serve'], { ...env, PARLEY_PGBOUNCER: 'true' });
      expect([withoutAddress.code, withoutAddress.output]).toEqual([
        1,
        expect.stringContaining('PARLEY_DIRECT_DATABASE_URL: is required'),
      ]);
      const withoutSettings = await run(directory, ['serve'], on);
      expect([withoutSettings.code, withoutSettings.output]).toEqual([1, expect.stringContaining('parley migrate')]);
      expect(await run(directory, ['migrate'], on)).toMatchObject({ code: 0 });
      const settings = await database.query<{ setconfig: string[] }>(
        'select s.setconfig from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = current_database()',
      );
      expect(settings[0]?.setconfig).toEqual(
        expect.arrayContaining(['TimeZone=UTC', 'jit=off', 'statement_timeout=15000']),
      );
    } finally {
      await database.drop();
    }
  });
});
