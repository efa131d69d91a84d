import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wireRow } from '../../../src/rest/v1/sending.ts';
import { sentText } from '../../../src/rest/wire/sending.ts';
import { type Caller, type Harness, startHarness } from '../../features/otp/harness.ts';
import { dataOf, faultsOf } from '../../support/answers.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { messageInput } from '../../support/sending.ts';
import { legacyOf, type Rest, type RestAnswer, restOf } from '../client.ts';

let harness: Harness;
let gateway: TestGateway;
let tenant: Caller;
let rest: Rest;
let v2: Rest;

beforeAll(async () => {
  harness = await startHarness();
  ({ gateway } = harness);
  tenant = await harness.tenant();
  rest = legacyOf(gateway, tenant);
  v2 = restOf(gateway, tenant);
  gateway.emulator.setFaults({ window: 'open' });
});
afterAll(() => gateway.stop());

const send = (body: object, headers?: Record<string, string>) => rest('POST', '/messages/send', body, headers);
const created = ({ body }: RestAnswer): unknown => body.data?.contact_created;
const toldErrors = ({ status, body }: RestAnswer) => [status, body.errors];
/** What the network was sent last. */
const lastSent = (phone: string): unknown => gateway.emulator.sent({ to: phone }).messages.at(-1);

describe('a phone number and a contact id that disagree', () => {
  const contact = async () => (await v2('POST', '/contacts', { phone: newPhone() })).body.data;
  const template = { template_name: 'order', template_language: 'en', language: 'en', field_1: '1' };
  const code = { template_name: 'login_code', template_language: 'en', language: 'en' };
  const button = { type: 'button', body_text: 'Well?', buttons: [{ id: 'yes', title: 'Yes' }] };
  const media = { media_type: 'image', media_url: 'https://example.com/photo.jpg' };
  const routes: [version: 1 | 2, path: string, body: object][] = [
    [2, '/messages/text', { message: 'Hello' }],
    [2, '/messages/media', media],
    [2, '/messages/template', template],
    [2, '/messages/interactive', button],
    [2, '/auth/send-otp', code],
    [2, '/auth/resend', code],
    [1, '/messages/send', { message_body: 'Hello' }],
    [
      1,
      '/messages/send',
      { message_type: 'cta_url', message_body: 'Hello', button_text: 'Open', button_url: 'https://example.com' },
    ],
    [1, '/messages/media', media],
    [1, '/messages/template', template],
    [1, '/messages/template', { ...code, auto_generate_otp: 1 }],
    [1, '/messages/authentication', { ...code, field_1: '424242' }],
  ];

  it.each(routes)('are errors of both fields: version %i, %s', async (version, path, body) => {
    const [one, other] = [await contact(), await contact()];
    const ask = version === 1 ? rest : v2;
    const field = version === 1 ? 'phone_number' : 'phone';
    for (const phone of [one.phone, newPhone()]) {
      const { status, body: answer } = await ask('POST', path, { ...body, [field]: phone, contact_id: other.id });
      const errors = version === 1 ? answer.errors : answer.error.details;
      expect([status, Object.keys(errors).sort()]).toEqual([422, ['contact_id', field]]);
    }
    expect(gateway.emulator.sent({ to: one.phone }).matched + gateway.emulator.sent({ to: other.phone }).matched).toBe(
      0,
    );
    const agreeing = await ask('POST', path, { ...body, [field]: one.phone, contact_id: one.id });
    expect([agreeing.status, gateway.emulator.sent({ to: one.phone }).matched]).toEqual([200, 1]);
  });

  it('are errors of both fields in GraphQL', async () => {
    const [one, other] = [await contact(), await contact()];
    const answer = await gateway.graphql(
      'mutation ($to: String!, $contactId: ID) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hello" } }, expectedContactId: $contactId }) { message { status } userErrors { code message path } } }',
      { to: one.phone, contactId: String(other.id) },
      tenant.token,
    );
    expect(Object.keys(faultsOf(answer)).sort()).toEqual(['expectedContactId', 'to.phone']);
  });
});

describe('contact_created', () => {
  it('is 1 for exactly one of concurrent sends to a new number', async () => {
    const phone_number = newPhone();
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, index) => send({ phone_number, message_body: `Hello ${index}` })),
      rest('POST', '/messages/template', {
        phone_number,
        template_name: 'order',
        template_language: 'en',
        field_1: '1',
      }),
      rest('POST', '/messages/template', {
        phone_number,
        template_name: 'login_code',
        template_language: 'en',
        auto_generate_otp: 1,
      }),
    ]);
    expect(answers.map(({ status, text }) => [status, status === 200 ? '' : text])).toEqual(
      answers.map(() => [200, '']),
    );
    expect(answers.map(created).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
    expect(new Set(answers.map(({ body }) => body.data.contact_id)).size).toBe(1);
  });

  it('is 0 for an existing contact, and repeated for the key of the send that created one', async () => {
    const phone_number = newPhone();
    const headers = { 'idempotency-key': `made-${phone_number}` };
    const [first, again, other] = [
      await send({ phone_number, message_body: 'Hello' }, headers),
      await send({ phone_number, message_body: 'Hello' }, headers),
      await send({ phone_number, message_body: 'Hello' }),
    ];
    expect([first, again, other].map(created)).toEqual([1, 1, 0]);
    expect(again.text).toBe(first.text);
    const ask = (input: object) =>
      gateway.mutate('sendMessage', messageInput('text', input), 'contactCreated', tenant.token);
    const to = newPhone();
    const keyed = { to, text: 'Hi', idempotencyKey: `graphql-${to}` };
    for (const [input, is] of [
      [keyed, true],
      [keyed, true],
      [{ to, text: 'Hi' }, false],
    ] as const)
      expect(dataOf(await ask(input)).sendMessage.contactCreated).toBe(is);
  });
});

describe('an idempotency key', () => {
  it('of one version is answered in the format of the other, and nothing is sent twice', async () => {
    const phone = newPhone();
    const headers = { 'idempotency-key': `both-${phone}` };
    const first = await send({ phone_number: phone, message_body: 'Hello' }, headers);
    const other = await v2('POST', '/messages/text', { phone, message: 'Hello', preview_url: null }, headers);
    expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([422, null]);
    const group = { name: `Group ${phone}` };
    const made = await rest('POST', '/groups', group, { 'idempotency-key': `group-${phone}` });
    const again = await v2('POST', '/groups', group, { 'idempotency-key': `group-${phone}` });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(again.body).toMatchObject({ success: true, data: { id: made.body.data.id } });
    expect(again.body.data.created_at).toMatch(/\+00:00$/);
    expect(first.status).toBe(200);
    expect(gateway.emulator.sent({ to: phone }).matched).toBe(1);
  });
});

describe('POST /messages/send', () => {
  it('sends the fields of each type to the network', async () => {
    const phone_number = newPhone();
    await send({ phone_number, message_body: 'Hi', message_type: 'text', header: '', buttons: [] });
    expect(lastSent(phone_number)).toMatchObject({ type: 'text', content: { body: 'Hi' } });
    await send({
      phone_number,
      message_body: 'Choose',
      message_type: 'INTERACTIVE',
      header: 'Top',
      buttons: 'Yes, No',
    });
    expect(lastSent(phone_number)).toMatchObject({
      type: 'interactive',
      content: {
        type: 'button',
        header: { text: 'Top' },
        body: { text: 'Choose' },
        action: { buttons: [{ reply: { id: 'Yes', title: 'Yes' } }, { reply: { id: 'No', title: 'No' } }] },
      },
    });
    const link = { button_text: 'Open', button_url: 'https://shop.example/1' };
    await send({ phone_number, message_body: 'Look', message_type: 'cta_url', footer: 'Below', ...link });
    expect(lastSent(phone_number)).toMatchObject({
      content: {
        type: 'cta_url',
        footer: { text: 'Below' },
        action: { parameters: { display_text: 'Open', url: 'https://shop.example/1' } },
      },
    });
  });

  it('waits for the network despite respond-async, because only the network’s id finds the message', async () => {
    const { status, headers, body } = await send(
      { phone_number: newPhone(), message_body: 'Hi' },
      { prefer: 'respond-async' },
    );
    expect([status, headers.get('preference-applied'), body.data.status]).toEqual([200, null, 'sent']);
  });

  it('reports every fault under its field', async () => {
    const phone_number = newPhone();
    const faults = async (body: object) => {
      const { status, body: answer } = await send({ phone_number, message_body: 'Hi', ...body });
      expect(status).toBe(422);
      return Object.keys(answer.errors).sort();
    };
    expect(await faults({ phone_number: '12' })).toEqual(['phone_number']);
    // What GraphQL takes beside a number.
    const { id } = (await rest('POST', '/contacts', { phone: newPhone() })).body.data;
    const globalId = Buffer.from(`Contact:${id}`).toString('base64url');
    const answer = await send({ phone_number: globalId, message_body: 'Hi' });
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      { phone_number: ['Must be a phone number in international format, for example +49 151 23456789.'] },
    ]);
    expect(await faults({ message_body: '' })).toEqual(['message_body']);
    expect(await faults({ message_body: '@{nobody}' })).toEqual(['message_body']);
    expect(await faults({ message_type: 'list' })).toEqual(['message_type']);
    expect(await faults({ header: 'Top', button_url: 'x' })).toEqual(['button_url', 'header']);
    const interactive = { message_type: 'interactive' };
    expect(await faults(interactive)).toEqual(['buttons']);
    expect(await faults({ ...interactive, buttons: [{}, 7] })).toEqual(['buttons.0.title', 'buttons.1']);
    expect(await faults({ ...interactive, buttons: ['x'.repeat(21), 'a', 'b', 'c'] })).toEqual([
      'buttons',
      'buttons.0.title',
    ]);
    expect(await faults({ ...interactive, buttons: 'a,b', footer: 'x'.repeat(61) })).toEqual(['footer']);
    const link = { message_type: 'cta_url', button_text: 'x'.repeat(21), button_url: 'ftp://x' };
    expect(await faults(link)).toEqual(['button_text', 'button_url']);
    expect(await faults({ message_type: 'cta_url' })).toEqual(['button_text', 'button_url']);
    expect(gateway.emulator.sent({ to: phone_number }).matched).toBe(0);
    expect(toldErrors(await rest('POST', '/messages/send', '[]'))[0]).toBe(422);
  });

  it('answers queued, without an id, if the network has not answered in time', () => {
    const message = { contact_id: '1', phone: '+14155550123', chat_id: '2', chat_message_id: '' };
    const window = { open: true, expires_at: null };
    const queued = { ...message, service_window: window, message_id: null, status: 'QUEUED', sent_at: null } as const;
    expect(sentText(queued)).toBe('Message queued');
    expect(wireRow(queued, false)).toEqual({
      message_id: null,
      contact_id: 1,
      phone: '+14155550123',
      status: 'queued',
      sent_at: null,
      chat_id: 2,
      contact_created: 0,
      whatsapp_response: { messages: [] },
    });
  });
});

describe('a generated code', () => {
  const login = (phone_number: string, more: object = {}, headers = {}) =>
    rest(
      'POST',
      '/messages/authentication',
      { phone_number, template_name: 'login_code', template_language: 'en', auto_generate_otp: '1', ...more },
      headers,
    );

  it('is returned once, verifies once, and is stored nowhere', async () => {
    const phone = newPhone();
    const headers = { 'idempotency-key': `code-${phone}` };
    const { body } = await login(phone, {}, headers);
    const { otp_code: code, ...others } = body.data;
    expect(code).toMatch(/^\d{6}$/);
    expect(await tenant.codeFor(phone)).toBe(code);
    const again = await login(phone, {}, headers);
    expect([again.status, again.headers.get('idempotency-replayed'), again.body.data]).toEqual([200, 'true', others]);
    const tables = await gateway.database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const found = await gateway.database.query(`select t::text as row from "${name}" t where t::text ~ $1`, [
        `(?<![0-9a-f])${code}(?![0-9a-f])`,
      ]);
      expect([name, found]).toEqual([name, []]);
    }
    expect(gateway.logs.filter(line => JSON.stringify(line).includes(`"${code}"`))).toEqual([]);
    const verify = () => v2('POST', '/auth/verify', { phone, code });
    expect([(await verify()).status, (await verify()).status]).toEqual([200, 422]);
  });

  it('excludes other values, needs an authentication template, and has the limits of one-time passwords', async () => {
    const phone = newPhone();
    const surplus = await login(phone, {
      field_1: '123456',
      header_image_url: 'https://x.example/a.png',
      button_0: '',
    });
    expect([surplus.status, Object.keys(surplus.body.errors)]).toEqual([422, ['field_1', 'header_image_url']]);
    const order = await login(phone, { template_name: 'order' });
    expect([order.status, Object.keys(order.body.errors)]).toEqual([422, ['template_name']]);
    const language = await login(phone, { template_language: 'fr' });
    expect([language.status, Object.keys(language.body.errors)]).toEqual([422, ['template_language']]);
    const answers = [];
    for (let sends = 0; sends < 11; sends += 1) answers.push(await login(phone));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    const last = answers.at(-1);
    expect(last?.body).toEqual({ message: expect.any(String), retry_after: expect.any(Number) });
    expect(last?.headers.get('retry-after')).toBe(String(last?.body.retry_after));
  });

  it('is not returned if the caller gives the code, which is hidden as well', async () => {
    const phone_number = newPhone();
    const { body } = await login(phone_number, { auto_generate_otp: 0, field_1: '482913' });
    expect(body.data).not.toHaveProperty('otp_code');
    expect(await tenant.codeFor(phone_number)).toBe('482913');
    const [row] = (await v2('GET', `/messages?filter[contact_id]=${body.data.contact_id}`)).body.data;
    expect(row.message).toContain('••••••');
  });
});

describe('POST /messages/template', () => {
  it('reports faults under the fields of version 1, and sends a template of any category', async () => {
    const phone_number = newPhone();
    const order = (more: object) =>
      rest('POST', '/messages/template', { phone_number, template_name: 'order', template_language: 'en', ...more });
    expect(Object.keys((await order({})).body.errors)).toEqual(['field_1']);
    expect(Object.keys((await order({ field_1: '1', field_2: '2' })).body.errors)).toEqual(['field_2']);
    expect(Object.keys((await order({ field_1: '1', template_language: 'xx' })).body.errors)).toEqual([
      'template_language',
    ]);
    expect(Object.keys((await rest('POST', '/messages/template', {})).body.errors)).toEqual([
      'phone_number',
      'template_name',
      'template_language',
    ]);
    expect((await order({ field_1: '4711' })).status).toBe(200);
  });
});

describe('templates', () => {
  it('are found by our ids, not by those of the network', async () => {
    const [row] = (await rest('GET', '/templates')).body.data.data;
    expect((await rest('GET', `/templates/${row.id}`)).body.data).toEqual(row);
    expect((await rest('GET', `/templates/${row.template_id}`)).status).toBe(404);
    expect((await v2('GET', `/templates/${row.template_id}`)).body.data.id).toBe(row.id);
  });
});
