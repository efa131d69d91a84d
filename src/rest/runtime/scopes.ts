import { type DocumentNode, type GraphQLField, type GraphQLSchema, Kind } from 'graphql';
import type { Scope } from '../../core/scopes.ts';
import { operationOf } from './sparse.ts';

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
