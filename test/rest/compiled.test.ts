import { Kind, type OperationDefinitionNode } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { compile } from '../../src/graphql/execution/documents.ts';
import { ROUTES_V1 } from '../../src/rest/v1/api.ts';
import { ROUTES_V2 } from '../../src/rest/v2/api.ts';

const required = (node: OperationDefinitionNode): string[] =>
  (node.variableDefinitions ?? [])
    .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue)
    .map(({ variable }) => variable.name.value);

describe('the compiled program of a route', () => {
  // What its variables do not fit is left to the interpreter, which is five times as slow, and nobody would notice.
  const documents = [...ROUTES_V1, ...ROUTES_V2].flatMap(({ method, path, documents }) =>
    documents.map(one => [`${method} ${path}`, one] as const),
  );
  it.each(
    [...new Map(documents.map(([name, document]) => [document, name]))].map(([one, name]) => [name, one] as const),
  )('%s runs with its required variables only', async (_name, document) => {
    const operation = document.definitions.find(node => node.kind === Kind.OPERATION_DEFINITION);
    const program = operation && compile(schema, { document, name: undefined, node: operation });
    if (!program) throw new Error('not compiled');
    const { errors = [] } = await program.query(undefined, undefined, {});
    const missing = errors.flatMap(({ message }) => /^Variable "\$(\w+)" of required type/.exec(message)?.[1] ?? []);
    expect(missing).toEqual(required(operation));
  });
});
