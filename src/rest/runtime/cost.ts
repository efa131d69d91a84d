import type { GraphQLSchema } from 'graphql';
import { MAX_PAGE_SIZE } from '../../core/list-args.ts';
import type { Operation } from '../../graphql/execution/documents.ts';
import { measure, pointsOf } from '../../graphql/execution/limits.ts';
import type { Route } from './route.ts';
import { operationOf } from './sparse.ts';

/** Points that a call costs against the rate limits, measured on its documents with the largest page, as for GraphQL. */
export function costOf({ documents }: Pick<Route, 'documents'>, schema: GraphQLSchema): number {
  return costOfOperations(
    documents.map(document => {
      const node = operationOf(document);
      if (!node) throw new Error('The document has no operation.');
      return { node, measured: measure(schema, document, node) };
    }),
  );
}

/** Like `costOf`, for operations that are measured already. */
export function costOfOperations(operations: readonly Pick<Operation, 'node' | 'measured'>[]): number {
  const costs = operations.map(({ node, measured }) => {
    const variables = (node.variableDefinitions ?? []).map(({ variable }) => [variable.name.value, MAX_PAGE_SIZE]);
    return pointsOf(measured, Object.fromEntries(variables));
  });
  return Math.max(...costs);
}
