import { afterAll, beforeAll, expect, test } from 'vitest';
import { undoMerge } from '../../../../src/features/contacts/merging/undo.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.emulator.setFaults({ userIds: false });
});
afterAll(() => gateway.stop());

const read = async (): Promise<void> => {
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
};
async function write(tenant: TestTenant, message: { readonly from: string; readonly userId?: string }): Promise<void> {
  gateway.emulator.inbound({ text: 'Hello', ...message, phoneNumberId: tenant.phoneNumberId });
  await read();
}

const seconds = (): string => String(Math.floor(Date.now() / 1_000));

/** The network's notice that a person has another number. */
async function changeNumber(tenant: TestTenant, before: string, after: string, timestamp: string): Promise<void> {
  const notice = {
    from: before.slice(1),
    id: `wamid.change-${before}-${Date.now()}`,
    timestamp,
    type: 'system',
    system: { body: 'Changed', wa_id: after.slice(1), type: 'user_changed_number' },
  };
  await fetch(`${gateway.emulator.url}/_emulator/changes`, {
    method: 'POST',
    body: JSON.stringify({ field: 'messages', value: { messages: [notice] }, phoneNumberId: tenant.phoneNumberId }),
  });
  await read();
}

const undo = (tenant: TestTenant, formerId: number) =>
  gateway.gateway.resources.db.transaction(trx =>
    undoMerge(trx, tenant.id, formerId, { author: COMMAND_LINE, nowMs: Date.now() }),
  );

interface Known {
  readonly id: number;
  readonly phone: string | null;
  readonly wa_id: string | null;
  readonly user_id: string | null;
  /** Numbers that the network shows for it now. */
  readonly current: readonly string[];
  readonly messages: number;
}
const contactsOf = (tenant: TestTenant) =>
  gateway.database.query<Known & Record<string, unknown>>(
    `select id::int, phone, (select value from contact_identities i where i.tenant_id = c.tenant_id and i.contact_id = c.id
         and i.kind = 'wa_id' and i.ended_at is null order by i.started_at desc, i.id desc limit 1) as wa_id,
       (select value from contact_identities i where i.tenant_id = c.tenant_id and i.contact_id = c.id
         and i.kind = 'user_id' and i.ended_at is null order by i.started_at desc, i.id desc limit 1) as user_id,
       array(select value from contact_identities i where i.tenant_id = c.tenant_id and i.contact_id = c.id and i.kind = 'wa_id'
         and i.ended_at is null order by 1) as current,
       (select count(*)::int from messages m where m.tenant_id = c.tenant_id and m.contact_id = c.id and m.type = 'text') as messages
     from contacts c where tenant_id = $1 order by id`,
    [tenant.id],
  );

const [OLD, NEW] = ['+4915155500060', '+4915155500061'];

/** Two contacts that a late notice made one: the second number was first seen after its time. */
async function merged(tenant: TestTenant): Promise<Known[]> {
  await write(tenant, { from: OLD });
  const timestamp = seconds();
  await write(tenant, { from: NEW });
  const contacts = await contactsOf(tenant);
  expect(contacts).toHaveLength(2);
  await changeNumber(tenant, OLD, NEW, timestamp);
  expect(await contactsOf(tenant)).toMatchObject([{ phone: NEW }]);
  return contacts;
}

test.each([
  ['old', OLD],
  ['new', NEW],
])(
  'undoing a merge by a change of number gives each contact its own number back, if the contact with the %s number survived',
  async (_, phone) => {
    const tenant = await gateway.addTenant();
    // More is known of the contact that survives.
    await seedOf(gateway, tenant).contact({ phone, firstName: 'Ana', company: 'Silva' });
    const before = await merged(tenant);
    const survivor = before.find(contact => contact.phone === phone);
    const former = before.find(contact => contact.phone !== phone);
    expect(await contactsOf(tenant)).toMatchObject([{ id: survivor?.id }]);
    await undo(tenant, former?.id ?? 0);
    expect(await contactsOf(tenant)).toEqual(before);
    for (const from of [OLD, NEW]) await write(tenant, { from });
    expect(await contactsOf(tenant)).toEqual(before.map(contact => ({ ...contact, messages: 2 })));
  },
);

test('undoing a merge does not take a number from a contact that has got it since', async () => {
  const tenant = await gateway.addTenant();
  const [a, b] = await merged(tenant);
  await write(tenant, { from: OLD, userId: 'DE.other' });
  const other = (await contactsOf(tenant)).at(-1);
  expect(other).toMatchObject({ phone: OLD });
  await undo(tenant, b?.id ?? 0);
  expect(await contactsOf(tenant)).toMatchObject([
    { id: a?.id, phone: null, wa_id: null, current: [] },
    { id: b?.id, phone: NEW, current: [NEW.slice(1)] },
    { id: other?.id, phone: OLD, current: [OLD.slice(1)] },
  ]);
});

test('a user id seen with the numbers of two separated contacts changes neither contact’s number or messages', async () => {
  const tenant = await gateway.addTenant();
  const before = await merged(tenant);
  await undo(tenant, before[1]?.id ?? 0);
  for (const [index, from] of [OLD, NEW, OLD, NEW].entries()) {
    await write(tenant, { from, userId: 'DE.shared' });
    const contacts = await contactsOf(tenant);
    expect(contacts.map(({ phone, wa_id, current }) => [phone, wa_id, current])).toEqual([
      [OLD, OLD.slice(1), [OLD.slice(1)]],
      [NEW, NEW.slice(1), [NEW.slice(1)]],
    ]);
    expect(contacts.map(({ user_id }) => user_id)).toEqual(index % 2 === 0 ? ['DE.shared', null] : [null, 'DE.shared']);
  }
  expect((await contactsOf(tenant)).map(({ messages }) => messages)).toEqual([3, 3]);
  // The notice is said again, by which they were merged.
  await changeNumber(tenant, OLD, NEW, seconds());
  expect((await contactsOf(tenant)).map(({ phone }) => phone)).toEqual([OLD, NEW]);
});
