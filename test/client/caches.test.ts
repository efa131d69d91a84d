import { InMemoryCache } from '@apollo/client';
import { Client, fetchExchange, gql } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { introspectionFromSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { apolloCacheOptions } from '../../src/client/apollo.ts';
import { KEYLESS_TYPES } from '../../src/client/schema.generated.ts';
import { graphcacheSettings } from '../../src/client/urql.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { seedOf } from '../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  const seed = seedOf(gateway);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await seed.label('Group', name);
});
afterAll(() => gateway.stop());

const PAGE = gql`
  query Page($after: String) {
    contactGroups(first: 2, after: $after, orderBy: [{ field: NAME }]) {
      edges { cursor node { id name } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;
const names = (data: { contactGroups: { edges: readonly { node: { name: string } }[] } }): string[] =>
  data.contactGroups.edges.map(({ node }) => node.name);

test('Graphcache joins the pages of a connection, and warns of nothing', async () => {
  const warnings: string[] = [];
  const client = new Client({
    url: `${gateway.url}/graphql`,
    preferGetMethod: false,
    fetchOptions: { headers: { authorization: `Bearer ${gateway.tenant.token}` } },
    exchanges: [
      cacheExchange({
        ...graphcacheSettings,
        schema: introspectionFromSchema(schema),
        logger: (_severity, message) => void warnings.push(message),
      }),
      fetchExchange,
    ],
  });
  let after: string | undefined;
  let data: Parameters<typeof names>[0] & { contactGroups: { pageInfo: { hasNextPage: boolean; endCursor: string } } };
  do {
    const result = await client.query(PAGE, { after }).toPromise();
    expect(result.error).toBeUndefined();
    data = result.data;
    after = data.contactGroups.pageInfo.endCursor;
  } while (data.contactGroups.pageInfo.hasNextPage);
  expect(names(data)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(warnings).toEqual([]);
});

test("Apollo's cache joins the pages of a connection, and keeps lists with other filters apart", async () => {
  const cache = new InMemoryCache(apolloCacheOptions);
  let after: string | null = null;
  do {
    const { data } = await gateway.graphql(
      'query Page($after: String) { contactGroups(first: 2, after: $after, orderBy: [{ field: NAME }]) { __typename edges { __typename cursor node { __typename id name } } pageInfo { __typename hasNextPage endCursor } } }',
      { after },
    );
    cache.writeQuery({ query: PAGE, variables: { after }, data });
    after = data.contactGroups.pageInfo.hasNextPage ? data.contactGroups.pageInfo.endCursor : null;
  } while (after !== null);
  const all = cache.readQuery<Parameters<typeof names>[0]>({ query: PAGE, variables: {} });
  expect(all && names(all)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(cache.readQuery({ query: gql`{ contactGroups(search: "a") { edges { cursor } } }` })).toBeNull();
});

test('every type without an id is named, and no type with one', () => {
  const hasId = (name: string): boolean => {
    const type = schema.getType(name);
    return type !== undefined && 'getFields' in type && 'id' in type.getFields();
  };
  expect(KEYLESS_TYPES.filter(hasId)).toEqual([]);
});
