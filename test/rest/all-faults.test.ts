import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** What outsiders stumbled over: one request tells everything that is wrong with it, and harmless variants of requests are understood. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const json = async (response: Response): Promise<Wire> => (await response.json()) as Wire;

interface Wire {
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly data: any;
  readonly error: { readonly code: string; readonly details: Readonly<Record<string, readonly string[]>> };
  readonly errors: readonly { readonly index: number; readonly errors: Readonly<Record<string, readonly string[]>> }[];
  readonly meta: { readonly pagination: { readonly total: number } };
}

const totals = async (): Promise<unknown> =>
  dataOf(
    await gateway.graphql(
      '{ contacts { totalCount } messages { totalCount } otps { totalCount } webhookEndpoints { totalCount } bots { totalCount } contactStatuses { totalCount } }',
    ),
  );

const KEYS = { 'no key': {}, 'a long key': { 'idempotency-key': 'x'.repeat(256) } };

test.each<[string, string, keyof typeof KEYS, object, string[]]>([
  [
    'POST',
    '/contacts',
    'a long key',
    { phone: 'abc', type: 'x', email: 'x' },
    ['Idempotency-Key', 'email', 'phone', 'type'],
  ],
  ['POST', '/contacts', 'a long key', { phone: 'abc', source_id: 987_654 }, ['Idempotency-Key', 'phone', 'source_id']],
  [
    'POST',
    '/contacts?fields=nope',
    'a long key',
    { phone: 'abc', type: 'x' },
    ['Idempotency-Key', 'fields', 'phone', 'type'],
  ],
  ['POST', '/contacts?fields=nope', 'no key', { phone: 'abc', type: 'x' }, ['fields', 'phone', 'type']],
  ['POST', '/contacts?include=nope', 'no key', { phone: 'abc', source_id: 987_654 }, ['include', 'phone', 'source_id']],
  [
    'POST',
    '/messages/text',
    'a long key',
    { phone: 'abc', message: '@{nobody}' },
    ['Idempotency-Key', 'message', 'phone'],
  ],
  ['POST', '/templates/sync', 'a long key', {}, ['Idempotency-Key']],
])(
  '%s %s: a faulty header or parameter does not hide the faults of the body (%s, %j)',
  async (method, path, key, body, fields) => {
    const before = await totals();
    const response = await gateway.rest(method, path, body, KEYS[key]);
    const { error } = await json(response);
    expect([response.status, error.code, Object.keys(error.details).sort()]).toEqual([422, 'VALIDATION_ERROR', fields]);
    expect(await totals()).toEqual(before);
  },
);

describe('a field that cannot be read does not hide the faults of the others', () => {
  test.each<[string, string, object, string[]]>([
    [
      'POST',
      '/contacts',
      { type: 'nonsense', email: 'x', phone: 'abc', firstname: 'x'.repeat(300), zip: 'y'.repeat(30), groups: ['q'] },
      ['email', 'firstname', 'groups', 'phone', 'type', 'zip'],
    ],
    ['POST', '/contacts', { phone_number: 'abc', type: 'x', email: 'x' }, ['email', 'phone', 'type']],
    [
      'POST',
      '/auth/send-otp',
      { phone: 'x', expiry_minutes: 100, code: '1' },
      ['code', 'expiry_minutes', 'phone', 'template_name'],
    ],
    ['POST', '/webhooks', { url: 'ftp://x', events: ['nope'], format: 'zzz' }, ['events', 'format', 'url']],
    ['POST', '/statuses', { name: '', color: 'red' }, ['color', 'name']],
    [
      'POST',
      '/messages/media',
      { phone: 'x', media_type: 'nope', media_url: 'https://x.example/y' },
      ['media_type', 'phone'],
    ],
    ['POST', '/messages/template', { phone: 'x', template_name: 'none' }, ['language', 'phone', 'template_name']],
    ['POST', '/messages/text', { phone: 'abc', message: '' }, ['message', 'phone']],
    ['POST', '/messages/text', { phone: 'abc', message: ' ' }, ['message', 'phone']],
    ['POST', '/messages/text', { phone: 'abc', message: '@{nobody}' }, ['message', 'phone']],
    [
      'POST',
      '/messages/text',
      { phone: 'abc', message: '', contact: { email: 'x' }, scheduled_at: '2020-01-01T00:00:00Z' },
      ['contact.email', 'message', 'phone', 'scheduled_at'],
    ],
    [
      'POST',
      '/messages/media',
      { phone: 'x', media_type: 'audio', media_url: 'x', caption: 'x' },
      ['caption', 'media_url', 'phone'],
    ],
    [
      'POST',
      '/messages/template',
      { phone: 'x', template_name: 'none', language: 'en_US', contact: { zip: 'y'.repeat(30) } },
      ['contact.zip', 'phone', 'template_name'],
    ],
    ['POST', '/messages/interactive', { phone: 'x', type: 'buttons' }, ['body_text', 'phone', 'type']],
    ['POST', '/messages/interactive', { phone: 'x', body_text: '@{nobody}' }, ['body_text', 'phone', 'type']],
    [
      'POST',
      '/messages/interactive',
      {
        phone: 'x',
        type: 'buttons',
        body_text: 'Hi',
        header_text: 'x'.repeat(61),
        buttons: [{ id: '', title: 'Yes' }],
      },
      ['buttons.0.id', 'header_text', 'phone', 'type'],
    ],
    [
      'POST',
      '/messages/interactive',
      { phone: 'x', type: 'x', body_text: 'Hi', buttons: [{ id: 'y', title: 'y'.repeat(21) }], cta_url: { url: 'x' } },
      ['buttons.0.title', 'cta_url.display_text', 'cta_url.url', 'phone', 'type'],
    ],
    [
      'POST',
      '/messages/interactive',
      { phone: 'x', type: 'button', body_text: '', buttons: [{ id: '', title: 'Yes' }] },
      ['body_text', 'buttons.0.id', 'phone'],
    ],
  ])('%s %s %j', async (method, path, body, fields) => {
    const before = await totals();
    const response = await gateway.rest(method, path, body, { 'idempotency-key': crypto.randomUUID() });
    const { error } = await json(response);
    expect([response.status, error.code, Object.keys(error.details).sort()]).toEqual([422, 'VALIDATION_ERROR', fields]);
    expect(await totals()).toEqual(before);
  });

  test('the valid fields are not executed', async () => {
    const before = await totals();
    for (const [path, body] of [
      ['/contacts', { phone: '+4915112340010', type: 'nonsense' }],
      ['/messages/text', { phone: '+4915112340011', message: 'Hello', preview_url: 'perhaps' }],
      ['/statuses', { color: '#123456' }],
      ['/webhooks', { url: 'https://shop.example/hooks', events: ['message.*'], format: 'zzz' }],
    ] as const) {
      const { error } = await json(await gateway.rest('POST', path, body));
      expect(Object.keys(error.details), path).toHaveLength(1);
    }
    expect(await totals()).toEqual(before);
  });

  test('PATCH of a contact reports all faults and changes nothing', async () => {
    const { contact } = payloadOf(
      await gateway.mutate('createContact', { phone: '+4915112340020', firstName: 'Ana' }, 'contact { databaseId }'),
    );
    const path = `/contacts/${contact.databaseId}`;
    const sent = { type: 'q', status_id: 'abc', is_opted_out: 'maybe', email: 'x', firstname: 'Eva' };
    const { error } = await json(await gateway.rest('PATCH', path, sent));
    expect(Object.keys(error.details).sort()).toEqual(['email', 'is_opted_out', 'status_id', 'type']);
    expect((await json(await gateway.rest('GET', path))).data.firstname).toBe('Ana');
  });

  test('a row of a batch reports all its faults, and the other rows are created', async () => {
    const contacts = [
      { type: 'nonsense', email: 'x' },
      { phone: '+4915112340030', type: 'nonsense', email: 'x', zip: 'y'.repeat(30) },
      { phone: '+4915112340031' },
    ];
    const { errors } = await json(await gateway.rest('POST', '/contacts/batch', { contacts }));
    expect(errors.map(({ index, errors: faults }) => [index, Object.keys(faults).sort()])).toEqual([
      [0, ['email', 'phone', 'type']],
      [1, ['email', 'type', 'zip']],
    ]);
    const { contacts: found } = dataOf(
      await gateway.graphql(
        '{ contacts(filter: { phone: { in: ["+4915112340030", "+4915112340031"] } }) { nodes { phone } } }',
      ),
    );
    expect(found.nodes).toEqual([{ phone: '+4915112340031' }]);
  });

  test('a message of a batch reports all its faults, also if it cannot be parsed, and the others are sent', async () => {
    const messages = [
      { phone: 'abc', message: { text: 'Hello' }, contact: { email: 'x' } },
      { phone: 'abc', message: '', scheduled_at: '2020-01-01T00:00:00Z' },
      { phone: 'abc', media_type: 'nope', media_url: 'https://x.example/y', contact: { email: 'x' } },
      { kind: 'nonsense', phone: 'abc', channel_id: 'x' },
      { phone: '+4915112340090', message: 'Hello' },
      { phone: '+4915112340091', message: 'Hello', preview_url: 'perhaps' },
      'nothing',
      { kind: 'interactive', type: 'x', phone: 'abc', buttons: [{ id: '', title: 'Yes' }] },
    ];
    const response = await gateway.rest('POST', '/messages/batch', { messages });
    const { errors, summary } = (await response.json()) as Wire & { readonly summary: unknown };
    expect(errors.map(({ index, errors: faults }) => [index, Object.keys(faults).sort()])).toEqual([
      [0, ['contact.email', 'message', 'phone']],
      [1, ['message', 'phone', 'scheduled_at']],
      [2, ['contact.email', 'media_type', 'phone']],
      [3, ['channel_id', 'kind', 'phone']],
      [5, ['preview_url']],
      [6, ['body']],
      [7, ['body_text', 'buttons.0.id', 'phone', 'type']],
    ]);
    expect(JSON.stringify(errors)).not.toContain('¤');
    expect(summary).toEqual({ total: 8, created: 1, failed: 7 });
  });

  test('a merge field without a value and without a fallback is an error that names it', async () => {
    const body = { phone: '+4915112340040', message: 'Hello @{contact_company}' };
    const response = await gateway.rest('POST', '/messages/text', body);
    const { error } = await json(response);
    expect([response.status, error.details['message']?.[0]]).toEqual([422, expect.stringContaining('contact_company')]);
    const again = await gateway.rest('POST', '/messages/text', { ...body, message: 'Hello @{contact_company|there}' });
    expect((await json(again)).data.message).toBe('Hello there');
  });
});

describe('understands', () => {
  test('a trailing slash', async () => {
    const headers = { authorization: `Bearer ${gateway.tenant.token}`, 'content-type': 'application/json' };
    const url = `${gateway.url}/api/v2`;
    expect((await fetch(`${url}/contacts/?per_page=1`, { headers })).status).toBe(200);
    const body = JSON.stringify({ name: 'Slash' });
    expect((await fetch(`${url}/groups/`, { method: 'POST', headers, body })).status).toBe(201);
  });

  test("the network's id of a message as its id and in filters", async () => {
    const sent = await json(
      await gateway.rest('POST', '/messages/text', { phone: '+4915112340050', message: 'Hello' }),
    );
    const { message_id: wamid, chat_message_id: id } = sent.data;
    expect(wamid).toMatch(/^wamid\./);
    expect((await json(await gateway.rest('GET', `/messages/${encodeURIComponent(wamid)}`))).data.id).toBe(id);
    for (const field of ['message_id', 'wamid']) {
      const listed = await json(await gateway.rest('GET', `/messages?filter[${field}]=${encodeURIComponent(wamid)}`));
      expect(listed.data.map((row: { id: string }) => row.id)).toEqual([id]);
    }
  });

  test('a bare date, which is a whole day', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const { meta } = await json(await gateway.rest('GET', `/contacts?filter[created_at][between]=${today},${today}`));
    const all = await json(await gateway.rest('GET', '/contacts'));
    expect(meta.pagination.total).toBe(all.meta.pagination.total);
    expect(meta.pagination.total).toBeGreaterThan(0);
  });

  test('null in a PATCH, which clears', async () => {
    const created = await json(
      await gateway.rest('POST', '/contacts', { phone: '+4915112340060', firstname: 'Ana', email: 'ana@example.com' }),
    );
    const changed = await json(
      await gateway.rest('PATCH', `/contacts/${created.data.id}`, { firstname: null, email: null }),
    );
    expect(changed.data).toMatchObject({ firstname: null, email: null, phone: '+4915112340060' });
  });

  test('groups in a row of a batch', async () => {
    const group = await json(await gateway.rest('POST', '/groups', { name: 'Batch' }));
    const contacts = [{ phone: '+4915112340070', groups: [group.data.id] }];
    const created = (await (await gateway.rest('POST', '/contacts/batch', { contacts })).json()) as {
      readonly created: readonly { readonly group_id: readonly number[] }[];
    };
    expect(created.created.map(row => row.group_id)).toEqual([[group.data.id]]);
  });

  test('a body compressed with gzip', async () => {
    const response = await fetch(`${gateway.url}/api/v2/contacts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.tenant.token}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync(JSON.stringify({ phone: '+4915112340080', firstname: 'Zoë' })),
    });
    expect([response.status, (await json(response)).data.firstname]).toEqual([201, 'Zoë']);
  });
});

test.each([
  ['POST', '/contacts', { type: 5 }],
  ['PATCH', '/contacts/none', {}],
  ['POST', '/messages/text', {}],
  ['GET', '/contacts?sort=none', undefined],
])('a token without the scope gets that rather than the faults of the request: %s %s', async (method, path, body) => {
  const token = await gateway.addToken(gateway.tenant, { scopes: ['account:read'] });
  const refused = await gateway.rest(method, path, body, { authorization: `Bearer ${token}` });
  expect([refused.status, (await json(refused)).error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
});
