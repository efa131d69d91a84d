import { buildSchema, type ExecutionResult, execute, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createDocuments, type Operation } from '../../../src/graphql/execution/documents.ts';
import { systemClock } from '../../../src/platform/clock.ts';

const schema = buildSchema(`
  scalar JSON
  type Person { id: ID! name: String friend: Person friends: [Person!]! }
  type Query { me: Person all: [Person!]! }`);

const person = (name: string, depth = 3): object => ({
  id: name,
  name,
  friend: depth > 0 ? person(`${name}+`, depth - 1) : null,
  friends: depth > 0 ? [person(`${name}1`, depth - 1), person(`${name}2`, depth - 1)] : [],
});
const ROOT = { me: person('Ana'), all: [person('Bo'), person('Cy')] };

/** More uses than it takes to be compiled. */
const USES = 40;

function hotOperation(text: string): Operation {
  const documents = createDocuments(schema, systemClock);
  const prepared = documents.prepare(text, undefined);
  if ('errors' in prepared) throw prepared.errors[0];
  for (let use = 0; use < USES; use += 1) documents.use(prepared.operation);
  return prepared.operation;
}

const plain = (
  text: string,
  variableValues: Readonly<Record<string, unknown>>,
): ExecutionResult | Promise<ExecutionResult> =>
  execute({ schema, document: parse(text), rootValue: ROOT, variableValues });

async function answerOf(text: string, variables: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { compiled } = hotOperation(text);
  return compiled?.query(ROOT, {}, variables) ?? plain(text, variables);
}

/** Without the classes and prototypes that the two executors use. */
const shown = (result: unknown): unknown => JSON.parse(JSON.stringify(result));

const NAME = 'fragment Name on Person { id name }';

describe('an operation that is used often answers as it did before', () => {
  test.each([
    ['a fragment in two places, one with a condition', `{ me { ...Name @include(if: $on) } all { ...Name } } ${NAME}`],
    ['a fragment twice in one place', `{ me { ...Name @include(if: $on) ...Name } } ${NAME}`],
    [
      'a fragment of another fragment',
      `{ me { ...Name @skip(if: $on) ...Card } } ${NAME} fragment Card on Person { ...Name friend { id } }`,
    ],
    ['a fragment within the object that has it', `{ me { ...Name @skip(if: $on) friends { ...Name } } } ${NAME}`],
    ['an object twice', '{ me @include(if: $on) { ... { name } } me { id } }'],
    [
      'objects of an object twice',
      '{ me @include(if: $on) { friend { name friend { name } } } me { friend { id friend { id } } } }',
    ],
    ['an object of an inline fragment', '{ ... @include(if: $on) { me { ... { name } } } me { id } }'],
    [
      'conditions of fields',
      '{ me { id name @include(if: $on) friend @skip(if: $on) { id } } all { ...Name } } fragment Name on Person { name @skip(if: $on) }',
    ],
  ])('with conditions: %s', async (_what, selection) => {
    const text = `query ($on: Boolean!) ${selection}`;
    for (const on of [true, false])
      expect(shown(await answerOf(text, { on }))).toEqual(shown(await plain(text, { on })));
  });

  test('with several operations of one document', async () => {
    const documents = createDocuments(schema, systemClock);
    const text = `query Some($on: Boolean!) { me { ...Name @include(if: $on) } } query All { me { ...Name } } ${NAME}`;
    for (const [name, wanted] of [
      ['Some', { me: {} }],
      ['All', { me: { id: 'Ana', name: 'Ana' } }],
    ] as const) {
      const prepared = documents.prepare(text, name);
      if ('errors' in prepared) throw prepared.errors[0];
      const { operation } = prepared;
      for (let use = 0; use < USES; use += 1) documents.use(operation);
      const variables = name === 'Some' ? { on: false } : {};
      const result = await (operation.compiled?.query(ROOT, {}, variables) ??
        execute({ schema, document: parse(text), rootValue: ROOT, variableValues: variables, operationName: name }));
      expect(shown(result)).toEqual({ data: wanted });
    }
  });

  test('with a condition of null, which is an error', async () => {
    const text = 'query ($on: Boolean = true) { me { id @include(if: $on) name } }';
    expect(hotOperation(text).compiled).toBeDefined();
    for (const variables of [{}, { on: false }, { on: null }])
      expect(shown(await answerOf(text, variables))).toEqual(shown(await plain(text, variables)));
  });
});

test('conditions of single fields and objects do not keep an operation from being compiled', () => {
  const text = `query ($on: Boolean!) { me @include(if: $on) { ...Name friend @skip(if: $on) { name @include(if: $on) } } } ${NAME}`;
  expect(hotOperation(text).compiled).toBeDefined();
});
