import type { GraphQLInterfaceType, GraphQLResolveInfo } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { decodeGlobalId } from '../../src/core/global-ids.ts';

test('the ids of all nodes are resolved at once: in a list, each would be a promise otherwise', () => {
  const types = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType);
  expect(types.length).toBeGreaterThan(20);
  const row = new Proxy({}, { get: () => 7 });
  const context = { principal: { tenant: { id: 3 } } };
  const ids = types.map(
    type => type.getFields()['id']?.resolve?.(row, {}, context, {} as GraphQLResolveInfo) as string,
  );
  expect(ids.map(decodeGlobalId)).toEqual(types.map(({ name }) => ({ typename: name, tenantId: 3, id: '7' })));
});
