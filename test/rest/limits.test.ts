import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { legacyOf, type Rest, type RestAnswer, restOf } from './client.ts';
import { openApi } from './contract.ts';

const withHeader = (name: string, header: object): TemplateSeed => ({
  name,
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'HEADER', ...header },
    { type: 'BODY', text: 'Hello {{1}}.' },
  ] as TemplateSeed['components'],
});
const TEMPLATES: readonly TemplateSeed[] = [
  withHeader('text', { format: 'TEXT', text: 'Order {{1}}' }),
  withHeader('image', { format: 'IMAGE' }),
  withHeader('video', { format: 'VIDEO' }),
  withHeader('document', { format: 'DOCUMENT' }),
  {
    name: 'ten',
    language: 'en_US',
    category: 'UTILITY',
    components: [{ type: 'BODY', text: '{{1}} {{2}} {{3}} {{4}} {{5}} {{6}} {{7}} {{8}} {{9}} {{10}} and no more.' }],
  },
  {
    name: 'place',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'LOCATION' },
      { type: 'BODY', text: 'Here.' },
    ],
  },
  {
    name: 'buttons',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Hello {{1}}.' },
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Thanks' }] },
    ],
  },
  {
    name: 'named',
    language: 'en_US',
    category: 'UTILITY',
    parameterFormat: 'NAMED',
    components: [{ type: 'BODY', text: 'Hello {{first}}.' }],
  },
  {
    name: 'login_code',
    language: 'en_US',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
    ],
  },
];

let gateway: TestGateway;
let clients: Readonly<Record<'v1' | 'v2', Rest>>;
/** Ids of objects that are changed. */
let ids: Readonly<Record<string, number>>;

beforeAll(async () => {
  gateway = await startGateway({ templates: TEMPLATES });
  clients = { v1: legacyOf(gateway, gateway.tenant), v2: restOf(gateway, gateway.tenant) };
  const { v2 } = clients;
  // The first sync of the channel: before it no template has a limit.
  await eventually(async () =>
    expect((await v2('GET', '/templates?per_page=100')).body.data).toHaveLength(TEMPLATES.length),
  );
  const created = async (path: string, body: object) => (await v2('POST', path, body)).body.data.id as number;
  ids = {
    contacts: await created('/contacts', { phone: newPhone() }),
    groups: await created('/groups', { name: 'One' }),
    sources: await created('/sources', { name: 'One' }),
    statuses: await created('/statuses', { name: 'One', color: '#000000' }),
    bots: await created('/bots', { name: 'One', trigger: 'any', reply: { text: { text: 'Hello' } } }),
    webhooks: await created('/webhooks', { url: 'https://example.com/hook', events: ['*'] }),
    campaigns: await created('/campaigns', { name: 'One', audience: { phones: [newPhone()] }, template: TEN_VALUES }),
  };
});
afterAll(() => gateway.stop());

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Text of a length that is valid apart from it. */
function textOf(path: string, length: number): string {
  if (/email$/.test(path)) return '@example.com'.padStart(length, 'x');
  if (/(url|link)$/.test(path)) return 'https://example.com/'.padEnd(length, 'x');
  return '1'.repeat(length);
}

/** Values just outside of what a schema allows. */
function invalidOf(path: string, schema: Schema): unknown[] {
  const item = schema.items?.examples?.[0] ?? (schema.items?.type === 'integer' ? 1 : 'item');
  return [
    ...(schema.maxLength === undefined ? [] : [textOf(path, schema.maxLength + 1)]),
    ...(schema.minLength === undefined ? [] : ['1'.repeat(schema.minLength - 1)]),
    ...(schema.maximum === undefined ? [] : [schema.maximum + 1]),
    ...(schema.minimum === undefined || schema.format === 'int64' ? [] : [schema.minimum - 1]),
    ...(schema.minItems === undefined ? [] : [[]]),
    ...(schema.maxItems === undefined || schema.items?.properties
      ? []
      : [Array.from({ length: schema.maxItems + 1 }, (_, index) => (item === 1 ? index + 1 : item))]),
  ];
}

/** A body with one field replaced. */
function withField(body: unknown, [step = '', ...rest]: readonly string[], value: unknown): unknown {
  if (step === '0') return [rest.length === 0 ? value : withField((body as unknown[] | undefined)?.[0], rest, value)];
  const object = (body ?? {}) as Readonly<Record<string, unknown>>;
  return { ...object, [step]: rest.length === 0 ? value : withField(object[step], rest, value) };
}

/** Every field that has a limit, with its path. */
function limited(schema: Schema, path: readonly string[] = []): [path: readonly string[], schema: Schema][] {
  const own: [readonly string[], Schema][] = invalidOf(path.join('.'), schema).length > 0 ? [[path, schema]] : [];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => limited(field, [...path, name]));
  return [...own, ...fields, ...(schema.items ? limited(schema.items, [...path, '0']) : [])];
}

const LINK = 'https://example.com/file';
const ROW = { id: 'a', title: 'A' };
const LIST = { button: 'Choose', sections: [{ title: 'One', rows: [ROW] }] };
const CTA_URL = { display_text: 'Open', url: LINK };
const TEN = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`field_${index + 1}`, 'x']));
const PLACE = { latitude: 1, longitude: 1 };
const TEN_VALUES = { name: 'ten', language: 'en_US', body: Object.values(TEN) };

/** Replies in which a field below the first path is looked at. */
const REPLIES: readonly [path: string, reply: object][] = [
  ['reply.interactive.list', { interactive: { body: 'Which?', list: LIST } }],
  ['reply.interactive.cta_url', { interactive: { body: 'Which?', cta_url: CTA_URL } }],
  ['reply.interactive', { interactive: { body: 'Which?', buttons: [ROW] } }],
  ['reply.media', { media: { kind: 'document', link: LINK } }],
  ['reply.template.header.location', { template: { name: 'place', language: 'en_US', header: { location: PLACE } } }],
  ['reply.template.header.image', { template: { name: 'image', language: 'en_US', body: ['x'], header: {} } }],
  ['reply.template.header.video', { template: { name: 'video', language: 'en_US', body: ['x'], header: {} } }],
  [
    'reply.template.header.document',
    { template: { name: 'document', language: 'en_US', body: ['x'], header: { document: { link: LINK } } } },
  ],
  ['reply.template.header.text', { template: { name: 'text', language: 'en_US', body: ['x'] } }],
  [
    'reply.template.body_by_name',
    { template: { name: 'named', language: 'en_US', body_by_name: [{ name: 'first', value: 'x' }] } },
  ],
  [
    'reply.template.buttons',
    { template: { name: 'buttons', language: 'en_US', body: ['x'], buttons: [{ index: 0, value: 'x' }] } },
  ],
  ['reply.text', { text: { text: 'Hello' } }],
];

/** Interactive messages, by their type. */
const INTERACTIVE: Readonly<Record<string, object>> = {
  button: { buttons: [ROW] },
  list: { list_button_text: 'Choose', sections: LIST.sections },
  cta_url: { cta_url: CTA_URL },
};

/** The values that a field needs beside it, so that it is looked at. */
function contextOf(path: string, field: string, type: unknown): object {
  const [, kind] = /^header_(image|video|document)/.exec(field) ?? [];
  switch (path) {
    case '/messages/template':
      if (kind) return { template_name: kind, field_1: 'x', field_2: undefined, [`header_${kind}_url`]: LINK };
      return field === 'header_field_1'
        ? { template_name: 'text', field_2: undefined }
        : { template_name: 'ten', ...TEN };
    case '/messages/interactive':
      return { type, ...INTERACTIVE[String(type)] };
    case '/messages/send':
      return field.startsWith('button_')
        ? { message_type: 'cta_url', buttons: undefined, button_text: 'Open', button_url: LINK }
        : {};
    case '/campaigns':
    case '/campaigns/{id}': {
      const reply = REPLIES.find(([start]) => `reply.${field}`.startsWith(start))?.[1];
      const audience = { phones: [newPhone()] };
      return { audience, template: reply && 'template' in reply ? reply.template : TEN_VALUES };
    }
    case '/bots':
    case '/bots/{id}':
      if (field === 'pattern') return { trigger: 'regex', keywords: undefined };
      return { reply: REPLIES.find(([start]) => field.startsWith(start))?.[1] ?? { text: { text: 'Hello' } } };
    default:
      return {};
  }
}

/** The faulty fields of an answer, also of one row of a batch. */
const faultsOf = ({ body }: RestAnswer): string[] => [
  ...Object.keys(body?.error?.details ?? {}),
  ...(Array.isArray(body?.errors)
    ? body.errors.flatMap((row: { errors: object }) =>
        Object.keys(row.errors).flatMap(name => [`contacts.${name}`, `messages.${name}`]),
      )
    : Object.keys(body?.errors ?? {})),
];

it.each([
  ['v1', 60],
  ['v2', 200],
] as const)('the API of %s enforces every limit in its OpenAPI document', async (version, atLeast) => {
  const document = openApi(version);
  const accepted: string[] = [];
  let checked = 0;
  for (const [template, operations] of Object.entries(document.paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const media = requestBody?.content['application/json'];
      if (!media) continue;
      const path = template.replace('{id}', String(ids[template.split('/')[1] ?? '']));
      const { oneOf = [media.schema as Schema] } = media.schema as Schema;
      for (const option of oneOf)
        for (const [steps, schema] of limited(option)) {
          const field = steps.join('.');
          const { type: { const: type = undefined } = {} } = option.properties ?? {};
          const body = { ...(media.example as object), ...contextOf(template, field, type) };
          for (const value of invalidOf(field, schema)) {
            const answer = await clients[version](method.toUpperCase(), path, withField(body, steps, value));
            checked += 1;
            if (!faultsOf(answer).some(name => name.startsWith(field.replace(/\.0\..*/, ''))))
              accepted.push(
                `${method} ${template} ${field} ${JSON.stringify(value)?.slice(0, 40)}: ${answer.text.slice(0, 300)}`,
              );
          }
        }
    }
  expect(accepted).toEqual([]);
  expect(checked).toBeGreaterThan(atLeast);
});
