import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLInputObjectType, getNullableType, isInputObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, faultsOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone, seedOf } from '../support/seed.ts';

/** Null in a change clears a field, or is an error that names it; it is never ignored. Every change of every API is listed here. */

const printed = buildSchema(readFileSync('schema.graphql', 'utf8'));

/** What a change does, in place of values that it sets: null is no value of them. */
const NO_VALUES: ReadonlySet<string> = new Set([
  'idempotencyKey',
  'unchangedSince',
  'expectedAssigneeId',
  'expectedLastMessageId',
  'addTagIds',
  'removeTagIds',
  'groupNames',
]);

interface Change {
  /** The object of the mutation; its values are set before. */
  readonly input: () => object;
  /** Fields for which null is an error. */
  readonly refused: readonly string[];
  /** Fields that null clears, with what the selection shows then. */
  readonly cleared?: readonly string[];
  readonly shown?: readonly [selection: string, value: object];
  /** The field of the input that has the values, where it is not the input itself. */
  readonly below?: string;
}

let gateway: TestGateway;
let made: Readonly<Record<string, string>>;
beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      { name: 'notice', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'We have news.' }] },
    ],
  });
  dataOf(await gateway.graphql('mutation { syncTemplates(input: {}) { totalCount } }'));
  made = await makeAll();
});
afterAll(() => gateway.stop());

async function makeAll(): Promise<Record<string, string>> {
  const make = async (name: string, input: object, field: string): Promise<string> =>
    payloadOf(await gateway.mutate(name, input, `object: ${field} { databaseId }`)).object.databaseId;
  const group = await make('createContactGroup', { name: 'Group' }, 'contactGroup');
  const source = await make('createContactSource', { name: 'Source' }, 'contactSource');
  const status = await make('createContactStatus', { name: 'Status', color: '#112233' }, 'contactStatus');
  const staff = await make(
    'createStaffMember',
    { name: 'Eva', email: 'eva@example.com', role: 'AGENT' },
    'staffMember',
  );
  const contact = await make('createContact', { phone: newPhone() }, 'contact');
  const { id: writer } = await seedOf(gateway).contact();
  const sent = { to: { contactId: writer }, content: { text: { body: 'Hello' } } };
  const message = payloadOf(await gateway.mutate('sendMessage', sent, 'message { conversation { databaseId } }'));
  const channels = dataOf(await gateway.graphql('{ channels { nodes { databaseId } } }')).channels.nodes;
  const template = { name: 'notice', language: 'en' };
  const integration = payloadOf(
    await gateway.mutate(
      'createIntegration',
      {
        kind: 'GENERIC',
        name: 'Shop',
        defaultCountry: 'DE',
        mappings: [{ name: 'Orders', template, groupIds: [group], paths: { phone: ['only.phone'] } }],
      },
      'integration { databaseId mappings { databaseId } }',
    ),
  ).integration;
  return {
    group,
    source,
    status,
    staff,
    contact,
    conversation: message.message.conversation.databaseId,
    channel: channels[0].databaseId,
    integration: integration.databaseId,
    mapping: integration.mappings[0].databaseId,
    bot: await make('createBot', { name: 'Bot', trigger: 'ANY', reply: { text: { text: 'Hello' } } }, 'bot'),
    regex: await make(
      'createBot',
      { name: 'Regex', trigger: 'REGEX', pattern: 'a+', reply: { text: { text: 'Hello' } } },
      'bot',
    ),
    campaign: await make(
      'createCampaign',
      {
        name: 'News',
        template,
        audience: { groupIds: [group] },
        channelId: channels[0].databaseId,
        messagesPerSecond: 5,
        sendingHours: { start: '09:00', end: '18:00' },
        frequencyCap: { messages: 1, days: 1 },
        firstWave: 5,
      },
      'campaign',
    ),
    cannedReply: await make(
      'createCannedReply',
      { shortcut: 'hi', title: 'Hi', content: { text: { body: 'Hello' } } },
      'cannedReply',
    ),
    savedFilter: await make('createSavedFilter', { name: 'Leads', filter: { type: { eq: 'LEAD' } } }, 'savedFilter'),
    tag: await make('createTag', { name: 'VIP', color: '#112233' }, 'tag'),
    webhook: await make(
      'createWebhookEndpoint',
      {
        url: 'https://shop.example/hooks',
        events: ['contact.*'],
        description: 'Shop',
        headers: [{ name: 'X-Shop', value: 'one' }],
      },
      'webhookEndpoint',
    ),
  };
}

const id = (name: string) => () => ({ id: made[name] });

const TEXTS = ['email', 'company', 'description', 'address', 'city', 'state', 'zip', 'timeZone'];
const CONTACT = {
  refused: ['isOptedOut', 'type'],
  cleared: [...TEXTS, 'assigneeId', 'country', 'firstName', 'groupIds', 'lastName', 'sourceId', 'statusId'],
};
const CONTACT_SHOWN = [
  `contact { firstName lastName ${TEXTS.join(' ')} assignee { id } country { numericCode } groups { id } source { id } status { id } }`,
  {
    contact: {
      ...Object.fromEntries(TEXTS.map(name => [name, null])),
      firstName: null,
      lastName: null,
      assignee: null,
      country: null,
      groups: [],
      source: null,
      status: null,
    },
  },
] as const;
const filled = () => ({
  email: `${crypto.randomUUID()}@example.com`,
  company: 'Silva',
  description: 'Florist',
  address: 'Rua 1',
  city: 'Lisbon',
  state: 'Lisbon',
  zip: '1000',
  timeZone: 'Europe/Lisbon',
  country: 'PT',
  assigneeId: made['staff'],
  firstName: 'Ana',
  lastName: 'Silva',
  groupIds: [made['group']],
  sourceId: made['source'],
  statusId: made['status'],
});

const CHANGES: Readonly<Record<string, Change>> = {
  replaceContact: {
    input: () => ({ id: made['contact'], firstName: '', phone: newPhone(), type: 'LEAD' }),
    refused: ['isOptedOut'],
    cleared: CONTACT.cleared.filter(name => name !== 'firstName'),
    shown: CONTACT_SHOWN,
  },
  updateAccount: {
    input: () => ({}),
    refused: ['optInWords', 'optOutWords', 'optWordsByLanguage', 'timeZone', 'windowPolicy'],
    cleared: ['defaultAssigneeId', 'defaultCountry', 'defaultSourceId', 'defaultStatusId'],
    shown: [
      'account { settings { defaultAssignee { id } defaultCountry { numericCode } defaultSource { id } defaultStatus { id } } }',
      {
        account: {
          settings: { defaultAssignee: null, defaultCountry: null, defaultSource: null, defaultStatus: null },
        },
      },
    ],
  },
  updateBot: {
    input: id('bot'),
    refused: [
      'cooldownSeconds',
      'handOverMinutes',
      'isEnabled',
      'name',
      'othersMayAnswer',
      'priority',
      'reply',
      'trigger',
    ],
    cleared: ['keywords', 'pattern'],
    shown: ['bot { keywords pattern }', { bot: { keywords: [], pattern: null } }],
  },
  updateCampaign: {
    input: id('campaign'),
    refused: ['audience', 'firstWaveSeconds', 'maxFailurePercent', 'name', 'template'],
    cleared: ['channelId', 'firstWave', 'frequencyCap', 'messagesPerSecond', 'sendingHours'],
    shown: [
      'campaign { channel { id } firstWave frequencyCap { days } messagesPerSecond sendingHours { start } }',
      { campaign: { channel: null, firstWave: null, frequencyCap: null, messagesPerSecond: null, sendingHours: null } },
    ],
  },
  updateCannedReply: { input: id('cannedReply'), refused: ['content', 'shortcut', 'title'] },
  updateChannel: { input: id('channel'), refused: ['isDefault', 'messagesPerSecond', 'name', 'portfolioId'] },
  updateContact: {
    input: id('contact'),
    refused: [...CONTACT.refused, 'phone'],
    cleared: CONTACT.cleared,
    shown: CONTACT_SHOWN,
  },
  updateContactGroup: { input: id('group'), refused: ['name'] },
  updateContactSource: { input: id('source'), refused: ['name'] },
  updateContactStatus: { input: id('status'), refused: ['color', 'name'] },
  updateContacts: {
    input: () => ({ ids: [made['contact']] }),
    below: 'set',
    refused: [...CONTACT.refused, 'phone'],
    cleared: CONTACT.cleared,
    shown: [`results { ${CONTACT_SHOWN[0]} }`, { results: [CONTACT_SHOWN[1]] }],
  },
  updateConversation: {
    input: id('conversation'),
    refused: ['status'],
    cleared: ['assigneeId', 'snoozedUntil'],
    shown: ['conversation { assignee { id } snoozedUntil }', { conversation: { assignee: null, snoozedUntil: null } }],
  },
  updateConversations: {
    input: () => ({ target: { ids: [made['conversation']] } }),
    below: 'set',
    refused: ['status'],
    cleared: ['assigneeId', 'snoozedUntil'],
    shown: [
      'results { conversation { assignee { id } snoozedUntil } }',
      { results: [{ conversation: { assignee: null, snoozedUntil: null } }] },
    ],
  },
  updateIntegration: {
    input: id('integration'),
    refused: ['isEnabled', 'name', 'topicPath'],
    cleared: ['defaultCountry'],
    shown: ['integration { defaultCountry }', { integration: { defaultCountry: null } }],
  },
  updateIntegrationMapping: {
    input: id('mapping'),
    refused: ['isEnabled', 'name', 'statuses', 'topics'],
    cleared: ['groupIds', 'paths', 'template'],
    shown: [
      'integrationMapping { groups { id } paths { phone } template { name } }',
      {
        integrationMapping: {
          groups: [],
          paths: { phone: expect.not.arrayContaining(['only.phone']) },
          template: null,
        },
      },
    ],
  },
  updateNote: { input: () => ({}), refused: [] },
  updateSavedFilter: { input: id('savedFilter'), refused: ['filter', 'name'] },
  updateStaffMember: { input: id('staff'), refused: ['email', 'name', 'role'] },
  updateTag: { input: id('tag'), refused: ['color', 'name'] },
  updateWebhookEndpoint: {
    input: id('webhook'),
    refused: ['events', 'format', 'isEnabled', 'url'],
    cleared: ['description', 'headers'],
    shown: ['webhookEndpoint { description headerNames }', { webhookEndpoint: { description: null, headerNames: [] } }],
  },
};

const nulls = (fields: readonly string[]) => Object.fromEntries(fields.map(name => [name, null]));

const inputOf = (mutation: string): GraphQLInputObjectType => {
  const input = printed
    .getMutationType()
    ?.getFields()
    [mutation]?.args.find(({ name }) => name === 'input');
  const type = input && getNullableType(input.type);
  if (!isInputObjectType(type)) throw new Error(`${mutation} has no input.`);
  return type;
};

describe('in GraphQL', () => {
  test('every change of an object is listed, with each of its values that may be null', () => {
    const mutations = Object.keys(printed.getMutationType()?.getFields() ?? {});
    expect(mutations.filter(name => /^(update|replace)/.test(name)).sort()).toEqual(Object.keys(CHANGES).sort());
    for (const [name, { refused, cleared = [], below }] of Object.entries(CHANGES)) {
      const field = below === undefined ? undefined : inputOf(name).getFields()[below];
      const values = field ? (getNullableType(field.type) as GraphQLInputObjectType) : inputOf(name);
      const nullable = Object.values(values.getFields()).filter(
        one => getNullableType(one.type) === one.type && !NO_VALUES.has(one.name),
      );
      expect(nullable.map(one => one.name).sort(), name).toEqual([...refused, ...cleared].sort());
    }
  });

  const refusing = Object.entries(CHANGES).filter(([, { refused }]) => refused.length > 0);
  test.each(refusing)('%s names every field that null cannot clear', async (name, { input, refused, below }) => {
    const values = nulls(refused);
    const given = { ...input(), ...(below === undefined ? values : { [below]: values }) };
    const paths = refused.map(field => (below === undefined ? field : `${below}.${field}`));
    expect(Object.keys(faultsOf(await gateway.mutate(name, given))).sort()).toEqual(paths.sort());
  });

  const clearing = Object.entries(CHANGES).filter(([, { cleared }]) => cleared !== undefined);
  test.each(clearing)('%s clears all others', async (name, { input, cleared = [], shown, below }) => {
    if (name === 'updateContact' || name === 'replaceContact')
      dataOf(await gateway.mutate('updateContact', { id: made['contact'], ...filled() }));
    // An e-mail address cannot be set for several contacts.
    const { email: _email, ...others } = filled();
    if (name === 'updateContacts')
      dataOf(await gateway.mutate('updateContact', { id: made['contact'], email: null, ...others }));
    const values = nulls(cleared);
    const given = { ...input(), ...(below === undefined ? values : { [below]: values }) };
    const [selection = '', value] = shown ?? [];
    expect(payloadOf(await gateway.mutate(name, given, selection))).toMatchObject(value ?? {});
  });

  test('a bot cannot lose the pattern or the keywords that its trigger needs', async () => {
    const path = { id: made['regex'] };
    expect(faultsOf(await gateway.mutate('updateBot', { ...path, pattern: null }))).toHaveProperty('pattern');
    const exact = { ...path, trigger: 'EXACT', keywords: null };
    expect(faultsOf(await gateway.mutate('updateBot', exact))).toHaveProperty('keywords');
  });
});

describe('in REST', () => {
  const PATCHES: Readonly<Record<string, readonly [name: string, refused: readonly string[], cleared: object]>> = {
    '/contacts/{id}': [
      'contact',
      ['is_opted_out', 'phone', 'type'],
      {
        ...nulls(['address', 'assigned_id', 'city', 'company', 'country_id', 'description', 'email', 'source_id']),
        ...nulls(['state', 'status_id', 'time_zone', 'zip']),
        firstname: null,
        groups: [],
        lastname: null,
      },
    ],
    '/groups/{id}': ['group', ['name'], {}],
    '/sources/{id}': ['source', ['name'], {}],
    '/statuses/{id}': ['status', ['color', 'name'], {}],
    '/bots/{id}': [
      'bot',
      [
        'cooldown_seconds',
        'hand_over_minutes',
        'is_enabled',
        'name',
        'others_may_answer',
        'priority',
        'reply',
        'trigger',
      ],
      { keywords: [], pattern: null },
    ],
    '/webhooks/{id}': ['webhook', ['enabled', 'events', 'format', 'url'], { description: null, headers: [] }],
    '/campaigns/{id}': [
      'campaign',
      ['audience', 'first_wave_seconds', 'max_failure_percent', 'name', 'template'],
      nulls(['first_wave', 'frequency_cap', 'messages_per_second', 'sending_hours']),
    ],
  };

  test('every PATCH is listed', async () => {
    const document = (await (await fetch(`${gateway.url}/api/v2/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const paths = Object.entries(document.paths).flatMap(([path, methods]) => ('patch' in methods ? path : []));
    expect(paths.sort()).toEqual(Object.keys(PATCHES).sort());
  });

  const rows = Object.entries(PATCHES);
  test.each(rows)('PATCH %s names every field that null cannot clear', async (path, [name, refused]) => {
    const response = await gateway.rest('PATCH', path.replace('{id}', made[name] ?? ''), nulls(refused));
    const { error } = (await response.json()) as { error: { details: object } };
    expect([response.status, Object.keys(error.details).sort()]).toEqual([422, refused]);
  });

  test.each(rows)('PATCH %s clears all others', async (path, [name, _refused, cleared]) => {
    const response = await gateway.rest('PATCH', path.replace('{id}', made[name] ?? ''), nulls(Object.keys(cleared)));
    const { data } = (await response.json()) as { data: object };
    expect(response.status).toBe(200);
    expect(data).toMatchObject(cleared);
  });

  test('version 1 keeps the color of a status that a client sends as null', async () => {
    const body = { name: 'Kept', color: null };
    const base = { version: 'v1', tenant: gateway.tenant.slug } as const;
    const response = await gateway.rest('PUT', `/statuses/${made['status']}`, body, {}, base);
    expect([response.status, await response.json()]).toMatchObject([200, { data: { color: '#112233' } }]);
  });
});
