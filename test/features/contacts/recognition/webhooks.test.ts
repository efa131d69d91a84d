import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveContacts } from '../../../../src/features/contacts/resolve-contacts.ts';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  // People show the ids that a test gives them.
  gateway.emulator.setFaults({ userIds: false });
});
afterAll(() => gateway.stop());

type Inbound = Parameters<TestGateway['emulator']['inbound']>[0];
const write = (tenant: TestTenant, message: object) =>
  gateway.emulator.inbound({ text: 'Hello', ...message, phoneNumberId: tenant.phoneNumberId } as Inbound);
/** A change of another field than messages. */
const tell = async (tenant: TestTenant, field: string, value: object) => {
  const answer = await fetch(`${gateway.emulator.url}/_emulator/changes`, {
    method: 'POST',
    body: JSON.stringify({ field, value, phoneNumberId: tenant.phoneNumberId }),
  });
  expect(answer.status).toBe(200);
};
const read = async (): Promise<void> => {
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
};
const contactsOf = (tenant: TestTenant) =>
  gateway.database.query<{ id: string; phone: string | null; opted_out_at: string | null }>(
    'select id, phone, opted_out_at from contacts where tenant_id = $1 order by id',
    [tenant.id],
  );
const eventsOf = async (tenant: TestTenant, type: string) =>
  (
    await gateway.database.query<{ payload: Record<string, unknown> }>(
      'select payload from events where tenant_id = $1 and type = $2 order by xid, seq',
      [tenant.id, type],
    )
  ).map(({ payload }) => payload);
const send = (tenant: TestTenant, to: string) =>
  gateway.graphql(
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { contactId } userErrors { code message path } } }',
    { to },
    tenant.token,
  );
const seconds = (): string => String(Math.floor(Date.now() / 1_000));

test('two people who swap numbers within one batch keep their contacts, with swapped numbers', async () => {
  const tenant = await gateway.addTenant();
  const { db } = gateway.gateway.resources;
  const [channel] = await gateway.database.query<{ id: number }>(
    'select id::int as id from channels where tenant_id = $1',
    [tenant.id],
  );
  const [first, second] = ['4915155509001', '4915155509002'];
  const nowMs = Date.now();
  const seen = (ago: number, userId: string, waId: string | undefined) => ({
    channelId: channel?.id ?? 0,
    at: new Date(nowMs - ago),
    userId,
    waId,
  });
  const recognise = (...senders: ReturnType<typeof seen>[]) =>
    db.transaction(trx => resolveContacts(trx, tenant.id, senders, nowMs));
  const before = await recognise(seen(9_000, 'DE.swap1', first), seen(9_000, 'DE.swap2', second));
  const after = await recognise(seen(5_000, 'DE.swap1', second), seen(5_000, 'DE.swap2', first));
  expect(after).toEqual(before);
  expect((await contactsOf(tenant)).map(({ id, phone }) => [Number(id), phone])).toEqual([
    [before[0], `+${second}`],
    [before[1], `+${first}`],
  ]);
});

describe('one contact per person', () => {
  test('a STOP sent under a user id applies to the number once a webhook contains both', async () => {
    const tenant = await gateway.addTenant();
    const {
      createContact: { contact: createContact },
    } = dataOf(
      await gateway.graphql(
        'mutation { createContact(input: { phone: "+4915155500001", firstName: "Ana" }) { contact { databaseId } } }',
        {},
        tenant.token,
      ),
    );
    write(tenant, { userId: 'DE.alfa', text: 'Stop' });
    await read();
    expect(await contactsOf(tenant)).toHaveLength(2);
    write(tenant, { from: '+4915155500001', userId: 'DE.alfa' });
    await read();
    const contacts = await contactsOf(tenant);
    expect(contacts).toMatchObject([{ id: String(createContact.databaseId), phone: '+4915155500001' }]);
    expect(contacts[0]?.opted_out_at).not.toBeNull();
    expect(codeOf(await send(tenant, '+4915155500001'))).toBe('CONTACT_OPTED_OUT');
    expect(await eventsOf(tenant, 'contact.merged')).toHaveLength(1);
  });

  test('whose conversation was counted under both identities is counted once, whatever the message of the merge', async () => {
    const tenant = await gateway.addTenant();
    const conversations = async () =>
      await gateway.database.query('select conversations::int as count from monthly_usage where tenant_id = $1', [
        tenant.id,
      ]);
    write(tenant, { userId: 'DE.counted' });
    write(tenant, { from: '+4915155500031' });
    await read();
    expect(await conversations()).toEqual([{ count: 2 }]);
    write(tenant, { from: '+4915155500031', userId: 'DE.counted' });
    await read();
    expect(await contactsOf(tenant)).toHaveLength(1);
    expect(await conversations()).toEqual([{ count: 1 }]);
  });

  test('user ids with equal digits but different letters are two people', async () => {
    const tenant = await gateway.addTenant();
    write(tenant, { userId: 'US.1234' });
    write(tenant, { userId: 'DE.1234' });
    write(tenant, { userId: 'DE.alfa' });
    await read();
    expect(await contactsOf(tenant)).toHaveLength(3);
  });

  test('a change of number moves the contact, whether the notice or the message arrives first', async () => {
    for (const isNoticeFirst of [true, false]) {
      const tenant = await gateway.addTenant();
      const [before, after] = ['+4915155500011', '+4915155500012'];
      write(tenant, { from: before, userId: 'DE.1', text: 'Stop' });
      await read();
      // The notice has the time of the change, however late it comes.
      const timestamp = seconds();
      const notice = () =>
        tell(tenant, 'messages', {
          messages: [
            {
              from: before.slice(1),
              id: `wamid.notice-${isNoticeFirst}`,
              timestamp,
              type: 'system',
              system: { body: 'Changed', wa_id: after.slice(1), type: 'user_changed_number' },
            },
          ],
        });
      if (isNoticeFirst) await notice();
      if (isNoticeFirst) await read();
      write(tenant, { from: after, userId: 'DE.2' });
      await read();
      if (!isNoticeFirst) await notice();
      await read();
      expect(await contactsOf(tenant)).toMatchObject([{ phone: after }]);
      expect(codeOf(await send(tenant, after))).toBe('CONTACT_OPTED_OUT');
    }
  });

  test('a number seen with another user id belongs to another person, who gets no opt-out, window or history', async () => {
    const tenant = await gateway.addTenant();
    const phone = '+4915155500021';
    write(tenant, { from: phone, userId: 'DE.1', text: 'Stop' });
    await read();
    write(tenant, { from: phone, userId: 'DE.2' });
    await read();
    const [first, second] = await contactsOf(tenant);
    expect([first?.phone, second?.phone]).toEqual([null, phone]);
    expect([first?.opted_out_at === null, second?.opted_out_at]).toEqual([false, null]);
    expect(dataOf(await send(tenant, phone)).sendMessage.message.contactId).toBe(String(second?.id));
    expect(await eventsOf(tenant, 'contact.identity_changed')).toMatchObject([{ reasons: ['number_reassigned'] }]);
    // The notice comes late: they were one person after all.
    await tell(tenant, 'user_id_update', {
      user_id_update: [{ user_id: { previous: 'DE.1', current: 'DE.2' }, timestamp: seconds() }],
    });
    await read();
    expect(await contactsOf(tenant)).toHaveLength(1);
    expect(codeOf(await send(tenant, phone))).toBe('CONTACT_OPTED_OUT');
  });
});

describe('consent', () => {
  test('a preference opts out of marketing, and in again', async () => {
    const tenant = await gateway.addTenant();
    write(tenant, { from: '+4915155500031', userId: 'DE.1' });
    await read();
    for (const value of ['stop', 'resume']) {
      const preference = { user_id: 'DE.1', category: 'marketing_messages', detail: 'User asked', value };
      await tell(tenant, 'user_preferences', { user_preferences: [{ ...preference, timestamp: Number(seconds()) }] });
      await read();
    }
    expect(await eventsOf(tenant, 'consent.changed')).toMatchObject([
      { consent: { category: 'marketing', state: 'opted_out', source: 'network' }, opted_out: ['marketing'] },
      { consent: { category: 'marketing', state: 'opted_in' }, opted_out: [] },
    ]);
    expect(await contactsOf(tenant)).toMatchObject([{ opted_out_at: null }]);
  });
});

describe('the name of a profile', () => {
  const nameOf = async (tenant: TestTenant, phone: string) =>
    (
      await gateway.database.query<{ id: number; firstname: string; lastname: string }>(
        'select id::int as id, firstname, lastname from contacts where tenant_id = $1 and phone = $2',
        [tenant.id, phone],
      )
    )[0];
  const create = async (tenant: TestTenant, input: object) =>
    payloadOf(await gateway.mutate('createContact', input, 'contact { databaseId }', tenant.token));

  test('names a contact that was known by its number alone, once, with an event', async () => {
    const tenant = await gateway.addTenant();
    const phone = '+4915155500801';
    await create(tenant, { phone });
    write(tenant, { from: phone });
    await read();
    expect(await nameOf(tenant, phone)).toMatchObject({ firstname: '', lastname: '' });
    write(tenant, { from: phone, profileName: 'Ana Maria Silva' });
    await read();
    expect(await nameOf(tenant, phone)).toMatchObject({ firstname: 'Ana', lastname: 'Maria Silva' });
    write(tenant, { from: phone, profileName: 'Somebody else' });
    await read();
    expect(await nameOf(tenant, phone)).toMatchObject({ firstname: 'Ana', lastname: 'Maria Silva' });
    expect(await eventsOf(tenant, 'contact.updated')).toMatchObject([
      { contact: { firstname: 'Ana', lastname: 'Maria Silva' }, previous: { firstname: '', lastname: '' } },
    ]);
  });

  test.each([
    ['first', { firstName: 'Bea' }, { firstname: 'Bea', lastname: '' }],
    ['last', { lastName: 'Braun' }, { firstname: '', lastname: 'Braun' }],
  ])('leaves a %s name that somebody has set', async (_which, given, expected) => {
    const tenant = await gateway.addTenant();
    const phone = '+4915155500802';
    await create(tenant, { phone, ...given });
    write(tenant, { from: phone, profileName: 'Somebody else' });
    await read();
    expect(await nameOf(tenant, phone)).toMatchObject(expected);
    expect(await eventsOf(tenant, 'contact.updated')).toEqual([]);
  });
});

test('a user id that the network has replaced finds no contact, neither for a read nor for a send', async () => {
  const tenant = await gateway.addTenant();
  write(tenant, { userId: 'DE.71' });
  await read();
  const [contact] = await contactsOf(tenant);
  await tell(tenant, 'user_id_update', {
    user_id_update: [{ user_id: { previous: 'DE.71', current: 'DE.72' }, timestamp: seconds() }],
  });
  await read();
  const found = async (userId: string) =>
    dataOf(
      await gateway.graphql(
        'query ($userId: String!) { contactByIdentifier(identifier: { userId: $userId }) { databaseId } }',
        { userId },
        tenant.token,
      ),
    ).contactByIdentifier;
  const sent = (userId: string) =>
    gateway.graphql(
      'mutation ($to: String!) { sendMessage(input: { to: { userId: $to }, content: { text: { body: "Hi" } } }) { message { contactId } userErrors { code message path } } }',
      { to: userId },
      tenant.token,
    );
  expect(await found('DE.72')).toEqual({ databaseId: String(contact?.id) });
  expect(payloadOf(await sent('DE.72')).message).toEqual({ contactId: String(contact?.id) });
  expect(codeOf(await sent('DE.71'))).toBe('VALIDATION_ERROR');
  expect(await found('DE.71')).toBeNull();
});
