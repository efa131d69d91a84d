import { buildSchema, getOperationAST, parse } from 'graphql';
import { expect, test } from 'vitest';
import { measure } from '../../../src/graphql/execution/limits.ts';
import { dataOf } from '../../support/answers.ts';
import { startGateway } from '../../support/gateway.ts';

const SCHEMA = buildSchema(`
  type Query { person(id: ID, key: ID @deprecated(reason: "Use id.")): Person }
  type Person { name: String @deprecated(reason: "Use fullName.") fullName: String friends: [Person!]! }
`);

const deprecatedIn = (text: string): string[] => {
  const document = parse(text);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('No operation.');
  return [...measure(SCHEMA, document, operation).deprecated].sort();
};

test('deprecated fields and arguments of a document are found once each, also in fragments', () => {
  expect(deprecatedIn('{ person(id: 1) { fullName friends { fullName } } }')).toEqual([]);
  expect(
    deprecatedIn('{ person(key: 1) { ...P friends { alias: name } } } fragment P on Person { name friends { name } }'),
  ).toEqual(['Person.name', 'Query.person(key:)']);
});

test('every use of a deprecated field is counted by its name', async () => {
  const gateway = await startGateway({ role: 'gateway' });
  const { kernel, resources } = { ...gateway.gateway.server, ...gateway.gateway };
  const field = kernel.schema.getQueryType()?.getFields()['countries'];
  if (!field) throw new Error('There is no field countries.');
  field.deprecationReason = 'For this test.';
  try {
    for (let use = 0; use < 3; use += 1) dataOf(await gateway.graphql('query Deprecated { countries { name } }'));
    dataOf(await gateway.graphql('query NotDeprecated { viewer { __typename } }'));
    const { values } = await resources.metrics.deprecatedFields.get();
    expect(values).toEqual([{ labels: { field: 'Query.countries' }, value: 3 }]);
    const shown = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(shown).toContain('parley_graphql_deprecated_fields_total{field="Query.countries"} 3\n');
  } finally {
    field.deprecationReason = undefined;
    await gateway.stop();
  }
});
