import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { storeRecipientIdentities } from '../../../../src/features/contacts/resolve-contacts.ts';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import { hasNewIdentity, type RecipientIdentities } from '../../../../src/features/messages/statuses/new-identity.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open' } } });
});
afterAll(() => gateway.stop());

const send = async (to: string) =>
  dataOf(
    await gateway.graphql(
      'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId contactId } userErrors { code message path } } }',
      { to },
    ),
  ).sendMessage.message as { databaseId: string; contactId: number };
const statusOf = async (id: string) =>
  (await gateway.graphql('query ($id: ID!) { message(id: $id) { status } }', { id })).data.message.status;
const identitiesOf = (contactId: string) =>
  gateway.database.query<{ kind: string; value: string; wa_id: string | null }>(
    `select kind, value, wa_id from contact_identities where tenant_id = $1 and contact_id = $2 and kind <> 'phone' order by kind, value`,
    [gateway.tenant.id, contactId],
  );
const idOf = String;

test('a user id in a status is stored: a later message with only this user id belongs to the same contact', async () => {
  const { databaseId, contactId } = await send('+4915155580001');
  await eventually(async () => expect(await statusOf(databaseId)).toBe('READ'));
  const [userId, ...others] = await eventually(async () => {
    const rows = (await identitiesOf(idOf(contactId))).filter(row => row.kind === 'user_id');
    expect(rows).toMatchObject([{ wa_id: '4915155580001' }]);
    return rows;
  });
  expect(others).toEqual([]);
  const wamid = gateway.emulator.inbound({ userId: userId?.value, text: 'Me again' } as never);
  await eventually(async () =>
    expect(
      await gateway.database.query(
        'select m.contact_id::text as contact_id from message_wamids w join messages m on m.id = w.message_id where w.wamid = $1',
        [wamid],
      ),
    ).toEqual([{ contact_id: idOf(contactId) }]),
  );
});

test('the wa_id in the response to a send is stored (Brazil, without the ninth digit)', async () => {
  gateway.emulator.setFaults({ userIds: false, dropStatuses: 1 });
  const { contactId } = await send('+5551991234567');
  await eventually(async () =>
    expect(await identitiesOf(idOf(contactId))).toEqual([{ kind: 'wa_id', value: '555191234567', wa_id: null }]),
  );
  gateway.emulator.setFaults({ userIds: true, dropStatuses: 0 });
});

test('a status with known identities needs no more statements than one without identities', async () => {
  const { databaseId, contactId } = await send('+4915155580002');
  const identity = await eventually(async () => {
    expect(await statusOf(databaseId)).toBe('READ');
    const [row] = (await identitiesOf(idOf(contactId))).filter(({ kind }) => kind === 'user_id');
    expect(row).toBeDefined();
    return row;
  });
  const { db } = gateway.gateway.resources;
  const person = { waId: '4915155580002', userId: identity?.value, parentUserId: undefined };
  const apply = async (named: object) => {
    let begin = 0;
    const status = { messageId: databaseId, status: 'read' as const, at: new Date().toISOString() };
    const applied = await db.transaction(trx => {
      begin = gateway.statements.length;
      return applyStatuses(trx, gateway.tenant.id, [{ ...status, ...named }], Date.now());
    });
    const statements = gateway.statements
      .slice(begin)
      .filter(text => text.includes('lock_outbound') || text.includes('contact_identities'));
    return { newIdentities: applied.newIdentities, count: statements.length };
  };
  expect(await apply({})).toEqual({ newIdentities: [], count: 1 });
  expect(await apply({ person })).toEqual({ newIdentities: [], count: 1 });
  expect((await apply({ person: { ...person, userId: 'DE.another' } })).newIdentities).toHaveLength(1);
});

test('a status has a new identity if it contains both a known and an unknown identity of the contact', () => {
  const known: RecipientIdentities = {
    phone: '+5551991234567',
    portfolio: '7',
    identities: [
      ['user_id', '7', 'BR.1', '555191234567'],
      ['wa_id', '', '555191234567', null],
    ],
  };
  const fresh = { ...known, identities: null };
  const person = (waId?: string, userId?: string, parentUserId?: string) => ({ waId, userId, parentUserId });
  expect(hasNewIdentity(known, person('555191234567', 'BR.1'))).toBe(false);
  expect(hasNewIdentity(known, person(undefined, 'BR.1'))).toBe(false);
  expect(hasNewIdentity(fresh, person('5551991234567'))).toBe(false);
  expect(hasNewIdentity(fresh, person('555191234567'))).toBe(true);
  expect(hasNewIdentity(known, person('555191234567', 'BR.2'))).toBe(true);
  expect(hasNewIdentity(known, person('555191234567', 'BR.1', 'BR.ENT.1'))).toBe(true);
  // Of another portfolio, a user id is another one.
  expect(hasNewIdentity({ ...known, portfolio: '8' }, person('555191234567', 'BR.1'))).toBe(true);
  // Nothing of this contact.
  expect(hasNewIdentity(known, person('4915155580003', 'DE.1'))).toBe(false);
  expect(hasNewIdentity(fresh, person(undefined, 'BR.1'))).toBe(false);
});

test('a status of a contact erased meanwhile creates no contact', async () => {
  const { contactId } = await send('+4915155580077');
  const { channel_id: channelId } = (
    await gateway.database.query<{ channel_id: string }>(
      'select channel_id from messages where tenant_id = $1 and contact_id = $2',
      [gateway.tenant.id, contactId],
    )
  )[0] ?? { channel_id: '0' };
  dataOf(
    await gateway.graphql('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', {
      id: String(contactId),
    }),
  );
  const seen = { channelId: Number(channelId), at: new Date(), userId: 'DE.77', waId: '4915155580077' };
  await storeRecipientIdentities(gateway.gateway.resources, gateway.tenant.id, [
    { ...seen, contactId: Number(contactId) },
  ]);
  expect(
    await gateway.database.query("select 1 from contacts where tenant_id = $1 and phone = '+4915155580077'", [
      gateway.tenant.id,
    ]),
  ).toEqual([]);
});

test('storing recipient identities waits for a concurrent identity change without holding a lock that it needs', async () => {
  // The gateway would store those of the message's own statuses, and wait for the same lock.
  gateway.emulator.setFaults({ userIds: false, dropStatuses: 1 });
  onTestFinished(() => gateway.emulator.setFaults({ userIds: true, dropStatuses: 0 }));
  const { contactId } = await send('+4915155580078');
  const [row] = await gateway.database.query<{ channel_id: string }>(
    'select channel_id from messages where tenant_id = $1 and contact_id = $2',
    [gateway.tenant.id, contactId],
  );
  const { resources } = gateway.gateway;
  const seen = { channelId: Number(row?.channel_id), at: new Date(), userId: 'DE.78', waId: '4915155580078' };
  const learning = await resources.db.transaction(async trx => {
    // As a merge does: first the counter, then the contacts.
    await sql`select from tenant_usage where tenant_id = ${gateway.tenant.id} for update`.execute(trx);
    const pending = storeRecipientIdentities(resources, gateway.tenant.id, [{ ...seen, contactId: Number(contactId) }]);
    await eventually(async () =>
      expect(
        await gateway.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%tenant_usage%'`,
        ),
      ).toHaveLength(1),
    );
    await sql`select from contacts where tenant_id = ${gateway.tenant.id} and id = ${contactId} for update nowait`.execute(
      trx,
    );
    return { pending };
  });
  await learning.pending;
  expect(
    await gateway.database.query(
      'select value from contact_identities where tenant_id = $1 and contact_id = $2 and kind = $3',
      [gateway.tenant.id, contactId, 'user_id'],
    ),
  ).toContainEqual({ value: 'DE.78' });
});
