import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf, payloadOf } from '../../support/answers.ts';
import {
  eventually,
  type GraphQLAnswer,
  startGateway,
  type TestGateway,
  type TestTenant,
} from '../../support/gateway.ts';
import { seedOf } from '../../support/seed.ts';
import { TENANT_TABLES } from '../../support/statements.ts';
import { completeCampaign, insertCampaign } from './campaign-rows.ts';
import { insertEvents } from './events-of-all-types.ts';
import { FACETS, FILTERS, LISTS, PLACES, UUIDS } from './id-places.ts';
import { insertIntegrations } from './integration-rows.ts';
import { documentOf, idPaths, leastVariables, NODE_TYPES, ROOT_FIELDS, type RootField } from './operations.ts';
import { insertPrice } from './price-rows.ts';
import { completeContent, completeIntegration, completeSend } from './required-inputs.ts';

/**
 * Objects of another tenant cannot be seen, changed or distinguished from missing ones, in whatever argument their id is
 * passed. The arguments come from the schema: an argument without a test fails the first test.
 */

const places = ROOT_FIELDS.flatMap(root =>
  idPaths(root).map(path => ({ root, path, key: `${root.operation} ${root.name} ${path}` })),
);
const inFilters = places.filter(({ path }) => path.startsWith('filter.'));
// A filter inside an input has the fields of its list.
const elsewhere = places.filter(({ path }) => !/(^|\.)(filter|resource\.\w+)\./.test(path));

let gateway: TestGateway;
let other: TestTenant;
/** Ids of the other tenant's rows by type. */
const theirs = new Map<string, string>();
/** Ids of our tenant's rows, for inputs other than the tested id. */
const ours = new Map<string, string>();
const nobodys = (type: string): string => (UUIDS.includes(type) ? '01890000-0000-7000-8000-000000000000' : '987654321');

beforeAll(async () => {
  gateway = await startGateway({ resolveName: async () => [] });
  // Ids that occur as no other number in a response, such as a line or a count.
  for (const [index, table] of [
    ...['contacts', 'groups', 'sources', 'statuses', 'staff', 'campaigns', 'campaign_lists'],
    ...['channels', 'access_tokens', 'conversations', 'tags', 'notes'],
    'templates',
    'webhook_endpoints',
    'integrations',
    'integration_mappings',
    'bots',
    'trusted_documents',
  ].entries()) {
    await gateway.database.query(`alter table ${table} alter id restart with ${71_000_000 + index * 1_111_111}`);
  }
  other = await gateway.addTenant();
  const ask = async (document: string, variables = {}) =>
    dataOf(await gateway.graphql(document, variables, other.token));
  const contact = (
    await ask('mutation { createContact(input: { phone: "+4915199990001" }) { contact { databaseId } } }')
  ).createContact.contact.databaseId;
  theirs.set('Contact', String(contact));
  for (const type of ['Group', 'Source', 'Status'] as const)
    theirs.set(`Contact${type}`, String(await seedOf(gateway, other).label(type)));
  const said = { contactId: contact, category: 'ALL', state: 'OPTED_IN' };
  const { consentEntry } = payloadOf(
    await gateway.mutate('recordConsent', said, 'consentEntry { databaseId }', other.token),
  );
  theirs.set('ConsentEntry', consentEntry.databaseId);
  const { id: erased } = await seedOf(gateway, other).contact();
  const { erasureReceipt } = payloadOf(
    await gateway.mutate('eraseContact', { id: erased }, 'erasureReceipt { databaseId }', other.token),
  );
  theirs.set('ErasureReceipt', erasureReceipt.databaseId);
  const [staff] = await gateway.database.query<{ id: string }>(
    "insert into staff (tenant_id, name, email) values ($1, 'Theirs', 'theirs@example.com') returning id",
    [other.id],
  );
  const { tag } = (await ask('mutation { createTag(input: { name: "Theirs" }) { tag { databaseId } } }')).createTag;
  theirs.set('Tag', tag.databaseId);
  const canned = { shortcut: 'theirs', title: 'Theirs', content: { text: { body: 'Theirs' } } };
  const { cannedReply } = payloadOf(
    await gateway.mutate('createCannedReply', canned, 'cannedReply { databaseId }', other.token),
  );
  theirs.set('CannedReply', cannedReply.databaseId);
  const saved = { name: 'Theirs', filter: { company: { like: 'theirs' } } };
  const { savedFilter } = payloadOf(
    await gateway.mutate('createSavedFilter', saved, 'savedFilter { databaseId }', other.token),
  );
  theirs.set('SavedFilter', savedFilter.databaseId);
  const noted = `mutation { createNote(input: { contactId: "${contact}", body: "Theirs" }) { note { databaseId } } }`;
  theirs.set('Note', (await ask(noted)).createNote.note.databaseId);
  const template = { name: 'theirs', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'Hi' }] };
  const create =
    'mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { template { databaseId } } }';
  theirs.set('Template', String((await ask(create, { input: template })).createTemplate.template.databaseId));
  // Until the network has reviewed it, the row changes by itself.
  await eventually(async () =>
    expect((await ask('{ templates { nodes { status } } }')).templates.nodes).toEqual([{ status: 'APPROVED' }]),
  );
  for (const [type, id] of await insertCampaign(gateway, other, String(contact))) theirs.set(type, id);
  await insertIntegrations(gateway, other, theirs, ours);
  const bot =
    'mutation { createBot(input: { name: "Theirs", trigger: ANY, isEnabled: false, reply: { text: { text: "x" } } }) { bot { databaseId } } }';
  theirs.set('Bot', String((await ask(bot)).createBot.bot.databaseId));
  const upload = 'mutation { createMediaUpload(input: {}) { media { databaseId } } }';
  theirs.set('Media', (await ask(upload)).createMediaUpload.media.databaseId);
  const hook =
    'mutation { createWebhookEndpoint(input: { url: "https://hooks.invalid/", events: ["otp.verified"] }) { webhookEndpoint { databaseId } } }';
  const endpoint = String((await ask(hook)).createWebhookEndpoint.webhookEndpoint.databaseId);
  theirs.set('WebhookEndpoint', endpoint);
  // Nothing answers at that name: the sample fails at once, and its delivery stays as it is.
  const sample = 'mutation ($id: ID!) { testWebhookEndpoint(input: { id: $id }) { webhookDelivery { databaseId } } }';
  theirs.set('WebhookDelivery', (await ask(sample, { id: endpoint })).testWebhookEndpoint.webhookDelivery.databaseId);
  theirs.set('Otp', '01890000-0000-7000-8000-0000000000cd');
  await gateway.database.query(
    `insert into otps (tenant_id, id, phone, phone_key, purpose, template_name, language, mac, state, expiry_minutes, expires_at, created_at, message_id, hour)
     values ($1, $2, '+4915199990009', '4915199990009', 'login', 'x', 'en', sha256(''), 'verified', 10, now() + interval '10 minutes', now(), $2, now())`,
    [other.id, theirs.get('Otp')],
  );
  const publish =
    'mutation { publishDocuments(input: { documents: ["{ viewer { scopes } }"] }) { trustedDocuments { databaseId } } }';
  theirs.set('TrustedDocument', (await ask(publish)).publishDocuments.trustedDocuments[0].databaseId);
  const exporting =
    'mutation { createExport(input: { resource: { messages: { status: { eq: FAILED } } } }) { export { databaseId } } }';
  theirs.set('Export', (await ask(exporting)).createExport.export.databaseId);
  await eventually(async () =>
    expect((await ask('{ exports { nodes { state } } }')).exports.nodes).toEqual([{ state: 'COMPLETED' }]),
  );
  theirs.set('Account', String(other.id));
  theirs.set('StaffMember', String(staff?.id));
  theirs.set('Channel', String((await ask('{ channels { nodes { databaseId } } }')).channels.nodes[0].databaseId));
  theirs.set(
    'AccessToken',
    String((await ask('{ accessTokens { nodes { databaseId } } }')).accessTokens.nodes[0].databaseId),
  );
  gateway.emulator.inbound({ from: '+4915199990001', text: 'Hi', phoneNumberId: other.phoneNumberId });
  const message = await eventually(async () => {
    const [first] = (await ask('{ messages { nodes { databaseId conversationId } } }')).messages.nodes;
    expect(first).toBeDefined();
    return first;
  });
  theirs.set('Message', message.databaseId);
  theirs.set('CostEntry', await insertPrice(gateway, other, message.databaseId));
  theirs.set('Conversation', String(message.conversationId));
  gateway.emulator.inbound({ from: '+4915199990001', text: 'Hi', groupId: 'G1', phoneNumberId: other.phoneNumberId });
  const novelty = { field: 'novelty', value: {}, phoneNumberId: other.phoneNumberId };
  await fetch(`${gateway.emulator.url}/_emulator/changes`, { method: 'POST', body: JSON.stringify(novelty) });
  for (const [type, list] of [
    ['GroupChat', 'groupChats'],
    ['NetworkChange', 'networkChanges'],
  ] as const)
    theirs.set(
      type,
      await eventually(async () => (await ask(`{ ${list} { nodes { databaseId } } }`))[list].nodes[0].databaseId),
    );
  const [job] = await gateway.database.query<{ id: string }>(
    "insert into conversation_jobs (tenant_id, filter, change, matched_count, max_id, finished_at) values ($1, '{}', '{}', 0, 0, now()) returning id",
    [other.id],
  );
  theirs.set('ConversationJob', String(job?.id));
  for (const [type, id] of await insertEvents(gateway, other)) theirs.set(type, id);
});
afterAll(() => gateway.stop());

/** What changes by itself, for every caller. */
const MOVING = /^(channel_health|inbound_webhooks|lanes|template_syncs|(message|delivery)_statistics(_pending)?)$/;

/** All rows of the other tenant, except the last uses of its tokens, which are written a minute late. */
async function belongings(): Promise<unknown> {
  const rows = TENANT_TABLES.filter(table => !MOVING.test(table)).map(
    table =>
      `select '${table}' as name, (to_jsonb(t) - 'last_used_at')::text as row from ${table} t where tenant_id = $1`,
  );
  return gateway.database.query(`${rows.join(' union all ')} order by 1, 2`, [other.id]);
}

/** The variables of a root field with an id at the given path, and the other inputs that the field requires. */
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
  // Completes inputs that would be refused before the id is read.
  if (path.startsWith('input.staffMember.')) Object.assign(input ?? {}, { staffMember: { id } });
  if (input && 'to' in input) completeSend(path, input);
  else if (path.startsWith('input.content.')) completeContent(path, input ?? {});
  if (root.name.includes('Campaign') && input) completeCampaign(path, input);
  if (root.name.includes('Integration')) completeIntegration(root, path, variables, ours);
  if (input && 'phone' in input) input['phone'] = '+4915188880002';
  const [message] = (input?.['messages'] as Record<string, unknown>[] | undefined) ?? [];
  if (message) completeSend(path.replace('input.messages.', 'input.'), message);
  if (Array.isArray(input?.['contacts'])) Object.assign(input['contacts'][0], { phone: '+4915188880003' });
  return variables;
}

/** A response without its ids and its cost, because the remaining quota decreases with every call. */
const words = ({ data, errors }: GraphQLAnswer, ...ids: string[]): string =>
  ids.reduce((text, id) => text.replaceAll(id, 'ID'), JSON.stringify({ data, errors }));

test('every id argument and input field of the schema is covered', () => {
  expect(elsewhere.map(({ key }) => key).sort()).toEqual(Object.keys(PLACES).sort());
  const [columns, facets] = [Object.keys(FILTERS).join('|'), Object.keys(FACETS).join('|')];
  for (const { path, root } of inFilters)
    expect(path).toMatch(
      new RegExp(root.name === 'events' ? `^filter\\.(${facets})$` : `^filter\\.(contact\\.)?(id|${columns})\\.\\w+$`),
    );
  expect([...theirs.keys()].sort()).toEqual([...NODE_TYPES].sort());
});

describe("another tenant's id gives the same response as an unknown id, and changes nothing", () => {
  const cases = elsewhere
    .filter(({ key }) => PLACES[key] !== '*')
    .flatMap(place =>
      (['numeric', 'global', 'global of the other account'] as const).map(
        form => [`${place.key} (${form})`, place, form] as const,
      ),
    );
  test.each(cases)('%s', async (_name, { root, path, key }, form) => {
    const type = PLACES[key] ?? '';
    const written = (id: string): string =>
      form === 'numeric' ? id : encodeGlobalId(type, form === 'global' ? gateway.tenant.id : other.id, id);
    const [foreign, unknown] = [theirs.get(type) ?? '', nobodys(type)];
    const before = await belongings();
    const mine = await contactRows();
    const document = documentOf(root, [path.split('.')[0] ?? '']);
    const first = await gateway.graphql(document, withId(root, path, written(foreign), type));
    const second = await gateway.graphql(document, withId(root, path, written(unknown), type));
    expect(words(first, written(foreign), foreign)).toBe(words(second, written(unknown), unknown));
    if (isOwnId(path)) expectNothing(root, first);
    expect(await belongings()).toEqual(before);
    if (root.operation === 'mutation') expect(await contactRows()).toEqual(mine);
  });
});

test.each(elsewhere.filter(({ key }) => PLACES[key] !== '*').map(place => [place.key, place] as const))(
  '%s takes a global id as it takes the bare key',
  async (_name, { root, path, key }) => {
    const type = PLACES[key] ?? '';
    const id = nobodys(type);
    const globalId = encodeGlobalId(type, gateway.tenant.id, id);
    const document = documentOf(root, [path.split('.')[0] ?? '']);
    const [bare, global] = [
      await gateway.graphql(document, withId(root, path, id, type)),
      await gateway.graphql(document, withId(root, path, globalId, type)),
    ];
    expect(words(global, globalId, id)).toBe(words(bare, id));
  },
);

/** Whether the id is that of the field's own object. */
const isOwnId = (path: string): boolean => path === 'id' || path === 'input.id';

/** A missing object is null in a query, and NOT_FOUND in a mutation and in a query that answers as one. */
function expectNothing({ operation, name }: Pick<RootField, 'operation' | 'name'>, answer: GraphQLAnswer): void {
  const isPayload = answer.data?.[name]?.userErrors !== undefined;
  if (operation === 'query' && answer.errors === undefined && !isPayload)
    expect(answer.data, name).toEqual({ [name]: null });
  else expect(codeOf(answer), name).toBe('NOT_FOUND');
}

async function contactRows(): Promise<unknown> {
  return gateway.database.query(
    'select (select count(*) from contacts where tenant_id = $1) c, (select count(*) from contact_groups where tenant_id = $1) g, (select count(*) from messages where tenant_id = $1) m',
    [gateway.tenant.id],
  );
}

test.each(NODE_TYPES)("node(id) of another tenant's %s is null, as an unknown id is", async type => {
  const ask = (id: string, tenantId: number, token?: string) =>
    gateway.graphql(
      'query ($id: ID!) { node(id: $id) { id __typename } }',
      { id: encodeGlobalId(type, tenantId, id) },
      token,
    );
  expect(dataOf(await ask(theirs.get(type) ?? '', other.id, other.token)).node.__typename).toBe(type);
  for (const answer of [
    await ask(theirs.get(type) ?? '', gateway.tenant.id),
    await ask(theirs.get(type) ?? '', other.id),
    await ask(nobodys(type), gateway.tenant.id),
  ])
    expect(answer).toEqual({ data: { node: null } });
});

test.each([
  '',
  'x',
  '%%%',
  '0',
  'Contact',
  encodeGlobalId('Contact', 1, 'abc'),
  encodeGlobalId('Contact', 1, '1.5'),
  encodeGlobalId('Contact', 1, '-1'),
  encodeGlobalId('Contact', 1, '9'.repeat(20)),
  encodeGlobalId('Message', 1, 'abc'),
  encodeGlobalId('Query', 1, '1'),
  encodeGlobalId('String', 1, '1'),
  encodeGlobalId('PageInfo', 1, '1'),
  encodeGlobalId('Event', 1, '1'),
  encodeGlobalId('constructor', 1, '1'),
  encodeGlobalId('Nobody', 1, '1'),
  'x'.repeat(100_000),
])('a malformed id (%#) finds nothing, in every field', async id => {
  expectNothing(
    { operation: 'query', name: 'node' },
    await gateway.graphql('query ($id: ID!) { node(id: $id) { id } }', { id }),
  );
  const { nodes } = dataOf(await gateway.graphql('query ($id: ID!) { nodes(ids: [$id]) { id } }', { id }));
  expect(nodes).toEqual([null]);
  for (const { root, path, key } of elsewhere.filter(place => isOwnId(place.path) && PLACES[place.key] !== '*'))
    expectNothing(root, await gateway.graphql(documentOf(root), withId(root, path, id, PLACES[key] ?? '')));
});

describe("a filter by another tenant's id matches nothing", () => {
  // Counts and statistics take the filter of a list, and have no rows.
  const lists = [...new Set(inFilters.map(({ root }) => root))].filter(
    ({ name, field }) => getNamedType(field.type).name.endsWith('Connection') && name !== 'events',
  );
  test.each(lists.map(root => [root.name, root] as const))('%s', async (_name, root) => {
    const type = LISTS[root.name] ?? '';
    const fields = [
      ...new Set(
        inFilters.filter(place => place.root === root).map(({ path }) => path.split('.').slice(1, -1).join('.')),
      ),
    ];
    const [args, selection, nothing] =
      root.name === 'messageStatistics'
        ? ['since: "2020-01-01T00:00:00Z", ', 'total series { count }', { total: 0, series: [] }]
        : ['', 'totalCount nodes { id }', { totalCount: 0, nodes: [] }];
    const document = `query ($filter: ${type}Filter) { ${root.name}(${args}filter: $filter) { ${selection} } }`;
    for (const field of fields) {
      const [name = '', outer] = field.split('.').reverse();
      const id = theirs.get(name === 'id' ? (outer ? 'Contact' : type) : (FILTERS[name] ?? '')) ?? '';
      const conditions = (operators: object) => (outer ? { [outer]: { [name]: operators } } : { [name]: operators });
      for (const operators of [{ eq: id }, { in: [id] }, { between: [id, id] }, { gte: id, lte: id }]) {
        const answer = await gateway.graphql(document, { filter: conditions(operators) });
        expect(dataOf(answer)[root.name], field).toEqual(nothing);
      }
    }
  });
});

test.each(Object.entries(FACETS))("events by another tenant's %s are none", async (facet, type) => {
  const document = 'query ($filter: EventFilter) { events(first: 10, filter: $filter) { nodes { __typename } } }';
  expect(dataOf(await gateway.graphql(document, { filter: { [facet]: [theirs.get(type)] } })).events.nodes).toEqual([]);
});

test("another tenant's contact cannot be written to by its global id", async () => {
  const send = (id: string) =>
    gateway.graphql(
      'mutation ($to: ID!) { sendMessage(input: { to: { contactId: $to }, content: { text: { body: "x" } } }) { message { id } userErrors { code message path } } }',
      {
        to: encodeGlobalId('Contact', gateway.tenant.id, id),
      },
    );
  const foreign = await send(theirs.get('Contact') ?? '');
  expect(foreign).toEqual(await send(nobodys('Contact')));
  expect(codeOf(foreign)).toBe('NOT_FOUND');
});

test('no list contains a row of another tenant, also with a cursor of that tenant', async () => {
  const lists =
    'bots contacts contactGroups contactSources contactStatuses messages templates integrations integrationDeliveries webhookDeliveries webhookEndpoints';
  for (const list of lists.split(' ')) {
    const own =
      list === 'integrations'
        ? [{ id: encodeGlobalId('Integration', gateway.tenant.id, ours.get('Integration') ?? '') }]
        : [];
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
