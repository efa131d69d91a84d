import { Kind, type OperationDefinitionNode } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { describe, expect, it } from 'vitest';
import { ROUTES_V1 } from '../../src/rest/v1/register.ts';
import { ROUTES_V2 } from '../../src/rest/v2/register.ts';
import { schema } from '../../src/schema.ts';

const required = (node: OperationDefinitionNode): string[] =>
  (node.variableDefinitions ?? [])
    .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue)
    .map(({ variable }) => variable.name.value);

describe('the program of a route', () => {
  // What its variables do not fit is left to the interpreter, which is five times as slow, and nobody would notice.
  const documents = [...ROUTES_V1, ...ROUTES_V2].flatMap(({ method, path, document, others = [] }) =>
    [document, ...others].map(one => [`${method} ${path}`, one] as const),
  );
  it.each(
    [...new Map(documents.map(([name, document]) => [document, name]))].map(([one, name]) => [name, one] as const),
  )('%s is run when nothing is given but what it requires', async (_name, document) => {
    const operation = document.definitions.find(node => node.kind === Kind.OPERATION_DEFINITION);
    const program = compileQuery(schema, document);
    if (!operation || !isCompiledQuery(program)) throw new Error('not compiled');
    const { errors = [] } = await program.query(undefined, undefined, {});
    const missing = errors.flatMap(({ message }) => /^Variable "\$(\w+)" of required type/.exec(message)?.[1] ?? []);
    expect(missing).toEqual(required(operation));
  });
});
