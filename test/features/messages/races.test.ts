import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { sendAs } from '../../support/sending.ts';
import { createSlowClock } from '../../support/slow-clock.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // 45 messages go to one person if they go within six seconds.
  gateway = await startGateway({
    clock: createSlowClock(),
    emulator: { faults: { window: 'open', pairLimit: false } },
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.emulator.resetFaults());

const send = (input: object, to: TestGateway = gateway, token?: string) =>
  sendAs(to, 'text', { text: 'Hi', ...input }, 'databaseId contactId text', token);

async function contactsOf(phone: string): Promise<number[]> {
  const rows = await gateway.database.query<{ id: number }>(
    'select id::int as id from contacts where tenant_id = $1 and phone = $2',
    [gateway.tenant.id, phone],
  );
  return rows.map(row => row.id);
}

describe('concurrent sends', () => {
  test('fifty sends to the same new number create one contact and fifty distinct messages', async () => {
    const to = newPhone();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => send({ to, text: `${index}`, contact: { firstName: `Name ${index}` } })),
    );
    for (const answer of answers) dataOf(answer);
    const ids = answers.map(answer => answer.data.sendMessage.message.databaseId as string);
    expect(new Set(ids).size).toBe(50);
    expect(await contactsOf(to)).toHaveLength(1);
    const stored = await gateway.database.query<{ id: string }>(
      'select id from messages where tenant_id = $1 and contact_id = $2 order by id',
      [gateway.tenant.id, answers[0]?.data.sendMessage.message.contactId],
    );
    expect(stored.map(row => row.id)).toEqual([...ids].sort());
    // Up to 45 may go to one person within 6 s: fewer if the machine is busy. The rest has to wait some minutes.
    await eventually(async () => {
      const { messages } = gateway.emulator.sent({ to, limit: 100 });
      const waiting = await gateway.database.query<{ hold_reason: string | null }>(
        'select hold_reason from outbox where tenant_id = $1 and contact_id = $2 order by position',
        [gateway.tenant.id, answers[0]?.data.sendMessage.message.contactId],
      );
      expect(waiting.map(row => row.hold_reason)).toEqual(
        expect.arrayContaining([expect.stringContaining('Pair limit')]),
      );
      expect(messages.length + waiting.length).toBe(50);
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.length).toBeLessThanOrEqual(45);
    });
    expect(gateway.emulator.sent({ limit: 0 }).duplicates).toBe(0);
    const created = await gateway.database.query(
      `select 1 from events where tenant_id = $1 and type = 'contact.created' and payload->'contact'->>'phone' = $2`,
      [gateway.tenant.id, to],
    );
    expect(created).toHaveLength(1);
  });

  test('forty sends to a locked contact leave connections for others, and are accepted after the lock', async () => {
    const to = newPhone();
    dataOf(await send({ to }));
    const [contactId] = await contactsOf(to);
    const locker = new pg.Client(gateway.database.url);
    await locker.connect();
    try {
      await locker.query('begin');
      await locker.query('select from contacts where id = $1 for update', [contactId]);
      const sends = Promise.all(Array.from({ length: 40 }, () => send({ to })));
      const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like '%with i as materialized%'`;
      await eventually(async () => expect(await gateway.database.query(waits)).not.toEqual([]));
      const other = await gateway.graphql(
        'mutation { createContactGroup(input: { name: "Beside" }) { contactGroup { databaseId } } }',
      );
      expect(other.errors).toBeUndefined();
      expect((await gateway.database.query(waits)).length).toBeLessThanOrEqual(2);
      await locker.query('rollback');
      for (const answer of await sends) dataOf(answer);
    } finally {
      await locker.end();
    }
  });

  test('messages are sent in the order of acceptance', async () => {
    // Few to each: of messages to one person that take more than 6 s, the pair limit delays the rest for minutes.
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        const to = newPhone();
        const ids: string[] = [];
        for (let index = 0; index < 10; index += 1)
          ids.push((await send({ to, text: `${index}` })).data.sendMessage.message.databaseId);
        await eventually(() =>
          expect(gateway.emulator.sent({ to }).messages.map(message => message.callbackData)).toEqual(ids),
        );
      }),
    );
  });

  test('concurrent creation, sends, deletion and inbound messages of a contact cause no internal error', async () => {
    const phones = Array.from({ length: 12 }, newPhone);
    const create = 'mutation ($phone: String!) { createContact(input: { phone: $phone }) { contact { id } } }';
    const remove = 'mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }';
    const codes = new Set<string>();
    const note = (answer: { errors?: readonly { extensions: { code: string } }[] }): void => {
      for (const error of answer.errors ?? []) codes.add(error.extensions.code);
    };
    for (const phone of phones) {
      await Promise.all([
        ...Array.from({ length: 4 }, () => gateway.graphql(create, { phone }).then(note)),
        ...Array.from({ length: 4 }, () => send({ to: phone }).then(note)),
        ...Array.from({ length: 3 }, async () => {
          gateway.emulator.inbound({ from: phone, text: 'Hello', phoneNumberId: gateway.tenant.phoneNumberId });
        }),
        ...Array.from({ length: 3 }, async () => {
          const [id] = await contactsOf(phone);
          if (id !== undefined) note(await gateway.graphql(remove, { id: String(id) }));
        }),
      ]);
    }
    const unexpected = [...codes].filter(code => !['VALIDATION_ERROR', 'NOT_FOUND'].includes(code));
    expect(unexpected, JSON.stringify(gateway.logs.slice(-5))).toEqual([]);
    expect(gateway.logs.filter(line => JSON.stringify(line).includes('deadlock'))).toEqual([]);
    const [usage] = await gateway.database.query<{ matches: boolean }>(
      'select u.contacts = (select count(*) from contacts c where c.tenant_id = u.tenant_id) as matches from tenant_usage u where u.tenant_id = $1',
      [gateway.tenant.id],
    );
    await eventually(async () =>
      expect(await gateway.database.query('select 1 from waiting_webhooks')).toHaveLength(0),
    );
    expect(usage?.matches).toBe(true);
  });
});

describe('the same request', () => {
  test('twenty concurrent requests with one key are one message, sent once', async () => {
    const to = newPhone();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send({ to, idempotencyKey: 'twenty' })));
    for (const answer of answers) dataOf(answer);
    expect(new Set(answers.map(answer => answer.data.sendMessage.message.databaseId)).size).toBe(1);
    expect(answers.filter(answer => answer.extensions?.['idempotencyReplayed'] === true)).toHaveLength(19);
    await eventually(() => expect(gateway.emulator.sent({ to }).messages).toHaveLength(1));
    await new Promise(resolve => setTimeout(resolve, 200));
    expect(gateway.emulator.sent({ to }).messages).toHaveLength(1);
    expect(await contactsOf(to)).toHaveLength(1);
  });

  test('with another text is rejected, and after a day the key can be used again', async () => {
    const to = newPhone();
    const first = await send({ to, idempotencyKey: 'a day' });
    expect(codeOf(await send({ to, text: 'Other', idempotencyKey: 'a day' }))).toBe('IDEMPOTENCY_MISMATCH');
    await gateway.database.query(
      `update idempotency_keys set created_at = now() - interval '25 hours' where key = encode(sha256('a day'), 'hex')`,
    );
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send({ to, text: 'Other', idempotencyKey: 'a day' })),
    );
    for (const answer of answers) dataOf(answer);
    expect(new Set([first, ...answers].map(answer => answer.data.sendMessage.message.databaseId)).size).toBe(2);
  });

  test('of another tenant is a separate request', async () => {
    const other = await gateway.addTenant();
    const input = { to: newPhone(), text: 'Hi', idempotencyKey: 'shared' };
    const [mine, theirs] = [await send(input), await send(input, gateway, other.token)];
    expect(mine.data.sendMessage.message.databaseId).not.toBe(theirs.data.sendMessage.message.databaseId);
    expect(theirs.extensions).toBeUndefined();
  });

  test('that failed does not use up its key', async () => {
    const to = newPhone();
    expect(codeOf(await send({ to, text: ' ', idempotencyKey: 'failed first' }))).toBe('VALIDATION_ERROR');
    expect(codeOf(await send({ to, requireOpenWindow: true, idempotencyKey: 'failed first' }))).toBe(
      'OUTSIDE_SERVICE_WINDOW',
    );
    expect(codeOf(await send({ to, idempotencyKey: 'failed first' }))).toBeUndefined();
  });
});

describe('database round trips of a send', () => {
  // Without a worker, whose statements would be counted too.
  let quiet: TestGateway;
  beforeAll(async () => {
    quiet = await startGateway({ role: 'gateway' });
  });
  afterAll(() => quiet.stop());

  async function roundTrips(input: object): Promise<number> {
    const ask = (some: object) => send(some, quiet);
    await ask({ to: newPhone() });
    quiet.statements.length = 0;
    dataOf(await ask(input));
    // The event log tailer and token checks run independently of requests.
    return quiet.statements.filter(text => !text.includes('/* cross-tenant:')).length;
  }

  test('two for an existing contact, with and without a key', async () => {
    const to = newPhone();
    await send({ to }, quiet);
    expect([await roundTrips({ to }), await roundTrips({ to, idempotencyKey: 'cost' })]).toEqual([2, 2]);
  });

  test('two for a new contact, three with references to check, two for a repeated request', async () => {
    expect([
      await roundTrips({ to: newPhone() }),
      await roundTrips({ to: newPhone(), contact: { firstName: 'Ana' } }),
    ]).toEqual([2, 2]);
    const { data } = await quiet.graphql(
      'mutation { createContactGroup(input: { name: "Costs" }) { contactGroup { id } } }',
    );
    const input = {
      to: newPhone(),
      idempotencyKey: 'new',
      contact: { groupIds: [data.createContactGroup.contactGroup.id] },
    };
    expect([await roundTrips(input), await roundTrips(input)]).toEqual([3, 2]);
  });
});
