import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { dataOf, faultsOf } from '../../../support/answers.ts';
import {
  eventually,
  type GraphQLAnswer,
  startGateway,
  type TestGateway,
  type TestTenant,
} from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { messageInput, sendAs } from '../../../support/sending.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { pairLimit: false } } });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.emulator.resetFaults());

const FIELDS =
  'databaseId status text wamid contact { databaseId id phone firstName source { name } status { name } groups { name } } serviceWindow { isOpen expiresAt }';
const DETAILS = `... on WindowError { windowExpiredAt } ... on ConsentError { optedOutAt category messageId }
  ... on LimitError { feature used maximum } ... on NetworkError { provider { code title details } messageId }`;
const SEND = `mutation ($input: SendMessageInput!) {
  sendMessage(input: $input) { message { ${FIELDS} } userErrors { __typename code message path ${DETAILS} } } }`;

const send = (input: object, token?: string): Promise<GraphQLAnswer> =>
  gateway.graphql(SEND, { input: messageInput('text', { text: 'Hi', ...input }) }, token);

async function sent(input: object, token?: string) {
  return dataOf(await send(input, token)).sendMessage.message;
}

async function refusal(input: object, token?: string) {
  const { data, errors } = await send(input, token);
  expect(errors).toBeUndefined();
  return data.sendMessage.userErrors[0];
}

async function count(table: string, tenant: TestTenant = gateway.tenant): Promise<number> {
  const [row] = await gateway.database.query<{ count: number }>(
    `select count(*)::int as count from ${table} where tenant_id = $1`,
    [tenant.id],
  );
  return row?.count ?? 0;
}

async function write(from: string, tenant = gateway.tenant): Promise<void> {
  const before = await count('messages', tenant);
  gateway.emulator.inbound({ from, text: 'Hello', phoneNumberId: tenant.phoneNumberId });
  await eventually(async () => expect(await count('messages', tenant)).toBe(before + 1));
}

describe('the recipient', () => {
  test('a contact is found by its number in any spelling, by a national variant, and by its global id', async () => {
    const { data } = await gateway.graphql(
      'mutation { createContact(input: { phone: "+55 11 98765-4321", firstName: "Bia" }) { contact { id databaseId } } }',
    );
    const { id, databaseId } = data.createContact.contact;
    for (const to of [
      '+5511987654321',
      '5511987654321',
      '00 55 11 98765 4321',
      '+55 (11) 98765-4321',
      '+551187654321',
      id,
    ]) {
      expect((await sent({ to })).contact.databaseId).toBe(databaseId);
    }
    expect(await count('contacts')).toBe(1);
  });

  test('an unknown number becomes a contact with the given details and the tenant’s defaults', async () => {
    const { data } = await gateway.graphql(`mutation {
      group: createContactGroup(input: { name: "VIP" }) { contactGroup { id } }
      source: createContactSource(input: { name: "Fair" }) { contactSource { id } }
      other: createContactSource(input: { name: "Default" }) { contactSource { databaseId } }
      status: createContactStatus(input: { name: "New" }) { contactStatus { databaseId } }
    }`);
    await gateway.database.query(
      'update tenants set default_source_id = $2, default_status_id = $3 where tenant_id = $1',
      [gateway.tenant.id, data.other.contactSource.databaseId, data.status.contactStatus.databaseId],
    );
    // The token remembers its tenant for some seconds: a new one knows the defaults.
    const token = await gateway.addToken(gateway.tenant, {});
    const named = await sent(
      {
        to: newPhone(),
        contact: { firstName: 'Ana', sourceId: data.source.contactSource.id, groupIds: [data.group.contactGroup.id] },
      },
      token,
    );
    expect(named.contact).toMatchObject({
      firstName: 'Ana',
      source: { name: 'Fair' },
      status: { name: 'New' },
      groups: [{ name: 'VIP' }],
    });
    const bare = await sent({ to: newPhone() }, token);
    expect(bare.contact).toMatchObject({
      firstName: null,
      source: { name: 'Default' },
      status: { name: 'New' },
      groups: [],
    });
    const events = await gateway.database.query<{ type: string }>(
      `select type from events e where payload->'contact'->>'id' = $1 or payload->'message'->>'contact_id' = $1 order by e.xid, e.seq limit 2`,
      [String(bare.contact.databaseId)],
    );
    expect(events.map(event => event.type)).toEqual(['contact.created', 'message.queued']);
  });

  test('details of an existing contact are ignored', async () => {
    const to = newPhone();
    await sent({ to, contact: { firstName: 'First' } });
    expect((await sent({ to, contact: { firstName: 'Second' } })).contact.firstName).toBe('First');
  });

  test.each([
    ['to.phone', { to: 'nobody' }, /phone number/],
    ['to.phone', { to: '' }, /phone number/],
    ['to.phone', { to: '123' }, /phone number/],
    ['content.text.body', { text: '' }, /required/],
    ['content.text.body', { text: ' \n ' }, /required/],
    ['content.text.body', { text: 'a\u0000b' }, /U\+0000/],
    ['contact.email', { contact: { email: 'no address' } }, /e-mail/],
    ['contact.groupIds', { contact: { groupIds: ['999999'] } }, /exist/],
    ['contact.sourceId', { contact: { sourceId: 'U291cmNlOjk5OTk5OQ' } }, /exist/],
    ['idempotencyKey', { idempotencyKey: 'x'.repeat(256) }, /255/],
    ['channelId', { channelId: 'nonsense' }, /id of a Channel/],
  ])('a fault of %s is one error that names it (%#), and nothing is written', async (field, input, reason) => {
    const before = await Promise.all(['contacts', 'messages'].map(table => count(table)));
    const faults = faultsOf(await send({ to: newPhone(), ...input }));
    expect(Object.keys(faults)).toEqual([field]);
    expect(faults[field]?.[0]).toMatch(reason);
    expect(await Promise.all(['contacts', 'messages'].map(table => count(table)))).toEqual(before);
  });

  test('a contact or channel of another tenant is not found, with the same error as an unknown one', async () => {
    const other = await gateway.addTenant();
    const theirs = (await sent({ to: newPhone() }, other.token)).contact.id;
    const never = encodeGlobalId('Contact', gateway.tenant.id, 987_654_321);
    const [one, two] = await Promise.all([send({ to: theirs }), send({ to: never })]);
    expect(one.data.sendMessage).toMatchObject({
      message: null,
      userErrors: [{ message: 'Contact not found.', code: 'NOT_FOUND' }],
    });
    expect(two).toEqual(one);
    const { data } = await gateway.graphql('{ channels { nodes { databaseId } } }', {}, other.token);
    expect(
      await refusal({
        to: newPhone(),
        channelId: encodeGlobalId('Channel', gateway.tenant.id, data.channels.nodes[0].databaseId),
      }),
    ).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the text', () => {
  test('merge fields are filled from the contact once', async () => {
    const { data } = await gateway.graphql(
      'mutation ($name: String) { createContact(input: { phone: "+14155559001", firstName: $name, lastName: "Silva", email: "ana@example.com", country: "BR" }) { contact { id } } }',
      { name: '@{contact_email}' },
    );
    const text =
      '@{contact_first_name} @{contact_full_name} @{contact_email} @{contact_phone} @{contact_country} @{contact_company|}.';
    expect((await sent({ to: data.createContact.contact.id, text })).text).toBe(
      '@{contact_email} @{contact_email} Silva ana@example.com +14155559001 Brazil .',
    );
    expect(
      (await sent({ to: newPhone(), text: 'Dear @{contact_first_name}', contact: { firstName: 'New' } })).text,
    ).toBe('Dear New');
  });

  test('a merge field without a value needs a fallback', async () => {
    const contact = { firstName: 'Ana' };
    expect((await sent({ to: newPhone(), text: 'Hi @{contact_last_name|there}', contact })).text).toBe('Hi there');
    expect(
      faultsOf(
        await send({ to: newPhone(), text: '@{contact_first_name} @{contact_email} of @{contact_company}', contact }),
      ),
    ).toEqual({
      'content.text.body': [
        'The contact has no contact_email, contact_company. Write a fallback: @{contact_email|fallback}.',
      ],
    });
  });

  test('unknown merge fields are rejected by name, with the list of known ones', async () => {
    expect(faultsOf(await send({ to: newPhone(), text: 'Hi @{contact_frist_name} and @{otp}' }))).toEqual({
      'content.text.body': [
        expect.stringMatching(
          /^Unknown merge field: contact_frist_name, otp\. Known merge fields: contact_first_name, .*contact_country\.$/,
        ),
      ],
    });
  });

  test('a text may have at most 4,096 characters after merging, an emoji counts as one', async () => {
    expect((await sent({ to: newPhone(), text: '🛵'.repeat(4_096) })).text).toHaveLength(8_192);
    expect(await refusal({ to: newPhone(), text: 'x'.repeat(4_097) })).toMatchObject({
      path: ['content', 'text', 'body'],
      message: expect.stringContaining('4096'),
    });
    const contact = { firstName: 'Maximilian' };
    expect(await refusal({ to: newPhone(), text: `${'x'.repeat(4_090)}@{contact_first_name}`, contact })).toMatchObject(
      { message: expect.stringContaining('after merging') },
    );
    expect(
      (await sent({ to: newPhone(), text: `${'x'.repeat(4_086)}@{contact_first_name}`, contact })).text,
    ).toHaveLength(4_096);
    expect(await refusal({ to: newPhone(), text: '@{contact_company|}' })).toMatchObject({
      message: 'Is empty after merging.',
    });
  });
});

describe('permission to send', () => {
  test('a contact who opted out gets no message', async () => {
    const { contact } = await sent({ to: newPhone() });
    await gateway.graphql(
      'mutation ($id: ID!) { updateContact(input: { id: $id, isOptedOut: true }) { contact { id } } }',
      {
        id: contact.id,
      },
    );
    const before = await count('messages');
    expect(await refusal({ to: contact.phone })).toMatchObject({
      code: 'CONTACT_OPTED_OUT',
      optedOutAt: expect.any(String),
      category: 'ALL',
    });
    expect(await refusal({ to: contact.id })).toMatchObject({ code: 'CONTACT_OPTED_OUT' });
    expect(await count('messages')).toBe(before);
  });

  test('outside the window with policy `network`: the contact is created, and the message fails with 131047', async () => {
    gateway.emulator.setFaults({ window: 'strict' });
    const message = await sent({ to: newPhone() });
    expect(message.serviceWindow).toEqual({ isOpen: false, expiresAt: null });
    await eventually(async () => {
      const { data } = await gateway.graphql(
        'query ($id: ID!) { message(id: $id) { status error { code details } } }',
        { id: message.databaseId },
      );
      expect(data.message).toMatchObject({
        status: 'FAILED',
        error: { code: 131_047, details: expect.stringContaining('24 hours') },
      });
    });
  });

  test('with windowPolicy refuse or requireOpenWindow, a send outside the window is rejected before anything is written', async () => {
    const strict = await gateway.addTenant({ windowPolicy: 'refuse' });
    const [one, two] = [newPhone(), newPhone()];
    expect(await refusal({ to: one }, strict.token)).toMatchObject({
      code: 'OUTSIDE_SERVICE_WINDOW',
      windowExpiredAt: null,
    });
    expect(await refusal({ to: two, requireOpenWindow: true })).toMatchObject({ code: 'OUTSIDE_SERVICE_WINDOW' });
    for (const table of ['contacts', 'conversations', 'messages', 'outbox', 'events']) {
      const [row] = await gateway.database.query<{ count: number }>(
        `select count(*)::int as count from ${table} where tenant_id = $1`,
        [strict.id],
      );
      expect({ table, count: row?.count }).toEqual({ table, count: table === 'events' ? 1 : 0 });
    }
    await write(one, strict);
    expect((await sent({ to: one }, strict.token)).serviceWindow).toEqual({
      isOpen: true,
      expiresAt: expect.any(String),
    });
    // The argument takes precedence over the tenant's setting.
    expect((await sent({ to: two, requireOpenWindow: false }, strict.token)).status).toBe('QUEUED');
    await gateway.database.query(
      `update conversations set window_expires_at = now() - interval '1 s' where tenant_id = $1`,
      [strict.id],
    );
    expect(await refusal({ to: one }, strict.token)).toMatchObject({
      windowExpiredAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('without a channel, or on a paused one, the send is rejected with the reason', async () => {
    const bare = await gateway.addTenant({ channel: false });
    expect(await refusal({ to: newPhone() }, bare.token)).toMatchObject({ code: 'MESSAGING_NOT_CONFIGURED' });
    const paused = await gateway.addTenant();
    await gateway.database.query(
      `update channels set status = 'paused', status_reason = '190 Access token has expired' where tenant_id = $1`,
      [paused.id],
    );
    expect(await refusal({ to: newPhone() }, paused.token)).toMatchObject({
      message: expect.stringContaining('190 Access token has expired'),
      code: 'MESSAGING_NOT_CONFIGURED',
    });
    expect([await count('contacts', bare), await count('contacts', paused)]).toEqual([0, 0]);
  });

  test('a new contact beyond the plan’s limit is rejected with usage and limit; an existing one gets the message', async () => {
    const small = await gateway.addTenant();
    const { contact } = await sent({ to: newPhone() }, small.token);
    await gateway.database.query(
      'update tenant_usage set contacts_maximum = 1, contacts_ceiling = 1 where tenant_id = $1',
      [small.id],
    );
    expect(await refusal({ to: newPhone() }, small.token)).toMatchObject({
      code: 'FEATURE_LIMIT_EXCEEDED',
      feature: 'contacts',
      used: 1,
      maximum: 1,
    });
    expect([await count('contacts', small), await count('messages', small)]).toEqual([1, 1]);
    expect((await sent({ to: contact.phone }, small.token)).status).toBe('QUEUED');
  });
});

describe('waitForAcceptance', () => {
  test('returns when the network has accepted the message', async () => {
    const to = newPhone();
    await write(to);
    expect(await sent({ to, waitForAcceptance: true })).toMatchObject({
      status: expect.stringMatching(/SENT|DELIVERED/),
      wamid: expect.stringMatching(/^wamid\./),
      serviceWindow: { isOpen: true },
    });
  });

  test('a refusal by the network answers MESSAGE_SEND_FAILED, and the message is stored as failed', async () => {
    const to = newPhone();
    gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to }] });
    const error = await refusal({ to, waitForAcceptance: true });
    expect(error).toMatchObject({
      code: 'MESSAGE_SEND_FAILED',
      provider: { code: 131_026, title: expect.any(String), details: expect.any(String) },
    });
    const { data } = await gateway.graphql('query ($id: ID!) { message(id: $id) { status } }', {
      id: error.messageId,
    });
    expect(data.message.status).toBe('FAILED');
  });

  test('returns the queued message if the network takes longer than the configured time', async () => {
    const impatient = await startGateway({ env: { PARLEY_ACCEPTANCE_TIMEOUT_MS: '100' } });
    try {
      const to = newPhone();
      impatient.emulator.setFaults({ next: [{ timeout: true, to }] });
      const answer = await sendAs(impatient, 'text', { to, text: 'Hi', waitForAcceptance: true }, 'status wamid');
      expect(dataOf(answer).sendMessage.message).toEqual({ status: 'QUEUED', wamid: null });
    } finally {
      await impatient.stop();
    }
  });
});
