import { buildSchema, getIntrospectionQuery, type OperationDefinitionNode, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkLimits, LIMITS, measure } from '../../../src/graphql/execution/limits.ts';
import { dataOf } from '../../support/answers.ts';
import { costOf } from '../../support/durations.ts';
import { type GraphQLAnswer, startGateway, type TestGateway } from '../../support/gateway.ts';

/** What a caller with a token could do to a gateway without limits: every bomb is refused, and none takes a second of the processor. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function refused(query: string, variables: object = {}): Promise<{ code: string | undefined; limit: unknown }> {
  let answer: GraphQLAnswer = {};
  const cost = await costOf(async () => {
    answer = await gateway.graphql(query, variables);
  });
  expect(cost, 'milliseconds').toBeLessThan(1_000);
  const [error] = answer.errors ?? [];
  return { code: error?.extensions.code, limit: (error?.extensions.details as { limit?: unknown } | undefined)?.limit };
}
const repeat = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');

describe('limits', () => {
  const complex = (limit: string) => ({ code: 'QUERY_TOO_COMPLEX', limit });

  test.each<[string, object, string, object?]>([
    ['31 aliases', complex('aliases'), `{ viewer { ${repeat(31, n => `a${n}: scopes`)} } }`],
    ['21 fields at the root', complex('rootFields'), `{ ${repeat(21, () => 'viewer { scopes }')} }`],
    [
      '21 mutations',
      complex('rootFields'),
      `mutation { ${repeat(21, n => `a${n}: deleteContactGroup(input: { id: 1 }) { deletedId }`)} }`,
    ],
    ['21 directives', complex('directives'), `{ viewer { ${repeat(21, () => 'scopes @include(if: true)')} } }`],
    [
      '13 connections at the root',
      complex('connections'),
      `{ ${repeat(13, n => `a${n}: contactGroups(first: 1) { totalCount }`)} }`,
    ],
    [
      '13 connections, of which 12 are in fragments of the first',
      complex('connections'),
      `{ contacts(first: 1) { nodes { ...F } } } fragment F on Contact { ${repeat(12, n => `n${n}: notes(first: 1) { totalCount }`)} }`,
    ],
    [
      '2,001 tokens',
      { code: 'GRAPHQL_PARSE_FAILED', limit: undefined },
      `{ viewer { ${repeat(2_000, () => 'scopes')} } }`,
    ],
    [
      'a tower of brackets',
      { code: 'GRAPHQL_PARSE_FAILED', limit: undefined },
      `{ contact(id: ${'['.repeat(100_000)} ) }`,
    ],
    ['a tower of braces', { code: 'GRAPHQL_PARSE_FAILED', limit: undefined }, '{ a '.repeat(100_000)],
    [
      'a tower of brackets within the tokens',
      { code: 'GRAPHQL_VALIDATION_FAILED', limit: undefined },
      `{ contact(id: ${'['.repeat(990)}1${']'.repeat(990)}) { id } }`,
    ],
    [
      'a tower of fragments',
      { code: undefined, limit: undefined },
      `{ viewer ${'{ ... '.repeat(600)} { scopes } ${'}'.repeat(600)} }`,
    ],
    [
      'large pages in large pages',
      complex('cost'),
      '{ contacts(first: 100) { nodes { groups { id name contactsCount } source { id } } edges { node { groups { id } } } } }'.replace(
        'groups { id }',
        repeat(9, n => `g${n}: groups { id }`),
      ),
    ],
    [
      'as a page, by a variable',
      complex('cost'),
      `query ($n: Int) { contacts(first: $n) { nodes { ${repeat(12, n => `g${n}: groups { id }`)} } } }`,
      { n: 100 },
    ],
    [
      'as a page, by the default of a variable',
      complex('cost'),
      `query ($n: Int = 100) { contacts(first: $n) { nodes { ${repeat(12, n => `g${n}: groups { id }`)} } } }`,
    ],
    [
      'as a page from the end',
      complex('cost'),
      `{ contacts(last: 100) { nodes { ${repeat(12, n => `g${n}: groups { id }`)} } } }`,
    ],
    [
      'with a negative page that would pay for it',
      complex('cost'),
      `{ a: contacts(first: -100000) { nodes { id groups { id } } } contacts(first: 100) { nodes { ${repeat(12, n => `g${n}: groups { id }`)} } } }`,
    ],
    [
      'with a negative page by a variable',
      complex('cost'),
      `query ($n: Int) { a: contacts(first: $n) { nodes { id groups { id } } } contacts(first: 100) { nodes { ${repeat(12, n => `g${n}: groups { id }`)} } } }`,
      { n: -1e9 },
    ],
    [
      'with two sizes, one of them small',
      complex('cost'),
      `{ contacts(first: 1, last: 100) { nodes { ${repeat(12, n => `g${n}: groups { id }`)} } } }`,
    ],
  ])('%s', async (_name, expected, query, variables) => {
    expect(await refused(query, variables)).toEqual(expected);
  });

  test('allow 12 connections', async () => {
    const query = `{ ${repeat(12, n => `a${n}: contactGroups(first: 1) { totalCount }`)} }`;
    expect(Object.keys(dataOf(await gateway.graphql(query)))).toHaveLength(12);
  });

  test('refuse a selection 13 levels deep', () => {
    // No type of ours leads back to itself yet: a schema that does stands in for the one to come.
    const circular = buildSchema('type Query { me: Query, name: String }');
    const measured = (levels: number) => {
      const document = parse(`{ ${'me { '.repeat(levels - 1)} name ${'}'.repeat(levels - 1)} }`);
      return measure(circular, document, document.definitions[0] as OperationDefinitionNode);
    };
    expect(() => checkLimits(measured(LIMITS.depth), {})).not.toThrow();
    expect(() => checkLimits(measured(LIMITS.depth + 1), {})).toThrow('its depth is 13; the limit is 12');
  });

  test('refuse fragments that grow exponentially', async () => {
    const fragments = repeat(40, n => `fragment F${n} on Viewer { ...F${n + 1} ...F${n + 1} }`);
    expect((await refused(`{ viewer { ...F0 } } ${fragments} fragment F40 on Viewer { scopes }`)).code).toMatch(
      /QUERY_TOO_COMPLEX|GRAPHQL_VALIDATION_FAILED|undefined/,
    );
    const wide = repeat(12, n => `fragment F${n} on Viewer { ${repeat(9, () => `...F${n + 1}`)} }`);
    expect(await refused(`{ viewer { ...F0 } } ${wide} fragment F12 on Viewer { scopes }`)).toEqual(complex('size'));
  });

  test('refuse fields that overlap in many fragments', async () => {
    const fragments = repeat(
      60,
      n =>
        `fragment F${n} on Viewer { account { name } ${repeat(8, m => `...F${(n + m + 1) % 60 > n ? (n + m + 1) % 60 : 59}`)} }`,
    ).replaceAll('...F59 }', '}');
    await refused(`{ viewer { ${repeat(60, n => `...F${n}`)} } } ${fragments}`);
  });

  test('refuse variables nested 100,000 levels deep, used or not', async () => {
    const nested = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`;
    for (const name of ['filter', 'unused']) {
      for (const accept of ['application/json', 'text/event-stream']) {
        const body = `{"query":"query ($filter: ContactFilter) { contacts(filter: $filter) { totalCount } }","variables":{"${name}":${nested}}}`;
        const headers = { 'content-type': 'application/json', accept, authorization: `Bearer ${gateway.tenant.token}` };
        const answer = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
        expect(answer.status).toBeLessThan(500);
        expect(await answer.text()).toMatch(/QUERY_TOO_COMPLEX|BAD_REQUEST/);
      }
    }
  });

  test('refuse repeated introspection', async () => {
    const types = repeat(
      25,
      n =>
        `a${n}: types { fields { args { type { ofType { name } } } type { fields { name description type { name kind } } } } }`,
    );
    expect(await refused(`{ __schema { ${types} } }`)).toEqual(complex('introspection'));
    const many = repeat(15, n => `s${n}: __schema { types { ...F } }`);
    expect(
      await refused(
        `{ ${many} } fragment F on __Type { fields { type { fields { name description type { name kind } } } } }`,
      ),
    ).toEqual(complex('introspection'));
    const circle =
      '{ __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }';
    expect((await refused(circle)).code).toMatch(/QUERY_TOO_COMPLEX|GRAPHQL_VALIDATION_FAILED/);
  });
});

describe('real documents are within the limits', () => {
  test('the introspection query of tools', async () => {
    const { __schema } = dataOf(
      await gateway.graphql(
        getIntrospectionQuery({
          descriptions: true,
          specifiedByUrl: true,
          directiveIsRepeatable: true,
          schemaDescription: true,
          inputValueDeprecation: true,
          oneOf: true,
        }),
      ),
    );
    expect(__schema.types.length).toBeGreaterThan(50);
  });

  test('50 contacts with all their relations, and 100 with their groups', async () => {
    dataOf(
      await gateway.graphql(
        '{ contacts(first: 50) { totalCount pageInfo { endCursor } edges { cursor node { id source { id name } status { id name color } assignee { name } groups { id name } serviceWindow { isOpen } } } } }',
      ),
    );
    dataOf(
      await gateway.graphql(
        '{ contacts(first: 100) { nodes { id groups { id name } } } messages(first: 100) { nodes { id contact { id phone } } } }',
      ),
    );
  });

  test('twenty mutations, and thirty aliases', async () => {
    const answer = await gateway.graphql(
      `mutation { ${repeat(20, n => `m${n}: createContactGroup(input: { name: "Twenty ${n}" }) { contactGroup { id } }`)} }`,
    );
    expect(Object.keys(dataOf(answer))).toHaveLength(20);
    dataOf(await gateway.graphql(`{ viewer { ${repeat(30, n => `a${n}: scopes`)} } }`));
  });
});

test('a refusal names the limit, the actual value and the maximum', async () => {
  const { errors } = await gateway.graphql(`{ viewer { ${repeat(31, n => `a${n}: scopes`)} } }`);
  expect(errors).toEqual([
    expect.objectContaining({
      message: expect.stringContaining('31'),
      extensions: { code: 'QUERY_TOO_COMPLEX', details: { limit: 'aliases', maximum: 30, actual: 31 } },
    }),
  ]);
});
