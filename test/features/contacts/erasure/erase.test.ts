import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseSharedKeys } from '../../../../src/features/tenancy/idempotency/erase.ts';
import { codeOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { findPersonalData } from '../../../support/personal-data.ts';
import { sendAs } from '../../../support/sending.ts';
import { markersOf, type PrivacyFixture, startPrivacyFixture, WILHELMINE } from './person.ts';
import { plant } from './plant.ts';

let fixture: PrivacyFixture;
let id: number;
beforeAll(async () => {
  fixture = await startPrivacyFixture();
  id = await plant(fixture, WILHELMINE);
});
afterAll(() => fixture.stop());

const scan = () => findPersonalData(fixture.gateway.database, markersOf(WILHELMINE));
const query = (text: string) =>
  fixture.gateway.database.query<Record<string, string>>(text, [fixture.gateway.tenant.id]);
const places = () =>
  query(
    `select id, xid::text, seq, type, contact_id from events where tenant_id = $1 and type !~ '^contact\\.(deleted|erased)$' order by events.xid, seq`,
  );

test('an erased person occurs in no column of any table, and retained rows keep their position', async () => {
  const before = await scan();
  // The scanner finds the person where the person is known to be, or it would prove nothing.
  for (const table of [
    'contacts',
    'messages',
    'otps',
    'idempotency_keys',
    'integration_deliveries',
    'media',
    'webhook_attempts',
    'contact_identities',
    'contact_merges',
    'contact_merge_rows',
    'consent_entries',
    'message_details',
    'message_edits',
    'message_reactions',
    'message_wamids',
    'network_changes',
    'thread_owners',
    'unrouted_changes',
  ])
    expect(
      before.some(finding => finding.table.startsWith(table)),
      table,
    ).toBe(true);
  for (const table of ['events', 'inbound_webhooks']) {
    const columns = before.filter(finding => finding.table.startsWith(table)).map(({ marker }) => marker);
    expect(columns, table).toEqual(expect.arrayContaining(['number', 'first name', 'last name', 'texts']));
  }
  const eventsBefore = await places();
  const usage = () => query('select sum(messages) as messages from monthly_usage where tenant_id = $1');
  const usageBefore = await usage();

  await fixture.ask('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', { id: String(id) });

  await fixture.settled();
  expect(await scan()).toEqual([]);
  expect(await usage()).toEqual(usageBefore);
  const after = await places();
  expect(after.slice(0, eventsBefore.length)).toEqual(eventsBefore);
});

test('messages of other people in the same webhook are kept', async () => {
  const [bystander] = await findPersonalData(fixture.gateway.database, { text: 'Bystander writes' }).then(found =>
    found.filter(({ table }) => table === 'inbound_webhooks'),
  );
  expect(bystander).toBeDefined();
});

test('pending webhook deliveries about the person are cancelled; the events of the erasure are delivered without personal data', async () => {
  const pending = await query(
    `select event_type, error from webhook_deliveries where tenant_id = $1 and contact_id = ${id} and status = 'pending' and attempts = 0
       and event_type not in ('conversation.deleted', 'contact.deleted', 'contact.erased')`,
  );
  expect(pending).toEqual([]);
  const cancelled = await query(
    `select distinct error from webhook_deliveries where tenant_id = $1 and contact_id = ${id} and erased_at is not null and error is not null`,
  );
  expect(cancelled).toEqual([{ error: 'Cancelled: the contact was erased.' }]);
  await eventually(() => {
    const types = fixture.receiver.at('/all').map(({ body }) => body.type);
    expect(types).toEqual(expect.arrayContaining(['conversation.deleted', 'contact.deleted', 'contact.erased']));
  });
  const [last] = fixture.receiver.at('/all').filter(({ body }) => body.type === 'contact.erased');
  expect(last?.body.data).toMatchObject({ contact: { id, firstname: '', phone: null }, receipt: { contact_id: id } });
});

test('the receipt lists erased and retained data, and is signed', async () => {
  const [receipt] = await query(
    'select reason, erased, retained, signature, pending, completed_at from erasure_receipts where tenant_id = $1',
  );
  expect(receipt).toMatchObject({
    reason: 'other',
    pending: null,
    completed_at: expect.any(Date),
    signature: expect.any(Buffer),
    erased: {
      contact: 1,
      conversation: 1,
      message: expect.any(Number),
      otp: 2,
      event: expect.any(Number),
      network_webhook: expect.any(Number),
      webhook_delivery: expect.any(Number),
      webhook_delivery_cancelled: expect.any(Number),
      idempotency_key: expect.any(Number),
      order_payload: 2,
      file_name: 2,
    },
    // The number, the former one, the user id.
    retained: { opt_out: 3 },
  });
});

test('idempotency keys of the person answer NOT_FOUND', async () => {
  const { phone, email, lastName, word } = WILHELMINE;
  const create = await fixture.gateway.graphql(
    'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { databaseId } userErrors { code path } } }',
    { input: { phone, idempotencyKey: `create ${phone} ${lastName}` } },
  );
  expect(codeOf(create)).toBe('NOT_FOUND');
  const send = await sendAs(
    fixture.gateway,
    'text',
    { to: phone, text: word, idempotencyKey: `text ${email}` },
    'databaseId',
  );
  expect(codeOf(send)).toBe('NOT_FOUND');
  const rest = await fixture.gateway.rest(
    'POST',
    '/messages/text',
    { phone, message: `Hello ${word}` },
    { 'idempotency-key': `rest ${phone}` },
  );
  expect(rest.status).toBe(404);
  const otp = await fixture.gateway.graphql(
    'mutation ($input: VerifyOtpInput!) { verifyOtp(input: $input) { verified userErrors { code message path } } }',
    { input: { phone, code: '271828', idempotencyKey: `verify 271828 ${phone}` } },
  );
  expect(codeOf(otp)).toBe('NOT_FOUND');
});

test('idempotency keys of requests about several people are blanked in pages, and those about others stay', async () => {
  const { resources } = fixture.gateway.gateway;
  const tenantId = fixture.gateway.tenant.id;
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names)
    await query(
      `insert into idempotency_keys (tenant_id, key, operation, fingerprint, result)
       values ($1, 'page ${name}', 'createContacts', '\\x01', '{"created":[{"id":${'be'.includes(name) ? 987_654 : 1}}]}')`,
    );
  const people = { contactIds: [987_654], otpIds: [], texts: [] };
  const counts: number[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const from = after;
    const page = await resources.db.transaction(trx => eraseSharedKeys(trx, tenantId, people, 2, from));
    counts.push(page.count);
    after = page.after;
  }
  expect(counts.reduce((sum, count) => sum + count)).toBe(2);
  expect(counts.length).toBeGreaterThanOrEqual(3);
  const left = await query(
    `select key from idempotency_keys where tenant_id = $1 and key like 'page %' and result is not null order by key`,
  );
  expect(left).toEqual([{ key: 'page a' }, { key: 'page c' }, { key: 'page d' }]);
});
