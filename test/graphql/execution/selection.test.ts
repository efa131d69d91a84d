import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, withoutCost } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

/** The hot lists read their selection in one statement: the result must be the same as that of single objects, however it is selected. */

let gateway: TestGateway;
/** So many operations are compiled in a minute: tests let minutes pass. */
let minutes = 0;

beforeAll(async () => {
  gateway = await startGateway({ clock: { now: () => Date.now() + minutes * 60_000 } });
  const { query } = gateway.database;
  const tenantId = gateway.tenant.id;
  const insert = async (table: string, names: readonly string[]): Promise<number[]> => {
    const ids: number[] = [];
    for (const name of names) {
      const [row] = await query<{ id: string }>(
        `insert into ${table} (tenant_id, name${table === 'staff' ? ', email' : ''}) values ($1, $2${table === 'staff' ? ", $2 || '@example.com'" : ''}) returning id`,
        [tenantId, name],
      );
      ids.push(Number(row?.id));
    }
    return ids;
  };
  const [sources, statuses, groups, staff] = [
    await insert('sources', ['Web', 'Fair']),
    await insert('statuses', ['New', 'Won']),
    await insert('groups', ['Zebra', 'Ant', 'Mole']),
    await insert('staff', ['Mia', 'Noa']),
  ];
  for (let n = 0; n < 12; n += 1) {
    const input = {
      phone: `+${4_915_800_000_000 + n}`,
      firstName: `Person ${n}`,
      ...(n % 3 && { sourceId: sources[n % 2] }),
      ...(n % 4 && { statusId: statuses[n % 2] }),
      ...(n % 5 && { assigneeId: staff[n % 2] }),
      groupIds: groups.slice(0, n % 4),
      ...(n % 2 && { country: 'DE', email: `p${n}@example.com` }),
    };
    dataOf(
      await gateway.graphql(
        'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { id } } }',
        {
          input,
        },
      ),
    );
  }
  // Some have an open window on the default channel, some a closed one.
  await query(
    `insert into conversations (tenant_id, contact_id, channel_id, window_expires_at)
     select c.tenant_id, c.id, ch.id, case when c.id % 3 = 0 then now() + interval '1 hour' when c.id % 3 = 1 then now() - interval '1 hour' end
     from contacts c join channels ch using (tenant_id) where c.tenant_id = $1 and c.id % 4 > 0`,
    [tenantId],
  );
});
afterAll(() => gateway.stop());

const FULL = `id databaseId firstName lastName fullName company type email phone description address city state zip country { numericCode alpha2 name } isOptedOut optedOutAt createdAt updatedAt
  source { id databaseId name createdAt updatedAt } status { id databaseId name color createdAt updatedAt } assignee { id databaseId name email }
  groups { id databaseId name createdAt updatedAt contactsCount } serviceWindow { isOpen expiresAt }`;

test('a list returns the same fields of a contact as the single contact, nested objects included', async () => {
  const { contacts } = dataOf(
    await gateway.graphql(`{ contacts(first: 100) { nodes { ${FULL} } edges { node { ${FULL} } } } }`),
  );
  expect(contacts.nodes).toHaveLength(12);
  for (const [index, listed] of contacts.nodes.entries()) {
    const { contact, node } = dataOf(
      await gateway.graphql(
        `query ($id: ID!) { contact(id: $id) { ${FULL} } node(id: $id) { ... on Contact { ${FULL} } } }`,
        { id: listed.id },
      ),
    );
    expect([listed, contacts.edges[index].node, node]).toEqual([contact, contact, contact]);
  }
  expect(new Set(contacts.nodes.map((contact: { groups: object[] }) => contact.groups.length))).toEqual(
    new Set([0, 1, 2, 3]),
  );
  expect(
    contacts.nodes
      .find((contact: { groups: { name: string }[] }) => contact.groups.length === 3)
      .groups.map(({ name }: { name: string }) => name),
  ).toEqual(['Ant', 'Mole', 'Zebra']);
  expect(
    new Set(contacts.nodes.map((contact: { serviceWindow: { isOpen: boolean } }) => contact.serviceWindow.isOpen)),
  ).toEqual(new Set([true, false]));
});

describe('aliases, fragments and directives return what they select', () => {
  /** Each document with its variables, and the plain selection that it comes to. */
  const cases: [string, string, object?][] = [
    [
      'one field under two aliases with different selections',
      '{ contacts { nodes { a: source { name } b: source { createdAt id } source { updatedAt } } } }',
    ],
    [
      'one field twice with different selections',
      '{ contacts { nodes { status { name } status { color } } nodes { status { createdAt } groups { name } } nodes { groups { updatedAt } } } }',
    ],
    [
      'nodes and edges with different selections',
      '{ contacts { nodes { source { name } groups { id } } edges { node { source { createdAt } groups { name } assignee { email } } } } }',
    ],
    [
      'fragments in fragments',
      'query { contacts { ...Page } } fragment Page on ContactConnection { nodes { ...One ...Two } } fragment One on Contact { source { name } ...Two } fragment Two on Contact { source { id updatedAt } status { name } }',
    ],
    [
      'fragments without a type, and on an interface',
      '{ contacts { nodes { ... { source { name } } ... on Node { id ... on Contact { source { createdAt } email } } } } }',
    ],
    [
      'included by a variable',
      'query ($yes: Boolean!, $no: Boolean!) { contacts { nodes { id source @include(if: $yes) { name } source @include(if: $no) { createdAt } status @skip(if: $no) { name } status @skip(if: $yes) { color } } } }',
      { yes: true, no: false },
    ],
    [
      'the same document with the variables exchanged',
      'query ($yes: Boolean!, $no: Boolean!) { contacts { nodes { id source @include(if: $yes) { name } source @include(if: $no) { createdAt } status @skip(if: $no) { name } status @skip(if: $yes) { color } } } }',
      { yes: false, no: true },
    ],
    [
      'included by the default of a variable',
      'query ($yes: Boolean = true, $no: Boolean = false) { contacts { nodes { email @include(if: $yes) phone @include(if: $no) ... @include(if: $yes) { groups @skip(if: $no) { name } } } } }',
    ],
    [
      'included literally',
      '{ contacts { nodes { email @include(if: true) phone @include(if: false) source @skip(if: false) { name } ... @skip(if: true) { status { name } } } } }',
    ],
    [
      'included and skipped at once',
      'query ($a: Boolean!, $b: Boolean!) { contacts { nodes { firstName email @include(if: $a) @skip(if: $b) ...F @include(if: $a) } } } fragment F on Contact { city @skip(if: $b) zip source { name } }',
      { a: true, b: false },
    ],
    [
      'two lists beside each other',
      '{ a: contacts(first: 2) { nodes { firstName source { name } } } b: contacts(last: 2, orderBy: [{ field: FIRST_NAME, direction: DESC }]) { totalCount edges { cursor node { email groups { name } } } pageInfo { endCursor } } }',
    ],
    [
      'names of types alone',
      '{ contacts { __typename nodes { __typename source { __typename } groups { __typename } } pageInfo { __typename hasNextPage } } }',
    ],
    ['the count alone', '{ contacts { totalCount } }'],
    [
      'page information alone',
      '{ contacts(first: 3) { pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }',
    ],
    [
      'a null error beside data',
      'query ($id: ID!) { contact(id: $id) { id } contacts(first: 1) { nodes { firstName } } }',
      { id: 'none' },
    ],
    [
      'arguments from defaults',
      'query ($first: Int = 2, $order: [ContactOrder!] = [{ field: FIRST_NAME }], $filter: ContactFilter = { email: { isNull: false } }) { contacts(first: $first, orderBy: $order, filter: $filter) { nodes { firstName email } } }',
    ],
    [
      'ids as numbers and as text',
      'query ($a: ID!, $in: [ID!]!) { contact(id: $a) { firstName } contacts(filter: { sourceId: { in: $in } }) { totalCount } }',
      { a: 1, in: [1, '2'] },
    ],
    [
      'another operation of a document',
      'query A { viewer { scopes } } query B { contacts(first: 1) { nodes { firstName } } }',
    ],
  ];

  test.each(cases)('%s: same result before and after compilation', async (_name, document, variables = {}) => {
    const operationName = document.includes('query A') ? 'B' : undefined;
    minutes += 1;
    const ask = async (): Promise<unknown> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.tenant.token}` };
      const answer = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: document, variables, operationName }),
      });
      return withoutCost(await answer.json());
    };
    const first = (await ask()) as { errors?: { extensions: { code: string } }[]; data: unknown };
    for (const error of first.errors ?? []) expect(error.extensions.code).toBe('NOT_FOUND');
    expect(first.data).toBeTruthy();
    for (let use = 2; use <= 40; use += 1) expect(await ask(), `use ${use}`).toEqual(first);
    const prepared = gateway.gateway.server.kernel.prepare(document, operationName);
    expect('operation' in prepared && prepared.operation.compiled).toBeTruthy();
  });

  test('different selections of one field are merged', async () => {
    const { contacts } = dataOf(
      await gateway.graphql(
        '{ contacts(filter: { sourceId: { isNull: false } }, first: 1) { nodes { a: source { name } source { createdAt } } edges { node { source { id updatedAt } } } } }',
      ),
    );
    expect(contacts.nodes[0]).toEqual({ a: { name: expect.any(String) }, source: { createdAt: expect.any(String) } });
    expect(contacts.edges[0].node).toEqual({ source: { id: expect.any(String), updatedAt: expect.any(String) } });
  });
});

test('mutations of one document run in sequence, compiled or not', async () => {
  const document = `mutation ($name: String!) { a: createContactGroup(input: { name: $name }) { contactGroup { name } } b: createContactGroup(input: { name: $name }) { contactGroup { name } userErrors { code path message } } }`;
  for (let use = 0; use < 36; use += 1) {
    const { data, errors } = await gateway.graphql(document, { name: `Twice ${use}` });
    const userErrors = [{ code: 'TAKEN', path: ['name'], message: 'Is already taken.' }];
    expect([data, errors]).toEqual([
      { a: { contactGroup: { name: `Twice ${use}` } }, b: { contactGroup: null, userErrors } },
      undefined,
    ]);
  }
});

describe('one statement per level, whatever the number of rows', () => {
  const statementsOf = async (document: string): Promise<number> => {
    await gateway.graphql('{ viewer { scopes } }');
    gateway.statements.length = 0;
    dataOf(await gateway.graphql(document));
    return gateway.statements.filter(
      text =>
        /\b(contacts|contact_groups|sources|statuses|groups|staff|conversations|tenant_usage|messages|channels)\b/.test(
          text,
        ) && !/cross-tenant|outbox|inbound/.test(text),
    ).length;
  };
  test.each([
    [1, '{ contacts { nodes { id } } }'],
    [
      1,
      '{ contacts(first: 100) { edges { cursor node { firstName source { name } status { name } assignee { name } groups { name } serviceWindow { isOpen } } } pageInfo { endCursor } } }',
    ],
    [2, '{ contacts(first: 100) { totalCount nodes { source { name } groups { name } serviceWindow { isOpen } } } }'],
    [2, '{ contacts(first: 100, search: "person") { totalCount nodes { source { name } } } }'],
    [2, '{ contacts(first: 100) { nodes { groups { name contactsCount } } } }'],
    [2, '{ contactGroups { nodes { name contactsCount } } }'],
    [1, '{ contactSources { nodes { name } } }'],
    [1, '{ staffMembers { nodes { name } } }'],
    [3, '{ contacts { nodes { id } } contactGroups { nodes { id } } contactStatuses { nodes { id } } }'],
  ])('%i: %s', async (count, document) => expect(await statementsOf(document)).toBe(count));

  test('a single contact takes one statement, and one for each related type', async () => {
    const { contacts } = dataOf(
      await gateway.graphql(
        '{ contacts(first: 1, filter: { assigneeId: { isNull: false }, sourceId: { isNull: false }, statusId: { isNull: false } }) { nodes { databaseId } } }',
      ),
    );
    expect(
      await statementsOf(
        `{ contact(id: ${contacts.nodes[0].databaseId}) { source { name } status { name } assignee { name } groups { name } serviceWindow { isOpen } } }`,
      ),
    ).toBe(6);
  });
});

test('a nullable field that fails is null, without affecting other fields', async () => {
  const token = await gateway.addToken(gateway.tenant, { scopes: ['groups:read'], callsPerMinute: 6_000 });
  const answer = await gateway.graphql('{ contact(id: "1") { id } viewer { callsPerMinute } }', {}, token);
  expect([answer.data, codeOf(answer)]).toEqual([
    { contact: null, viewer: { callsPerMinute: 6_000 } },
    'INSUFFICIENT_SCOPE',
  ]);
});
