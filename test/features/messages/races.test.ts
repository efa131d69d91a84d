import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
let people = 0;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', pairLimit: false } } });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.emulator.resetFaults());

const somebody = (): string => `+1415555${2_000 + ++people}`;
const SEND =
  'mutation ($input: SendTextMessageInput!) { sendTextMessage(input: $input) { databaseId contactId text } }';
const send = (input: object) => gateway.graphql(SEND, { input: { text: 'Hi', ...input } });

async function contactsOf(phone: string): Promise<number[]> {
  const rows = await gateway.database.query<{ id: number }>(
    'select id::int as id from contacts where tenant_id = $1 and phone = $2',
    [gateway.tenant.id, phone],
  );
  return rows.map(row => row.id);
}

describe('many at once', () => {
  test('fifty sends to the same new number make one contact and fifty messages, none of them twice', async () => {
    const to = somebody();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => send({ to, text: `${index}`, contact: { firstName: `Name ${index}` } })),
    );
    expect(answers.flatMap(answer => answer.errors ?? [])).toEqual([]);
    const ids = answers.map(answer => answer.data.sendTextMessage.databaseId as string);
    expect(new Set(ids).size).toBe(50);
    expect(await contactsOf(to)).toHaveLength(1);
    const stored = await gateway.database.query<{ id: string }>(
      'select id from messages where tenant_id = $1 and contact_id = $2 order by id',
      [gateway.tenant.id, answers[0]?.data.sendTextMessage.contactId],
    );
    expect(stored.map(row => row.id)).toEqual([...ids].sort());
    // 45 may go to one person at once; the rest has to wait some minutes.
    await eventually(() => expect(gateway.emulator.sent({ to, limit: 100 }).messages).toHaveLength(45));
    expect(gateway.emulator.sent({ limit: 0 }).duplicates).toBe(0);
    const created = await gateway.database.query(
      `select 1 from events where tenant_id = $1 and type = 'contact.created' and payload->'contact'->>'phone' = $2`,
      [gateway.tenant.id, to],
    );
    expect(created).toHaveLength(1);
  });

  test('what is accepted one after the other is sent one after the other', async () => {
    const to = somebody();
    const ids: string[] = [];
    for (let index = 0; index < 30; index += 1)
      ids.push((await send({ to, text: `${index}` })).data.sendTextMessage.databaseId);
    await eventually(() =>
      expect(gateway.emulator.sent({ to }).messages.map(message => message.callbackData)).toEqual(ids),
    );
  });

  test('a contact that is created, written to, deleted and writing in at the same moments gives nobody an internal error', async () => {
    const phones = Array.from({ length: 12 }, somebody);
    const create = 'mutation ($phone: String!) { createContact(input: { phone: $phone }) { id } }';
    const remove = 'mutation ($id: ID!) { deleteContact(id: $id) { id } }';
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
    expect([...codes].filter(code => !['VALIDATION_ERROR', 'NOT_FOUND'].includes(code))).toEqual([]);
    expect(gateway.logs.filter(line => JSON.stringify(line).includes('deadlock'))).toEqual([]);
    const [usage] = await gateway.database.query<{ matches: boolean }>(
      'select u.contacts = (select count(*) from contacts c where c.tenant_id = u.tenant_id) as matches from tenant_usage u where u.tenant_id = $1',
      [gateway.tenant.id],
    );
    await eventually(async () =>
      expect(await gateway.database.query('select 1 from inbound_webhooks where processed_at is null')).toHaveLength(0),
    );
    expect(usage?.matches).toBe(true);
  });
});

describe('the same request', () => {
  test('twenty at once with one key are one message, sent to the network once', async () => {
    const to = somebody();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send({ to, idempotencyKey: 'twenty' })));
    expect(answers.flatMap(answer => answer.errors ?? [])).toEqual([]);
    expect(new Set(answers.map(answer => answer.data.sendTextMessage.databaseId)).size).toBe(1);
    expect(answers.filter(answer => answer.extensions?.['idempotencyReplayed'] === true)).toHaveLength(19);
    await eventually(() => expect(gateway.emulator.sent({ to }).messages).toHaveLength(1));
    await new Promise(resolve => setTimeout(resolve, 200));
    expect(gateway.emulator.sent({ to }).messages).toHaveLength(1);
    expect(await contactsOf(to)).toHaveLength(1);
  });

  test('with another text it is refused, and after a day the key is free again', async () => {
    const to = somebody();
    const first = await send({ to, idempotencyKey: 'a day' });
    expect((await send({ to, text: 'Other', idempotencyKey: 'a day' })).errors?.[0]?.extensions.code).toBe(
      'IDEMPOTENCY_MISMATCH',
    );
    await gateway.database.query(
      `update idempotency_keys set created_at = now() - interval '25 hours' where key = 'a day'`,
    );
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send({ to, text: 'Other', idempotencyKey: 'a day' })),
    );
    expect(answers.flatMap(answer => answer.errors ?? [])).toEqual([]);
    expect(new Set([first, ...answers].map(answer => answer.data.sendTextMessage.databaseId)).size).toBe(2);
  });

  test('of another tenant is another request', async () => {
    const other = await gateway.addTenant();
    const input = { to: somebody(), text: 'Hi', idempotencyKey: 'shared' };
    const [mine, theirs] = [
      await gateway.graphql(SEND, { input }),
      await gateway.graphql(SEND, { input }, other.token),
    ];
    expect(mine.data.sendTextMessage.databaseId).not.toBe(theirs.data.sendTextMessage.databaseId);
    expect(theirs.extensions).toBeUndefined();
  });

  test('that failed has used up no key', async () => {
    const to = somebody();
    expect((await send({ to, text: ' ', idempotencyKey: 'failed first' })).errors).toBeDefined();
    expect(
      (await send({ to, requireOpenWindow: true, idempotencyKey: 'failed first' })).errors?.[0]?.extensions.code,
    ).toBe('OUTSIDE_SERVICE_WINDOW');
    expect((await send({ to, idempotencyKey: 'failed first' })).errors).toBeUndefined();
  });
});

describe('what a send costs', () => {
  // Without a worker: what its lanes do beside would be counted as well.
  let quiet: TestGateway;
  beforeAll(async () => {
    quiet = await startGateway({ role: 'gateway' });
  });
  afterAll(() => quiet.stop());

  async function roundTrips(input: object): Promise<number> {
    const ask = (some: object) => quiet.graphql(SEND, { input: { text: 'Hi', ...some } });
    await ask({ to: somebody() });
    quiet.statements.length = 0;
    expect((await ask(input)).errors).toBeUndefined();
    // The tailer of the event log and the look at the token's row run beside requests, not for one.
    return quiet.statements.filter(text => !text.includes('/* cross-tenant:')).length;
  }

  test('two round trips to a known contact, with and without a key', async () => {
    const to = somebody();
    await quiet.graphql(SEND, { input: { to, text: 'Hi' } });
    expect([await roundTrips({ to }), await roundTrips({ to, idempotencyKey: 'cost' })]).toEqual([2, 2]);
  });

  test('two to a new one, three when the call names rows that have to exist, two for a request that was answered before', async () => {
    expect([
      await roundTrips({ to: somebody() }),
      await roundTrips({ to: somebody(), contact: { firstName: 'Ana' } }),
    ]).toEqual([2, 2]);
    const { data } = await quiet.graphql('mutation { createGroup(input: { name: "Costs" }) { id } }');
    const input = { to: somebody(), idempotencyKey: 'new', contact: { groupIds: [data.createGroup.id] } };
    expect([await roundTrips(input), await roundTrips(input)]).toEqual([3, 2]);
  });
});
