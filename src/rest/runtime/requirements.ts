import { type DocumentNode, type GraphQLField, type GraphQLSchema, Kind } from 'graphql';
import { MAX_PAGE_SIZE } from '../../core/list-args.ts';
import type { Scope } from '../../core/scopes.ts';
import type { Operation } from '../../graphql/execution/documents.ts';
import { measure, pointsOf } from '../../graphql/execution/limits.ts';
import type { Route } from './route.ts';
import { operationOf } from './sparse.ts';

/** What the documents of a route require of a caller: scopes, and points of the rate limits. */

/** The scopes that a root field requires, all of them. */
export function scopesOf({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): readonly Scope[] {
  const { authScopes } = (extensions['pothosOptions'] ?? {}) as {
    readonly authScopes?: { readonly scope?: Scope | readonly Scope[] };
  };
  return [authScopes?.scope ?? []].flat();
}

/** The scopes that the root fields of a document require. */
export function scopesOfDocument(document: DocumentNode, schema: GraphQLSchema): readonly Scope[] {
  const operation = operationOf(document);
  const fields = (operation && schema.getRootType(operation.operation)?.getFields()) ?? {};
  return (operation?.selectionSet.selections ?? []).flatMap(selection => {
    const field = selection.kind === Kind.FIELD ? fields[selection.name.value] : undefined;
    return field ? scopesOf(field) : [];
  });
}

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
