import type { GraphQLSchema } from 'graphql';
import { MAX_PAGE_SIZE } from '../../core/list-args.ts';
import { measure, pointsOf } from '../../graphql/execution/limits.ts';
import type { Route } from './route.ts';
import { operationOf } from './sparse.ts';

/** Points that a call costs against the rate limits, measured on its documents with the largest page, as for GraphQL. */
export function costOf({ documents }: Pick<Route, 'documents'>, schema: GraphQLSchema): number {
  const costs = documents.map(document => {
    const operation = operationOf(document);
    if (!operation) throw new Error('The document has no operation.');
    const variables = (operation.variableDefinitions ?? []).map(({ variable }) => [variable.name.value, MAX_PAGE_SIZE]);
    return pointsOf(measure(schema, document, operation), Object.fromEntries(variables));
  });
  return Math.max(...costs);
}
