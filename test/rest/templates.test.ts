import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { PDF } from '../features/messages/content/media/files.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, TIMESTAMP, UUID } from './client.ts';

const seed = (name: string, others: Partial<TemplateSeed>): TemplateSeed => ({
  name,
  language: 'en_US',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: `Text of ${name}` }],
  ...others,
});
const BUTTONS = [
  { type: 'QUICK_REPLY', text: 'Thanks' },
  { type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}' },
];
const TEMPLATES = [
  seed('order', {
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
      { type: 'BODY', text: 'Hello {{1}}, order {{2}} is on its way.' },
      { type: 'FOOTER', text: 'Reply STOP to end' },
      { type: 'BUTTONS', buttons: BUTTONS },
    ],
  }),
  seed('order', { language: 'de', status: 'REJECTED' }),
  seed('invoice', {
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'DOCUMENT' },
      { type: 'BODY', text: 'Your invoice.' },
    ],
  }),
  seed('code', {
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 5 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
    ],
  }),
  seed('paused', { status: 'PAUSED' }),
];

let gateway: TestGateway;
let rest: Rest;
beforeAll(async () => {
  gateway = await startGateway({ templates: TEMPLATES });
  rest = restOf(gateway, gateway.tenant);
});
beforeEach(() => gateway.emulator.resetFaults());
afterAll(() => gateway.stop());

describe('templates', () => {
  test('are read from the network by POST /templates/sync', async () => {
    const first = await rest('POST', '/templates/sync');
    expect([first.status, first.body.data]).toEqual([200, expect.objectContaining({ removed: 0, total: 5 })]);
    const again = await rest('POST', '/templates/sync', {});
    expect(again.body.data).toEqual({ created: 0, updated: 0, removed: 0, unchanged: 5, total: 5 });
    expect((await rest('POST', '/templates/sync', { channel_id: 999_999 })).status).toBe(404);
  });

  test('have the fields of the contract in its order', async () => {
    const { body } = await rest('GET', '/templates?filter[name]=order&filter[language]=en-US');
    expect(body.data).toEqual([
      {
        id: expect.any(Number),
        template_id: expect.stringMatching(/^\d{16}$/),
        template_name: 'order',
        name: 'order',
        language: 'en_US',
        category: 'UTILITY',
        status: 'APPROVED',
        header_data_format: 'TEXT',
        header_data_text: 'Order {{1}}',
        header_params_count: 1,
        body_data: 'Hello {{1}}, order {{2}} is on its way.',
        body_params_count: 2,
        footer_data: 'Reply STOP to end',
        buttons_data: expect.any(String),
        components: TEMPLATES[0]?.components,
        code_expiration_minutes: null,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: expect.stringMatching(TIMESTAMP),
      },
    ]);
    expect(JSON.parse(body.data[0].buttons_data)).toEqual(BUTTONS);
    const [code] = (await rest('GET', '/templates?filter[category]=authentication')).body.data;
    expect(code).toMatchObject({
      header_data_format: null,
      header_data_text: null,
      header_params_count: 0,
      body_params_count: 1,
      footer_data: null,
      code_expiration_minutes: 5,
    });
    const [paused] = (await rest('GET', '/templates?filter[status]=paused')).body.data;
    expect(paused).toMatchObject({ name: 'paused', buttons_data: '[]', body_params_count: 0 });
  });

  test('are listed by pages, filters, orders and search; an unknown name is refused', async () => {
    const names = async (query: string) =>
      (await rest('GET', `/templates?${query}`)).body.data.map((row: { name: string }) => row.name);
    expect(await names('')).toEqual(['code', 'invoice', 'order', 'order', 'paused']);
    expect(await names('sort=-name&per_page=2&page=2')).toEqual(['order', 'invoice']);
    expect(await names('search=ORDER')).toEqual(['order', 'order']);
    expect(await names('q=your%20invoice')).toEqual(['invoice']);
    expect(await names('filter[status][in]=paused,rejected')).toEqual(['order', 'paused']);
    expect(await names('filter[status][ne]=APPROVED&filter[language]=de')).toEqual(['order']);
    expect(await names('filter[name][like]=inv')).toEqual(['invoice']);
    const page = (await rest('GET', '/templates?per_page=2')).body;
    expect(page.meta.pagination).toMatchObject({ total: 5, last_page: 3, from: 1, to: 2 });
    expect((await rest('GET', '/templates?fields=id,body_params_count&per_page=1')).body.data).toEqual([
      { id: expect.any(Number), body_params_count: 1 },
    ]);
    for (const query of ['sort=quality', 'filter[colour]=red', 'fields=colour', 'filter[status][near]=x'])
      expect((await rest('GET', `/templates?${query}`)).status, query).toBe(422);
  });

  test('are found by the network’s id and by ours', async () => {
    const [row] = (await rest('GET', '/templates?filter[name]=invoice')).body.data;
    for (const id of [row.template_id, row.id]) expect((await rest('GET', `/templates/${id}`)).body.data).toEqual(row);
    for (const id of ['999999', '1'.repeat(30), '1'.repeat(33), 'abc'])
      expect([id, (await rest('GET', `/templates/${id}`)).status]).toEqual([id, 404]);
  });

  test('need their scopes', async () => {
    const token = await gateway.addToken(gateway.tenant, { scopes: ['templates:read'] });
    const reader = restOf(gateway, { token });
    expect((await reader('GET', '/templates')).status).toBe(200);
    expect((await reader('POST', '/templates/sync')).body.error).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    expect(
      (await reader('POST', '/messages/template', { phone: newPhone(), template_name: 'order', language: 'de' }))
        .status,
    ).toBe(403);
  });
});

describe('sending a template', () => {
  const ORDER = {
    template_name: 'order',
    language: 'en_US',
    header_field_1: '77',
    field_1: 'Ana',
    field_2: '1042',
    button_1: 'abc',
  };
  const send = (body: object, headers?: Record<string, string>) =>
    rest('POST', '/messages/template', { phone: newPhone(), ...body }, headers);
  const faults = async (body: object) => {
    const answer = await send(body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    return answer.body.error.details;
  };

  test('answers with the network’s id and the merged values', async () => {
    const phone = newPhone();
    const { status, body } = await send({
      ...ORDER,
      phone,
      field_1: '@{contact_first_name}',
      contact: { firstname: 'Ana' },
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      message_id: expect.stringMatching(/^wamid\./),
      contact_id: expect.any(Number),
      phone: phone.slice(1),
      status: expect.stringMatching(/^(sent|delivered|read)$/),
      sent_at: expect.stringMatching(TIMESTAMP),
      chat_id: expect.any(Number),
      chat_message_id: expect.stringMatching(UUID),
      ...ORDER,
      message: 'Hello Ana, order 1042 is on its way.',
      service_window: { open: false, expires_at: null },
    });
    expect(gateway.emulator.sent({ to: phone }).messages).toMatchObject([
      { body: 'Hello Ana, order 1042 is on its way.' },
    ]);
    const [row] = (await rest('GET', `/messages?filter[contact_id]=${body.data.contact_id}`)).body.data;
    expect(row).toMatchObject({ type: 'template', message: 'Hello Ana, order 1042 is on its way.' });
  });

  test('accepts a document by its address, with its name', async () => {
    const document = { header_document_url: 'https://x.example/1.pdf', header_document_name: 'Invoice.pdf' };
    expect((await send({ template_name: 'invoice', language: 'en_US', ...document })).body.data).toMatchObject({
      ...document,
      message: 'Your invoice.',
    });
  });

  const sendForm = async (fields: Record<string, string>, files: Record<string, File>, key: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ language: 'en_US', ...fields })) form.append(name, value);
    for (const [name, file] of Object.entries(files)) form.append(name, file);
    const headers = { authorization: `Bearer ${gateway.tenant.token}`, 'idempotency-key': key };
    const url = `${gateway.url}/api/v2/messages/template`;
    const response = await fetch(url, { method: 'POST', headers, body: form });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  const pdf = (name: string) => new File([new Uint8Array(PDF)], name, { type: 'application/pdf' });

  test('accepts a document as a file of a form, once for each idempotency key', async () => {
    const phone = newPhone();
    const fields = { phone, template_name: 'invoice', header_document_name: 'Invoice 7.pdf' };
    const key = crypto.randomUUID();
    const first = await sendForm(fields, { header_document_file: pdf('a.pdf') }, key);
    expect([first.status, first.body.data]).toEqual([
      200,
      expect.objectContaining({ message: 'Your invoice.', header_document_name: 'Invoice 7.pdf' }),
    ]);
    const again = await sendForm(fields, { header_document_file: pdf('a.pdf') }, key);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    const { messages } = gateway.emulator.sent({ to: phone });
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(messages[0]?.content)).toMatch(/"document":\{"id":"\d+","filename":"Invoice 7.pdf"\}/);
  });

  test('reports a file that the template lacks under the field that was sent', async () => {
    const fields = { phone: newPhone(), template_name: 'order' };
    const wrong = await sendForm(fields, { header_document_file: pdf('a.pdf') }, crypto.randomUUID());
    expect([wrong.status, wrong.body.error.details]).toEqual([
      422,
      expect.objectContaining({ header_document_file: [expect.stringContaining('takes: text')] }),
    ]);
    const both = await sendForm(
      { ...fields, template_name: 'invoice', header_document_url: 'https://x.example/1.pdf' },
      { header_document_file: pdf('a.pdf') },
      crypto.randomUUID(),
    );
    expect([both.status, both.body.error.details]).toEqual([
      422,
      { header_document_url: ['Give either header_document_url or header_document_file.'] },
    ]);
  });

  test('neither returns a one-time code nor stores it for a repeated request', async () => {
    const code = '481516234';
    const headers = { 'idempotency-key': 'code-1' };
    const phone = newPhone();
    const first = await send({ phone, template_name: 'code', language: 'en_US', field_1: code }, headers);
    expect(first.body.data).toMatchObject({
      field_1: '••••••',
      button_0: '••••••',
      message: '*••••••* is your verification code.',
    });
    expect(first.text).not.toContain(code);
    expect(gateway.emulator.sent({ to: phone }).messages).toMatchObject([
      { body: `*${code}* is your verification code.` },
    ]);
    const kept = await gateway.database.query<{ text: string }>('select k::text as text from idempotency_keys k');
    expect(kept.map(row => row.text).join()).not.toContain(code);
    const second = await send({ phone, template_name: 'code', language: 'en_US', field_1: code }, headers);
    expect([second.text, second.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
  });

  test('reports values that do not fit the template under the names of the wire', async () => {
    expect(Object.keys(await faults({ template_name: 'order', language: 'en_US' })).sort()).toEqual([
      'button_1',
      'field_1',
      'field_2',
      'header_field_1',
    ]);
    const surplus = { header_document_name: 'Invoice.pdf', header_field_2: 'x' };
    expect(await faults({ ...ORDER, ...surplus })).toEqual({
      header_document_name: ['Give header_document_url or header_document_file with it.'],
      header_field_2: ['There is only header_field_1.'],
    });
    expect(await faults({ ...ORDER, field_11: 'x', button_3: 'x' })).toEqual({
      field_11: ['There are only field_1 to field_10.'],
      button_3: ['There are only button_0 to button_2.'],
    });
    expect(await faults({ ...ORDER, field_2: undefined, field_3: 'x' })).toEqual({
      field_2: ['Is required.'],
      field_3: [expect.stringContaining('one too many')],
    });
    expect(await faults({ ...ORDER, field_2: 'a\nb' })).toEqual({ field_2: ['May have no line breaks and no tabs.'] });
    expect(await faults({ ...ORDER, button_0: 'x'.repeat(129) })).toEqual({
      button_0: [expect.stringContaining('128')],
    });
    expect(await faults({ ...ORDER, button_2: 'x' })).toEqual({ button_2: ['The template has no such button.'] });
    expect(await faults({ template_name: 'invoice', language: 'en_US' })).toEqual({
      header_document_url: [expect.stringContaining('Is required')],
    });
    expect(
      await faults({ template_name: 'invoice', language: 'en_US', header_image_url: 'https://x.example/a.png' }),
    ).toMatchObject({ header_document_url: [expect.any(String)], header_image_url: [expect.any(String)] });
    expect(await faults({ template_name: 'invoice', language: 'en_US', header_document_url: 'nowhere' })).toEqual({
      header_document_url: [expect.stringContaining('https://')],
    });
    expect(await faults({ template_name: 'invoice', language: 'en_US', header_document_file: 'nobody' })).toEqual({
      header_document_file: [expect.stringContaining('no media')],
    });
    expect(await faults({ template_name: 'nobody', language: 'en_US' })).toEqual({
      template_name: [expect.any(String)],
    });
    expect(await faults({ template_name: 'paused', language: 'en_US' })).toEqual({
      template_name: [expect.stringContaining('PAUSED')],
    });
    expect(await faults({ ...ORDER, language: 'fr' })).toEqual({ language: [expect.stringContaining('de, en_US')] });
    expect(await faults({})).toEqual({ template_name: ['Is required.'], language: ['Is required.'] });
    expect(await faults({ ...ORDER, phone: '12' })).toEqual({ phone: [expect.any(String)] });
  });

  test('answers with the refusal of the network', async () => {
    const phone = newPhone();
    gateway.emulator.setFaults({ next: [{ errorCode: 132_015, to: phone }] });
    const { status, body } = await send({ ...ORDER, phone });
    expect([status, body.error.code, body.error.details.provider.code]).toEqual([422, 'MESSAGE_SEND_FAILED', 132_015]);
  });
});
