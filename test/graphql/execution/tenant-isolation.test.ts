import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import {
  eventually,
  type GraphQLAnswer,
  startGateway,
  type TestGateway,
  type TestTenant,
} from '../../support/gateway.ts';
import { TENANT_TABLES } from '../../support/statements.ts';
import { FILTERS, PLACES } from './id-places.ts';
import { documentOf, idPaths, leastVariables, NODE_TYPES, ROOT_FIELDS } from './operations.ts';

/**
 * Nothing of another tenant can be seen, changed or told apart from what does not exist, whatever argument its id is put
 * into. The places come from the schema: one that no test knows fails the first test.
 */

const places = ROOT_FIELDS.flatMap(root =>
  idPaths(root).map(path => ({ root, path, key: `${root.operation} ${root.name} ${path}` })),
);
const inFilters = places.filter(({ path }) => path.startsWith('filter.'));
const elsewhere = places.filter(({ path }) => !path.startsWith('filter.'));

let gateway: TestGateway;
let other: TestTenant;
/** Ids of the other tenant's rows by type. */
const theirs = new Map<string, string>();
/** Ids of our own rows, for what an id stands beside. */
const ours = new Map<string, string>();
const nobodys = (type: string): string =>
  ['IntegrationDelivery', 'Media', 'Message', 'WebhookDelivery'].includes(type)
    ? '01890000-0000-7000-8000-000000000000'
    : '987654321';

beforeAll(async () => {
  gateway = await startGateway({ resolveName: async () => [] });
  // Ids that stand for nothing else in an answer, so that they can be told from a line or a count.
  for (const [index, table] of [
    'contacts',
    'groups',
    'sources',
    'statuses',
    'staff',
    'channels',
    'access_tokens',
    'conversations',
    'templates',
    'webhook_endpoints',
    'integrations',
    'integration_mappings',
    'bots',
  ].entries()) {
    await gateway.database.query(`alter table ${table} alter id restart with ${71_000_000 + index * 1_111_111}`);
  }
  other = await gateway.addTenant();
  const ask = async (document: string, variables = {}) =>
    dataOf(await gateway.graphql(document, variables, other.token));
  const contact = (await ask('mutation { createContact(input: { phone: "+4915199990001" }) { databaseId } }'))
    .createContact.databaseId;
  theirs.set('Contact', String(contact));
  for (const type of ['Group', 'Source', 'Status'])
    theirs.set(
      type,
      String(
        (await ask(`mutation { label: create${type}(input: { name: "Theirs" }) { databaseId } }`)).label.databaseId,
      ),
    );
  const [staff] = await gateway.database.query<{ id: string }>(
    "insert into staff (tenant_id, name, email) values ($1, 'Theirs', 'theirs@example.com') returning id",
    [other.id],
  );
  const template = { name: 'theirs', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'Hi' }] };
  const create = 'mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { databaseId } }';
  theirs.set('Template', String((await ask(create, { input: template })).createTemplate.databaseId));
  // Until the network has reviewed it, the row changes by itself.
  await eventually(async () =>
    expect((await ask('{ templates { nodes { status } } }')).templates.nodes).toEqual([{ status: 'APPROVED' }]),
  );
  const integrate = `mutation { createIntegration(input: { kind: GENERIC, name: "Shop", secret: "01234567", mappings: [{ name: "Orders" }] }) {
    integration { databaseId path mappings { databaseId } } } }`;
  for (const [rows, token] of [
    [theirs, other.token],
    [ours, gateway.tenant.token],
  ] as const) {
    const { integration } = dataOf(await gateway.graphql(integrate, {}, token)).createIntegration;
    rows.set('Integration', String(integration.databaseId));
    rows.set('IntegrationMapping', String(integration.mappings[0].databaseId));
    if (rows === theirs)
      await fetch(`${gateway.url}${integration.path}`, {
        method: 'POST',
        headers: { 'x-parley-secret': '01234567' },
        body: '{}',
      });
  }
  const received = await eventually(async () => {
    const [first] = (await ask('{ integrationDeliveries { nodes { databaseId outcome } } }')).integrationDeliveries
      .nodes;
    expect(first.outcome).toBe('REFUSED');
    return first;
  });
  theirs.set('IntegrationDelivery', received.databaseId);
  const bot =
    'mutation { createBot(input: { name: "Theirs", trigger: ANY, isEnabled: false, reply: { text: { text: "x" } } }) { databaseId } }';
  theirs.set('Bot', String((await ask(bot)).createBot.databaseId));
  const upload = 'mutation { createMediaUpload(input: {}) { media { databaseId } } }';
  theirs.set('Media', (await ask(upload)).createMediaUpload.media.databaseId);
  const hook =
    'mutation { createWebhookEndpoint(input: { url: "https://hooks.invalid/", events: ["group.*"] }) { endpoint { databaseId } } }';
  const endpoint = String((await ask(hook)).createWebhookEndpoint.endpoint.databaseId);
  theirs.set('WebhookEndpoint', endpoint);
  // Nothing answers at that name: the sample fails at once, and its delivery stays as it is.
  const sample = 'mutation ($id: ID!) { testWebhookEndpoint(id: $id) { delivery { databaseId } } }';
  theirs.set('WebhookDelivery', (await ask(sample, { id: endpoint })).testWebhookEndpoint.delivery.databaseId);
  theirs.set('Account', String(other.id));
  theirs.set('StaffMember', String(staff?.id));
  theirs.set('Channel', String((await ask('{ channels { databaseId } }')).channels[0].databaseId));
  theirs.set('AccessToken', String((await ask('{ accessTokens { databaseId } }')).accessTokens[0].databaseId));
  gateway.emulator.inbound({ from: '+4915199990001', text: 'Hi', phoneNumberId: other.phoneNumberId });
  const message = await eventually(async () => {
    const [first] = (await ask('{ messages { nodes { databaseId conversationId } } }')).messages.nodes;
    expect(first).toBeDefined();
    return first;
  });
  theirs.set('Message', message.databaseId);
  theirs.set('Conversation', String(message.conversationId));
});
afterAll(() => gateway.stop());

/** What changes by itself, whoever asks. */
const MOVING = ['inbound_webhooks', 'lanes', 'template_syncs'];

/** What the other tenant has, all of it. */
async function belongings(): Promise<unknown> {
  const rows = TENANT_TABLES.filter(table => !MOVING.includes(table)).map(
    table => `select '${table}' as name, t::text as row from ${table} t where tenant_id = $1`,
  );
  return gateway.database.query(`${rows.join(' union all ')} order by 1, 2`, [other.id]);
}

/** Puts an id where a path points, beside the least that the field requires. */
function withId(
  root: (typeof places)[number]['root'],
  path: string,
  id: string,
  type: string,
): Record<string, unknown> {
  const own = nobodys(type);
  const variables: Record<string, unknown> = structuredClone(leastVariables(root, own));
  const names = path.split('.');
  let at = variables;
  for (const name of names.slice(0, -1)) {
    at[name] ??= {};
    at = (Array.isArray(at[name]) ? at[name][0] : at[name]) as Record<string, unknown>;
  }
  const last = names.at(-1) ?? '';
  at[last] = last.toLowerCase().endsWith('ids') ? [id] : id;
  const input = variables['input'] as Record<string, unknown> | undefined;
  // What would be refused before the id is looked at is made good.
  if (input && 'to' in input) Object.assign(input, { to: '+4915188880001', ...('text' in input && { text: 'x' }) });
  if (root.name.includes('Integration')) stand(root, path, variables);
  if (root.name === 'sendMediaMessage' && last !== 'mediaId')
    Object.assign(input ?? {}, { link: 'https://example.com/a' });
  if (input && 'phone' in input) input['phone'] = '+4915188880002';
  if (Array.isArray(input?.['contacts'])) Object.assign(input['contacts'][0], { phone: '+4915188880003' });
  return variables;
}

/** What an id stands beside in the mutations of integrations: rows of our own, so that it is the id that is looked at. */
function stand(root: (typeof places)[number]['root'], path: string, variables: Record<string, unknown>): void {
  const input = (variables['input'] ?? {}) as Record<string, unknown>;
  if (path !== 'id' && 'id' in variables)
    variables['id'] = ours.get(root.name.endsWith('Mapping') ? 'IntegrationMapping' : 'Integration');
  if (path !== 'integrationId' && 'integrationId' in variables) variables['integrationId'] = ours.get('Integration');
  if (path !== 'input.integrationId' && 'integrationId' in input) input['integrationId'] = ours.get('Integration');
  const mapping = (root.name === 'createIntegration' ? input['mappings'] : input) as
    | Record<string, unknown>
    | undefined;
  if (mapping && root.name === 'createIntegration') mapping['name'] = 'Orders';
  if (mapping?.['template']) Object.assign(mapping['template'], { name: 'x', language: 'en' });
}

/** An answer without the ids in it. */
/** All of an answer but what it cost: what is left sinks with every call. */
const words = ({ data, errors }: GraphQLAnswer, ...ids: string[]): string =>
  ids.reduce((text, id) => text.replaceAll(id, 'ID'), JSON.stringify({ data, errors }));

test('every id argument and input field of the schema is covered', () => {
  expect(elsewhere.map(({ key }) => key).sort()).toEqual(Object.keys(PLACES).sort());
  for (const { path } of inFilters)
    expect(path).toMatch(new RegExp(`^filter\\.(id|${Object.keys(FILTERS).join('|')})\\.\\w+$`));
  expect([...theirs.keys()].sort()).toEqual([...NODE_TYPES, 'Conversation'].sort());
});

describe("another tenant's id gives the same response as an unknown id, and changes nothing", () => {
  const cases = elsewhere
    .filter(({ key }) => PLACES[key] !== '*')
    .flatMap(place => (['numeric', 'global'] as const).map(form => [`${place.key} (${form})`, place, form] as const));
  test.each(cases)('%s', async (_name, { root, path, key }, form) => {
    const type = PLACES[key] ?? '';
    const written = (id: string): string => (form === 'global' ? encodeGlobalId(type, id) : id);
    const [foreign, unknown] = [theirs.get(type) ?? '', nobodys(type)];
    const before = await belongings();
    const mine = await contactRows();
    const document = documentOf(root, [path.split('.')[0] ?? '']);
    const first = await gateway.graphql(document, withId(root, path, written(foreign), type));
    const second = await gateway.graphql(document, withId(root, path, written(unknown), type));
    expect(words(first, written(foreign), foreign)).toBe(words(second, written(unknown), unknown));
    if (path === 'id') expect(codeOf(first)).toBe('NOT_FOUND');
    expect(await belongings()).toEqual(before);
    if (root.operation === 'mutation') expect(await contactRows()).toEqual(mine);
  });
});

async function contactRows(): Promise<unknown> {
  return gateway.database.query(
    'select (select count(*) from contacts where tenant_id = $1) c, (select count(*) from contact_groups where tenant_id = $1) g, (select count(*) from messages where tenant_id = $1) m',
    [gateway.tenant.id],
  );
}

test.each(NODE_TYPES)("node(id) of another tenant's %s is not found, with the same message", async type => {
  const ask = (id: string, token?: string) =>
    gateway.graphql('query ($id: ID!) { node(id: $id) { id __typename } }', { id: encodeGlobalId(type, id) }, token);
  expect(dataOf(await ask(theirs.get(type) ?? '', other.token)).node.__typename).toBe(type);
  const foreign = await ask(theirs.get(type) ?? '');
  expect(foreign.errors).toEqual((await ask(nobodys(type))).errors);
  expect(codeOf(foreign)).toBe('NOT_FOUND');
});

test.each([
  '',
  'x',
  '%%%',
  '0',
  'Contact',
  encodeGlobalId('Contact', 'abc'),
  encodeGlobalId('Contact', '1.5'),
  encodeGlobalId('Contact', '-1'),
  encodeGlobalId('Contact', '9'.repeat(20)),
  encodeGlobalId('Message', 'abc'),
  encodeGlobalId('Query', '1'),
  encodeGlobalId('String', '1'),
  encodeGlobalId('PageInfo', '1'),
  encodeGlobalId('Event', '1'),
  encodeGlobalId('constructor', '1'),
  encodeGlobalId('Nobody', '1'),
  'x'.repeat(100_000),
])('a malformed id (%#) is NOT_FOUND for every field', async id => {
  expect(codeOf(await gateway.graphql('query ($id: ID!) { node(id: $id) { id } }', { id }))).toBe('NOT_FOUND');
  for (const { root, path, key } of elsewhere.filter(place => place.path === 'id' && PLACES[place.key] !== '*')) {
    expect(codeOf(await gateway.graphql(documentOf(root), withId(root, path, id, PLACES[key] ?? ''))), key).toBe(
      'NOT_FOUND',
    );
  }
});

describe("a filter by another tenant's id matches nothing", () => {
  const lists = [...new Set(inFilters.map(({ root }) => root))];
  test.each(lists.map(root => [root.name, root] as const))('%s', async (_name, root) => {
    const type =
      {
        contacts: 'Contact',
        integrationDeliveries: 'IntegrationDelivery',
        groups: 'Group',
        sources: 'Source',
        statuses: 'Status',
        messages: 'Message',
      }[root.name] ?? '';
    const fields = [
      ...new Set(inFilters.filter(place => place.root === root).map(({ path }) => path.split('.')[1] ?? '')),
    ];
    const document = `query ($filter: ${type}Filter) { ${root.name}(filter: $filter) { totalCount nodes { id } } }`;
    for (const field of fields) {
      const id = theirs.get(field === 'id' ? type : (FILTERS[field] ?? '')) ?? '';
      for (const operators of [{ eq: id }, { in: [id] }, { between: [id, id] }, { gte: id, lte: id }]) {
        expect(dataOf(await gateway.graphql(document, { filter: { [field]: operators } }))[root.name], field).toEqual({
          totalCount: 0,
          nodes: [],
        });
      }
    }
  });
});

test("another tenant's contact cannot be written to by its global id", async () => {
  const send = (id: string) =>
    gateway.graphql('mutation ($to: String!) { sendTextMessage(input: { to: $to, text: "x" }) { id } }', {
      to: encodeGlobalId('Contact', id),
    });
  const foreign = await send(theirs.get('Contact') ?? '');
  expect(foreign.errors).toEqual((await send(nobodys('Contact'))).errors);
  expect(codeOf(foreign)).toBe('NOT_FOUND');
});

test('no list contains a row of another tenant, also with a cursor of that tenant', async () => {
  for (const list of [
    'bots',
    'contacts',
    'groups',
    'sources',
    'statuses',
    'messages',
    'templates',
    'integrations',
    'integrationDeliveries',
  ]) {
    const own = list === 'integrations' ? [{ id: encodeGlobalId('Integration', ours.get('Integration') ?? '') }] : [];
    expect(dataOf(await gateway.graphql(`{ ${list} { totalCount nodes { id } } }`))[list]).toEqual({
      totalCount: own.length,
      nodes: own,
    });
    const { [list]: page } = dataOf(
      await gateway.graphql(
        `{ ${list}(orderBy: [{ field: ID, direction: DESC }]) { pageInfo { endCursor } } }`,
        {},
        other.token,
      ),
    );
    expect(page.pageInfo.endCursor).not.toBeNull();
    const after = await gateway.graphql(
      `query ($after: String) { ${list}(orderBy: [{ field: ID, direction: DESC }], after: $after) { nodes { id } } }`,
      { after: page.pageInfo.endCursor },
    );
    expect(dataOf(after)[list].nodes).toEqual([]);
  }
});
