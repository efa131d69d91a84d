import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { createDocuments, hasOptionalInputFields } from '../../src/graphql/execution/documents.ts';
import { oneOf } from '../../src/schema/one-of.ts';
import { faultsOf, payloadOf } from '../support/answers.ts';
import { type GraphQLAnswer, startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

describe('reading an input with one field', () => {
  test('returns the field that is set', () => {
    expect(oneOf({ a: 1 }, 'x')).toEqual({ field: 'a', value: 1 });
    expect(oneOf({ a: undefined, b: 0 }, 'x')).toEqual({ field: 'b', value: 0 });
  });

  test.each([[{}], [{ a: 1, b: 2 }], [{ a: null }], [{ a: 1, b: null }], [{ a: undefined }]])(
    'rejects %o, whatever the executor let through',
    input => {
      expect(() => oneOf(input, 'to')).toThrow('Exactly one of its fields must be given, and not be null.');
    },
  );
});

const SEND = (to: string, variable: string) =>
  `mutation (${variable}) { sendMessage(input: { to: ${to}, content: { text: { body: "Hi" } } }) { message { status } userErrors { code message path } } }`;

test('a literal with a variable that may be omitted is never compiled', () => {
  const variables = ['$p: String', '$p: String = "+4915112345678"', '$p: String!'];
  expect(variables.map(variable => hasOptionalInputFields(parse(SEND('{ phone: $p }', variable))))).toEqual([
    true,
    true,
    false,
  ]);
  const documents = createDocuments(schema, { now: () => 0 } as never);
  const prepared = documents.prepare(SEND('{ phone: $p, contactId: $c }', '$p: String, $c: ID'), undefined);
  expect('operation' in prepared).toBe(false);
  const valid = documents.prepare(
    'mutation ($id: ID!, $name: String) { updateContactGroup(input: { id: $id, name: $name }) { userErrors { code } } }',
    undefined,
  );
  if (!('operation' in valid)) throw new Error('The document is not valid.');
  for (let use = 0; use < 100; use += 1) documents.use(valid.operation);
  expect(valid.operation.compiled).toBeUndefined();
});

describe('over HTTP, on both executors', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  const DOCUMENT =
    'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { status } userErrors { code message path } } }';
  const send = (to: object): Promise<GraphQLAnswer> =>
    gateway.graphql(DOCUMENT, { input: { to, content: { text: { body: 'Hi' } } } });
  /** graphql-js refuses the variables, `oneOf` what graphql-jit lets through. */
  const isRefused = (answer: GraphQLAnswer): boolean =>
    answer.errors?.[0]?.extensions.code === 'BAD_USER_INPUT' || faultsOf(answer)['to'] !== undefined;

  test('a recipient with two keys, none or a null key is refused, also once the document is compiled', async () => {
    const faulty = [{}, { phone: newPhone(), contactId: '1' }, { phone: null }, { phone: newPhone(), userId: null }];
    for (const to of faulty) expect(isRefused(await send(to)), JSON.stringify(to)).toBe(true);
    for (let use = 0; use < 40; use += 1) payloadOf(await send({ phone: newPhone() }));
    for (const to of faulty) expect(isRefused(await send(to)), JSON.stringify(to)).toBe(true);
    expect(payloadOf(await send({ phone: newPhone() })).message.status).toBe('QUEUED');
  });

  test('an omitted variable in a literal keeps the value of an update, however often the document is used', async () => {
    const { contactStatus } = payloadOf(
      await gateway.mutate('createContactStatus', { name: 'Kept', color: '#112233' }, 'contactStatus { id }'),
    );
    const update =
      'mutation ($id: ID!, $name: String, $color: String) { updateContactStatus(input: { id: $id, name: $name, color: $color }) { contactStatus { name color } userErrors { code message path } } }';
    for (let use = 0; use < 40; use += 1)
      expect(payloadOf(await gateway.graphql(update, { id: contactStatus.id, name: `Name ${use}` }))).toMatchObject({
        contactStatus: { name: `Name ${use}`, color: '#112233' },
      });
  });
});
