import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, faultsOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** Faults that different steps find (forms, lengths, closed lists, unknown ids, values that are taken) are reported by one answer. */

const TAKEN = { phone: '+4915112350001', email: 'ana@example.com' };
const OTHER = '+4915112350002';
const UNKNOWN = 987_654;
const LONG = 'x'.repeat(300);

let gateway: TestGateway;
let ids: Readonly<Record<'contact' | 'other', number>>;
beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      {
        name: 'order_shipped',
        language: 'en_US',
        category: 'UTILITY',
        components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }],
      },
      {
        name: 'login_code',
        language: 'en',
        category: 'AUTHENTICATION',
        components: [
          { type: 'BODY', text: '*{{1}}* is your verification code.' },
          { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
        ],
      },
    ],
  });
  await gateway.rest('POST', '/templates/sync');
  const contactOf = async (input: object): Promise<number> =>
    Number(payloadOf(await gateway.mutate('createContact', input, 'contact { databaseId }')).contact.databaseId);
  ids = { contact: await contactOf(TAKEN), other: await contactOf({ phone: OTHER }) };
});
afterAll(() => gateway.stop());

const totals = async (): Promise<unknown> =>
  dataOf(
    await gateway.graphql(
      '{ contacts { totalCount nodes { firstName groups { name } } } messages { totalCount } otps { totalCount } contactGroups { totalCount } }',
    ),
  );

/** A body, and the fields that are faulty: without its channel a template is not looked up. `other` in a path is the id of a contact. */
type Case = readonly [path: string, body: () => object, fields: readonly string[]];

describe('REST', () => {
  const cases: readonly Case[] = [
    [
      'POST /contacts',
      () => ({ ...TAKEN, firstname: LONG, source_id: UNKNOWN, groups: [UNKNOWN], country_id: 999 }),
      ['country_id', 'email', 'firstname', 'groups', 'phone', 'source_id'],
    ],
    [
      'POST /contacts',
      () => ({ ...TAKEN, type: 'nonsense', status_id: UNKNOWN, assigned_id: UNKNOWN, time_zone: 'Mars/Base' }),
      ['assigned_id', 'email', 'phone', 'status_id', 'time_zone', 'type'],
    ],
    ['POST /contacts', () => ({ ...TAKEN, groups: [UNKNOWN] }), ['email', 'groups', 'phone']],
    ['POST /contacts', () => ({ type: 'nonsense', source_id: UNKNOWN }), ['phone', 'source_id', 'type']],
    [
      'PATCH /contacts/other',
      () => ({ ...TAKEN, firstname: LONG, source_id: UNKNOWN, groups: [UNKNOWN] }),
      ['email', 'firstname', 'groups', 'phone', 'source_id'],
    ],
    [
      'PATCH /contacts/other',
      () => ({ email: TAKEN.email, type: 'nonsense', assigned_id: UNKNOWN, phone: TAKEN.phone }),
      ['assigned_id', 'email', 'phone', 'type'],
    ],
    ['PATCH /contacts/other', () => ({ email: TAKEN.email, phone: TAKEN.phone }), ['email', 'phone']],
    [
      'POST /messages/text',
      () => ({ contact_id: UNKNOWN, channel_id: UNKNOWN, message: '@{nobody}', scheduled_at: '2020-01-01T00:00:00Z' }),
      ['channel_id', 'contact_id', 'message', 'scheduled_at'],
    ],
    [
      'POST /messages/text',
      () => ({ contact_id: UNKNOWN, message: 'Hello', preview_url: 'perhaps' }),
      ['contact_id', 'preview_url'],
    ],
    [
      'POST /messages/text',
      () => ({ phone: '+4915112350003', message: 'Hello', preview_url: 'perhaps', contact: { source_id: UNKNOWN } }),
      ['contact.source_id', 'preview_url'],
    ],
    [
      'POST /messages/text',
      () => ({ phone: '+4915112350003', message: 'Hello @{contact_city}', contact: { email: 'x', groups: [UNKNOWN] } }),
      ['contact.email', 'contact.groups', 'message'],
    ],
    [
      'POST /messages/text',
      () => ({ phone: TAKEN.phone, contact_id: ids.other, message: 'x'.repeat(5_000), channel_id: UNKNOWN }),
      ['channel_id', 'contact_id', 'message', 'phone'],
    ],
    [
      'POST /messages/media',
      () => ({ contact_id: UNKNOWN, media_type: 'nope', media_id: crypto.randomUUID(), caption: '@{nobody}' }),
      ['caption', 'contact_id', 'media_id', 'media_type'],
    ],
    [
      'POST /messages/media',
      () => ({
        phone: 'abc',
        media_type: 'image',
        media_url: 'ftp://x',
        caption: 'x'.repeat(5_000),
        channel_id: UNKNOWN,
      }),
      ['caption', 'channel_id', 'media_url', 'phone'],
    ],
    [
      'POST /messages/media',
      () => ({ phone: 'abc', media_type: 'nope', channel_id: UNKNOWN }),
      ['channel_id', 'media_type', 'media_url', 'phone'],
    ],
    [
      'POST /messages/interactive',
      () => ({ phone: 'abc', type: 'list', channel_id: UNKNOWN }),
      ['body_text', 'channel_id', 'list_button_text', 'phone', 'sections'],
    ],
    [
      'PATCH /webhooks/2',
      () => ({ url: 'ftp://x', events: ['foo'], is_enabled: 'maybe' }),
      ['enabled', 'events', 'url'],
    ],
    [
      'POST /messages/text',
      () => ({ phone_number: 'abc', text: 'Hi', contact: { country_id: 'XX', zip: LONG } }),
      ['contact.country', 'contact.zip', 'phone'],
    ],
    [
      'POST /messages/interactive',
      () => ({ phone: 'abc', type: 'button', body_text: '@{foo}', buttons: [5, { id: 'y', title: LONG }] }),
      ['body_text', 'buttons.0', 'buttons.1.title', 'phone'],
    ],
    [
      'POST /messages/template',
      () => ({ phone: 'abc', template_name: 'order_shipped', language: 'en_US', field_11: 'y' }),
      ['field_1', 'field_11', 'field_2', 'phone'],
    ],
    [
      'POST /messages/template',
      () => ({
        phone: 'abc',
        template_name: 'order_shipped',
        language: 'en_US',
        field_1: '@{nobody}',
        header_document_name: 'x',
      }),
      ['field_1', 'field_2', 'header_document_name', 'phone'],
    ],
    // Which of two files is meant is not known, but there is none here.
    ['POST /messages/media', () => ({ contact_id: UNKNOWN, media_type: 'image' }), ['contact_id', 'media_url']],
    [
      'POST /messages/template',
      () => ({
        contact_id: UNKNOWN,
        template_name: 'none',
        language: 'en_US',
        field_1: '@{nobody}',
        header_image_url: 'x',
      }),
      ['contact_id', 'field_1', 'header_image_url', 'template_name'],
    ],
    [
      'POST /messages/template',
      () => ({
        phone: 'abc',
        template_name: 'order_shipped',
        language: 'de',
        field_1: '@{nobody}',
        channel_id: UNKNOWN,
      }),
      ['channel_id', 'field_1', 'phone'],
    ],
    [
      'POST /messages/template',
      () => ({ phone: 'abc', template_name: 'order_shipped', language: 'en_US', field_1: 'Ana', scheduled_at: 'soon' }),
      ['field_2', 'phone', 'scheduled_at'],
    ],
    [
      'POST /messages/interactive',
      () => ({
        contact_id: UNKNOWN,
        type: 'button',
        body_text: '@{nobody}',
        header_text: LONG,
        buttons: [{ id: '', title: LONG }],
      }),
      ['body_text', 'buttons.0.id', 'buttons.0.title', 'contact_id', 'header_text'],
    ],
    [
      'POST /auth/send-otp',
      () => ({ phone: 'abc', template_name: 'none', language: 'de', code: '1', purpose: '!', channel_id: UNKNOWN }),
      ['channel_id', 'code', 'phone', 'purpose'],
    ],
    [
      'POST /auth/send-otp',
      () => ({ phone: OTHER, contact_id: UNKNOWN, template_name: 'none', expiry_minutes: 'soon' }),
      ['contact_id', 'expiry_minutes', 'phone', 'template_name'],
    ],
    [
      'POST /auth/resend',
      () => ({ phone: TAKEN.phone, contact_id: ids.other, template_name: 'login_code', language: 'xx', purpose: '!' }),
      ['contact_id', 'language', 'phone', 'purpose'],
    ],
    [
      'POST /auth/send-otp',
      () => ({ phone: 'abc', template_name: 'order_shipped', language: 'en_US' }),
      ['phone', 'template_name'],
    ],
    ['POST /auth/verify', () => ({ phone: 'abc', code: '1', purpose: '!' }), ['code', 'phone', 'purpose']],
  ];

  test.each(cases.map(([path, body, fields]) => [path, fields.join(' '), body, fields] as const))(
    '%s names %s',
    async (route, _names, body, fields) => {
      const before = await totals();
      const [method = '', path = ''] = route.split(' ');
      const response = await gateway.rest(method, path.replace('other', String(ids.other)), body());
      const { error } = (await response.json()) as { error: { code: string; details: object } };
      expect([response.status, error.code, Object.keys(error.details).sort()]).toEqual([
        422,
        'VALIDATION_ERROR',
        fields,
      ]);
      expect(JSON.stringify(error)).not.toContain('¤');
      expect(await totals()).toEqual(before);
    },
  );

  test('a row of a batch of contacts names the number and the e-mail address that are taken, and what does not exist', async () => {
    const contacts = [{ ...TAKEN, source_id: UNKNOWN, firstname: LONG, groups: [UNKNOWN] }];
    const answer = await (await gateway.rest('POST', '/contacts/batch', { contacts })).json();
    const [row] = (answer as { errors: readonly { errors: object }[] }).errors;
    expect(Object.keys(row?.errors ?? {}).sort()).toEqual(['email', 'firstname', 'groups', 'phone', 'source_id']);
  });

  test('a message of a batch names what cannot be read and what does not exist', async () => {
    const messages = [
      { contact_id: UNKNOWN, message: '@{nobody}', channel_id: UNKNOWN },
      { contact_id: UNKNOWN, message: 'Hello', preview_url: 'perhaps' },
    ];
    const answer = await (await gateway.rest('POST', '/messages/batch', { messages })).json();
    const { errors } = answer as { errors: readonly { errors: object }[] };
    expect(errors.map(one => Object.keys(one.errors).sort())).toEqual([
      ['channel_id', 'contact_id', 'message'],
      ['contact_id', 'preview_url'],
    ]);
  });

  test('an unknown contact or channel that is the only fault stays a 404', async () => {
    for (const body of [
      { contact_id: UNKNOWN, message: 'Hello' },
      { phone: OTHER, channel_id: UNKNOWN, message: 'Hello' },
    ])
      expect((await gateway.rest('POST', '/messages/text', body)).status).toBe(404);
  });
});

describe('GraphQL', () => {
  const text = { text: { body: '@{nobody}' } };
  const cases: readonly Case[] = [
    [
      'createContact',
      () => ({ ...TAKEN, firstName: LONG, sourceId: 'x', groupIds: [UNKNOWN], groupNames: [''], idempotencyKey: LONG }),
      ['email', 'firstName', 'groupIds', 'groupNames.0', 'idempotencyKey', 'phone', 'sourceId'],
    ],
    [
      'updateContact',
      () => ({ id: ids.other, ...TAKEN, country: 'XX', statusId: UNKNOWN, idempotencyKey: LONG }),
      ['country', 'email', 'idempotencyKey', 'phone', 'statusId'],
    ],
    [
      'replaceContact',
      () => ({ id: ids.other, firstName: LONG, type: 'LEAD', ...TAKEN, assigneeId: UNKNOWN }),
      ['assigneeId', 'email', 'firstName', 'phone'],
    ],
    [
      'updateContacts',
      () => ({
        ids: [],
        set: { phone: OTHER, city: LONG, sourceId: UNKNOWN, groupIds: [UNKNOWN] },
        idempotencyKey: LONG,
      }),
      ['idempotencyKey', 'ids', 'set.city', 'set.groupIds', 'set.phone', 'set.sourceId'],
    ],
    [
      'sendMessage',
      () => ({
        to: { contactId: UNKNOWN },
        content: text,
        channelId: UNKNOWN,
        echoId: LONG,
        replyToId: crypto.randomUUID(),
        expectedLastMessageId: crypto.randomUUID(),
        scheduledAt: { recipientLocalTime: 'soon' },
        idempotencyKey: LONG,
      }),
      [
        'channelId',
        'content.text.body',
        'echoId',
        'expectedLastMessageId',
        'idempotencyKey',
        'replyToId',
        'scheduledAt.recipientLocalTime',
        'to.contactId',
      ],
    ],
    [
      'sendMessage',
      () => ({ to: { conversationId: UNKNOWN }, content: text, replyToId: 'x', expectedContactId: 'x' }),
      ['content.text.body', 'expectedContactId', 'replyToId', 'to.conversationId'],
    ],
    [
      'sendMessage',
      () => ({
        to: { userId: 'DE.1' },
        content: { media: { kind: 'AUDIO', file: { mediaId: 'x' }, caption: '@{nobody}' } },
      }),
      ['content.media.caption', 'content.media.file.mediaId', 'to.userId'],
    ],
    [
      'sendOtp',
      () => ({
        phone: 'x',
        templateName: 'none',
        expiryMinutes: 0,
        purpose: '!',
        code: '1',
        contactId: 'x',
        channelId: 'x',
        idempotencyKey: LONG,
      }),
      ['channelId', 'code', 'contactId', 'expiryMinutes', 'idempotencyKey', 'phone', 'purpose', 'templateName'],
    ],
    [
      'resendOtp',
      () => ({ phone: OTHER, templateName: 'login_code', language: 'xx', expiryMinutes: 61, contactId: UNKNOWN }),
      ['contactId', 'expiryMinutes', 'language', 'phone'],
    ],
    ['verifyOtp', () => ({ phone: 'x', code: '1', idempotencyKey: LONG }), ['code', 'idempotencyKey', 'phone']],
  ];

  test.each(cases.map(([name, input, fields]) => [name, fields.join(' '), input, fields] as const))(
    '%s names %s',
    async (name, _names, input, fields) => {
      const before = await totals();
      expect(Object.keys(faultsOf(await gateway.mutate(name, input()))).sort()).toEqual(fields);
      expect(await totals()).toEqual(before);
    },
  );
});
