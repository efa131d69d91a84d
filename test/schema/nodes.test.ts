import { getNamedType, isObjectType, isRequiredArgument } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { encodeGlobalId } from '../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { seedOf } from '../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const NODES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';

describe('nodes', () => {
  test('returns objects of any types in the order of the ids, and null where there is none', async () => {
    const seed = seedOf(gateway);
    const contact = encodeGlobalId('Contact', gateway.tenant.id, (await seed.contact({ phone: '+14155550801' })).id);
    const account = encodeGlobalId('Account', gateway.tenant.id, gateway.tenant.id);
    const other = await gateway.addTenant({ channel: false });
    const foreign = encodeGlobalId('Account', other.id, other.id);
    const nobody = encodeGlobalId('Contact', gateway.tenant.id, 999_999_999);
    const noType = encodeGlobalId('Viewer', gateway.tenant.id, 1);
    const ids = [account, 'nonsense', contact, foreign, nobody, noType, contact];
    expect(dataOf(await gateway.graphql(NODES, { ids })).nodes).toEqual([
      { __typename: 'Account', id: account },
      null,
      { __typename: 'Contact', id: contact },
      null,
      null,
      null,
      { __typename: 'Contact', id: contact },
    ]);
    const poor = await gateway.addToken(gateway.tenant, { scopes: ['account:read'] });
    expect(dataOf(await gateway.graphql(NODES, { ids: [contact, account] }, poor)).nodes).toEqual([
      null,
      { __typename: 'Account', id: account },
    ]);
  });

  test('finds the same object for several fields of a request', async () => {
    const id = encodeGlobalId(
      'Contact',
      gateway.tenant.id,
      (await seedOf(gateway).contact({ phone: '+14155550802' })).id,
    );
    const query =
      'query ($id: ID!) { one: node(id: $id) { __typename id } other: node(id: $id) { id } nodes(ids: [$id]) { id } }';
    expect(dataOf(await gateway.graphql(query, { id }))).toEqual({
      one: { __typename: 'Contact', id },
      other: { id },
      nodes: [{ id }],
    });
  });

  test('takes at most a hundred ids', async () => {
    const answer = await gateway.graphql(NODES, { ids: Array.from({ length: 101 }, (_, index) => `${index}`) });
    expect(codeOf(answer)).toBe('VALIDATION_ERROR');
    expect(Object.keys(faultsOf(answer))).toEqual(['ids']);
  });
});

const searched = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
  ({ args }) => args.some(({ name }) => name === 'search') && !args.some(isRequiredArgument),
);

test.each(searched.map(field => [field.name]))('%s looks for the text of a search', async name => {
  const answer = await gateway.graphql(`{ ${name}(search: "no row has this text") { totalCount } }`);
  expect(dataOf(answer)[name]).toEqual({ totalCount: 0 });
});

test('connections below other objects have an offset only where REST has numbered pages of them', () => {
  const offsets = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(type => type !== schema.getQueryType())
    .flatMap(type =>
      Object.values(type.getFields())
        .filter(field => getNamedType(field.type).name.endsWith('Connection'))
        .filter(({ args }) => args.some(({ name }) => name === 'offset'))
        .map(field => `${type.name}.${field.name}`),
    );
  expect(offsets.sort()).toEqual(['Campaign.recipients', 'WebhookEndpoint.deliveries']);
});
