import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TemplateSeed } from '../../../src/emulator/template-store.ts';
import { ROUTES_V1 } from '../../../src/rest/v1/api.ts';
import { checkAnswer, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { legacyOf, type Rest, restOf } from '../client.ts';
import { askWhileClosing } from '../late-requests.ts';
import { Notebook, withoutAdded } from './exchange.ts';

/**
 * One request and its answer for each route, and for each shape of a refusal, in readable files. What changes on the wire shows as
 * a difference of one of them; when it is meant, `vitest run -u` on this file writes them anew.
 */
const FOLDER = join(import.meta.dirname, 'golden');

const TEMPLATES: readonly TemplateSeed[] = [
  {
    name: 'photo',
    language: 'en_US',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'New in {{1}}.' },
    ],
  },
  {
    name: 'order',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Hello {{1}}, order {{2}} is on its way.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}' }] },
    ],
  },
  {
    name: 'code',
    language: 'en_US',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
    ],
  },
];

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;
let notebook: Notebook;
const written = new Set<string>();
const routes = new Set<string>();

beforeAll(async () => {
  gateway = await startGateway({
    templates: TEMPLATES,
    env: { PARLEY_V1_SUNSET: '2027-12-31', PARLEY_BODY_LIMIT: '4096' },
    // No status overtakes the answer to its send.
    emulator: { delays: { sentMs: 60_000, deliveredMs: 60_000, readMs: 60_000 } },
  });
  gateway.emulator.setFaults({ window: 'open' });
  ({ tenant } = gateway);
  rest = legacyOf(gateway, tenant);
  notebook = new Notebook(gateway.url);
  await gateway.rest('POST', '/templates/sync');
});
afterAll(() => gateway.stop());

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Of another tenant than the path's; without it the tenant's own. */
  readonly token?: string;
  readonly form?: Readonly<Record<string, string | Blob>>;
  readonly tenant?: string;
}

/** Asks, and compares both with the file of this name. */
async function golden(name: string, { method, path, body, headers = {}, token, form, tenant: slug }: Asked) {
  const authorization = token === undefined ? `Bearer ${tenant.token}` : token;
  const response = await fetch(`${gateway.url}/api/v1/${slug ?? tenant.slug}${path}`, {
    method,
    headers: {
      ...(authorization !== '' && { authorization }),
      // The files show answers as they are without compression.
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(form && { body: formOf(form) }),
  });
  await checkAnswer(method, path, response, 'v1');
  const text = await response.text();
  const lines = form && Object.entries(form).map(([field, value]) => `${field}: ${shown(value)}`);
  const exchange = {
    method,
    path,
    requestHeaders: { ...headers, ...(form && { 'content-type': 'multipart/form-data' }) },
    requestBody: lines?.join('\n') ?? body,
    status: response.status,
    headers: withoutAdded(response.headers),
    text,
  };
  written.add(`${name}.http`);
  const route = ROUTES_V1.find(
    one =>
      one.method === method && new RegExp(`^${one.path.replace(':id', '\\d+')}$`).test(path.split('?', 1)[0] ?? ''),
  );
  if (route && response.ok) routes.add(`${route.method} ${route.path}`);
  await expect(notebook.write(exchange)).toMatchFileSnapshot(join(FOLDER, `${name}.http`));
  return text === '' ? undefined : JSON.parse(text);
}

const shown = (value: string | Blob): string => (typeof value === 'string' ? value : `<${value.size} bytes>`);

function formOf(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, 'photo.png');
  return form;
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const png = (): Blob => new Blob([PNG], { type: 'image/png' });

it('contacts', async () => {
  const { data } = await golden('contacts-create', {
    method: 'POST',
    path: '/contacts',
    body: {
      firstname: 'Ana',
      lastname: 'Silva',
      phone: '+14155550123',
      type: 'lead',
      email: 'ana@example.com',
      country_id: 'US',
      groups: 'VIP, Newsletter',
    },
  });
  await golden('contacts-get', { method: 'GET', path: `/contacts/${data.id}` });
  await golden('contacts-replace', {
    method: 'PUT',
    path: `/contacts/${data.id}`,
    body: { firstname: 'Ana', phone: '+14155550123', type: 'customer', groups: 'VIP', is_opted_out: 1 },
  });
  await golden('contacts-list', { method: 'GET', path: '/contacts?per_page=1&sort=-created_at&filter[type]=customer' });
  await golden('contacts-list-empty', { method: 'GET', path: '/contacts?search=nobody&page=3' });
  await golden('contacts-delete', { method: 'DELETE', path: `/contacts/${data.id}` });
});

it.each([
  ['groups', { name: 'Regulars' }],
  ['sources', { name: 'Trade fair' }],
  ['statuses', { name: 'Won', color: '#2e7d32' }],
])('%s', async (path, body) => {
  const { data } = await golden(`${path}-create`, { method: 'POST', path: `/${path}`, body });
  await golden(`${path}-get`, { method: 'GET', path: `/${path}/${data.id}` });
  await golden(`${path}-replace`, { method: 'PUT', path: `/${path}/${data.id}`, body: { name: `Other ${body.name}` } });
  await golden(`${path}-list`, { method: 'GET', path: `/${path}?filter[name]=Other ${body.name}` });
  await golden(`${path}-delete`, { method: 'DELETE', path: `/${path}/${data.id}` });
});

it('sends', async () => {
  const phone_number = '+14155550124';
  const send = (name: string, body: object, headers = {}) =>
    golden(name, { method: 'POST', path: '/messages/send', body: { phone_number, ...body }, headers });
  await send(
    'messages-send-text',
    { message_body: 'Hello @{contact_first_name|there}' },
    { 'idempotency-key': 'order-4711' },
  );
  await send(
    'messages-send-text-repeated',
    { message_body: 'Hello @{contact_first_name|there}' },
    { 'idempotency-key': 'order-4711' },
  );
  await send('messages-send-interactive', {
    message_type: 'interactive',
    message_body: 'Shall we deliver today?',
    header: 'Delivery',
    footer: 'Reply STOP to end',
    buttons: [{ id: 'yes', title: 'Yes' }, 'No'],
  });
  await send('messages-send-cta-url', {
    message_type: 'cta_url',
    message_body: 'Where your parcel is:',
    button_text: 'Track',
    button_url: 'https://shop.example/4711',
  });
  await golden('messages-media', {
    method: 'POST',
    path: '/messages/media',
    body: { phone_number, media_type: 'image', media_url: 'https://shop.example/photo.png', caption: 'Look' },
  });
  await golden('messages-media-file', {
    method: 'POST',
    path: '/messages/media',
    form: { phone_number, media_type: 'image', media_file: png(), caption: 'Look' },
  });
  await golden('messages-template', {
    method: 'POST',
    path: '/messages/template',
    body: {
      phone_number,
      template_name: 'order',
      template_language: 'en_US',
      field_1: 'Ana',
      field_2: '4711',
      button_0: '4711',
    },
  });
  await golden('messages-template-file', {
    method: 'POST',
    path: '/messages/template',
    form: {
      phone_number,
      template_name: 'photo',
      template_language: 'en_US',
      header_image_file: png(),
      field_1: 'spring',
    },
  });
  await golden('messages-authentication', {
    method: 'POST',
    path: '/messages/authentication',
    body: { phone_number, template_name: 'code', template_language: 'en_US', field_1: '482913' },
  });
  const generated = { phone_number, template_name: 'code', template_language: 'en_US', auto_generate_otp: 1 };
  await golden('messages-template-generated-code', {
    method: 'POST',
    path: '/messages/template',
    body: generated,
    headers: { 'idempotency-key': 'login-1' },
  });
  await golden('messages-template-generated-code-repeated', {
    method: 'POST',
    path: '/messages/template',
    body: generated,
    headers: { 'idempotency-key': 'login-1' },
  });
});

it('templates', async () => {
  const { data } = await golden('templates-list', { method: 'GET', path: '/templates?sort=name' });
  await golden('templates-get', { method: 'GET', path: `/templates/${data.data[0].id}` });
});

it.each([
  ['messagebots', { text: { text: 'Our prices: https://shop.example' } }],
  [
    'templatebots',
    { template: { name: 'order', language: 'en_US', body: ['Ana', '1'], buttons: [{ index: 0, value: '1' }] } },
  ],
])('%s', async (path, reply) => {
  const body = { name: `Prices by ${path}`, trigger: 'contains', keywords: ['price', 'cost'], reply };
  const { data } = (await restOf(gateway, tenant)('POST', '/bots', body)).body;
  await golden(`${path}-list`, { method: 'GET', path: `/${path}?filter[is_enabled]=1` });
  await golden(`${path}-get`, { method: 'GET', path: `/${path}/${data.id}` });
  const other = path === 'messagebots' ? 'templatebots' : 'messagebots';
  expect((await rest('GET', `/${other}/${data.id}`)).status).toBe(404);
  expect((await rest('GET', `/${path}?filter[is_enabled]=0`)).body.data.total).toBe(0);
});

it('errors before a route is executed', async () => {
  await golden('error-401-no-token', { method: 'GET', path: '/contacts', token: '' });
  await golden('error-401-invalid-token', { method: 'GET', path: '/contacts', token: 'Bearer ply_nothing' });
  const other = await gateway.addTenant();
  await golden('error-401-token-of-another-tenant', {
    method: 'GET',
    path: '/contacts',
    token: `Bearer ${other.token}`,
  });
  await golden('error-400-unknown-tenant', { method: 'GET', path: '/contacts', tenant: 'nobody' });
  await golden('error-400-unreadable-body', { method: 'POST', path: '/groups', body: '{' });
  await golden('error-404-unknown-address', { method: 'GET', path: '/nothing' });
  await golden('error-405-method', { method: 'PATCH', path: '/contacts/1' });
  await golden('error-413-body', { method: 'POST', path: '/groups', body: { name: 'x'.repeat(5_000) } });
  await golden('error-415-type', {
    method: 'POST',
    path: '/groups',
    body: 'name=x',
    headers: { 'content-type': 'text/plain' },
  });
  await golden('options', { method: 'OPTIONS', path: '/contacts/1', token: '' });
  await golden('head', { method: 'HEAD', path: '/groups' });
});

it('errors of the input', async () => {
  await golden('error-404-not-found', { method: 'GET', path: '/contacts/99999999' });
  await golden('error-422-fields', {
    method: 'POST',
    path: '/contacts',
    body: { phone: '12', email: 'nobody', groups: ['VIP', 'x'.repeat(151)] },
  });
  await golden('error-422-guest', {
    method: 'POST',
    path: '/contacts',
    body: { phone: '+14155550125', type: 'guest' },
  });
  await golden('error-422-put-without-required', { method: 'PUT', path: '/contacts/1', body: {} });
  await golden('error-422-parameters', { method: 'GET', path: '/contacts?per_page=101&sort=age&filter[type]=guest' });
  await golden('error-422-authentication-category', {
    method: 'POST',
    path: '/messages/authentication',
    body: { phone_number: '+14155550125', template_name: 'order', template_language: 'en_US', field_1: '482913' },
  });
  await golden('error-422-text-with-buttons', {
    method: 'POST',
    path: '/messages/send',
    body: { phone_number: '+14155550125', message_body: 'Hello', buttons: ['Yes'] },
  });
  await rest('POST', '/groups', { name: 'Keyed' }, { 'idempotency-key': 'mismatch' });
  await golden('error-422-idempotency-mismatch', {
    method: 'POST',
    path: '/groups',
    body: { name: 'Other' },
    headers: { 'idempotency-key': 'mismatch' },
  });
  const source = (await rest('POST', '/sources', { name: 'In use' })).body.data.id;
  await rest('POST', '/contacts', { phone: '+14155550126', source_id: source });
  await golden('error-409-in-use', { method: 'DELETE', path: `/sources/${source}` });
});

it('errors of authorization', async () => {
  const poor = await gateway.addToken(tenant, { scopes: ['groups:read'] });
  await golden('error-403-scope', { method: 'GET', path: '/contacts', token: `Bearer ${poor}` });
  const slow = `Bearer ${await gateway.addToken(tenant, { callsPerMinute: 1 })}`;
  await rest('GET', '/groups', undefined, { authorization: slow });
  await golden('error-429-rate', { method: 'GET', path: '/groups', token: slow });
  const full = await gateway.addTenant({ plan: 'starter' });
  await gateway.database.query('update tenant_usage set contacts_maximum = 0 where tenant_id = $1', [full.id]);
  await golden('error-403-limit', {
    method: 'POST',
    path: '/contacts',
    body: { phone: '+14155550127' },
    tenant: full.slug,
    token: `Bearer ${full.token}`,
  });
  const mute = await gateway.addTenant({ channel: false });
  await golden('error-422-no-channel', {
    method: 'POST',
    path: '/messages/send',
    body: { phone_number: '+14155550127', message_body: 'Hello' },
    tenant: mute.slug,
    token: `Bearer ${mute.token}`,
  });
});

it('errors of the network, and internal errors', async () => {
  gateway.emulator.setFaults({ next: [{ errorCode: 131026 }] });
  await golden('error-422-refused-by-the-network', {
    method: 'POST',
    path: '/messages/send',
    body: { phone_number: '+14155550128', message_body: 'Hello' },
  });
  gateway.emulator.setFaults({ mediaBreaksAfter: 10 });
  await golden('error-503-unavailable', {
    method: 'POST',
    path: '/messages/media',
    form: { phone_number: '+14155550128', media_type: 'image', media_file: png() },
  });
  gateway.emulator.resetFaults();
  await gateway.database.query('alter table sources rename to gone');
  await golden('error-500-internal', { method: 'GET', path: '/sources' });
  await gateway.database.query('alter table gone rename to sources');
});

it('an error during shutdown', async () => {
  const stopping = await startGateway({ env: { PARLEY_V1_SUNSET: '2027-12-31' } });
  const late = { method: 'GET', path: `/api/v1/${stopping.tenant.slug}/contacts` };
  const [answer] = await askWhileClosing(stopping, [late]);
  await stopping.stop();
  if (!answer) throw new Error('There is no answer.');
  const exchange = {
    method: 'GET',
    path: '/contacts',
    requestHeaders: {},
    requestBody: undefined,
    ...answer,
    headers: withoutAdded(answer.headers),
  };
  written.add('error-503-stopping.http');
  const text = new Notebook(stopping.url).write(exchange);
  await expect(text).toMatchFileSnapshot(join(FOLDER, 'error-503-stopping.http'));
});

it('every route has a golden success, and no file is left over', () => {
  expect([...routes].sort()).toEqual(ROUTES_V1.map(({ method, path }) => `${method} ${path}`).sort());
  expect(readdirSync(FOLDER).filter(file => !written.has(file))).toEqual([]);
});
