import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
} from 'graphql';

/**
 * A document with the types of its data and variables: a `TypedDocumentNode`, or the string of graphql-codegen's client preset in
 * `documentMode: 'string'`.
 */
export type TypedDocument<Data, Variables> = TypedDocumentNode<Data, Variables> | TypedString<Data, Variables>;

interface TypedString<Data, Variables> {
  toString(): string;
  readonly __apiType?: (variables: Variables) => Data;
}

/** Facts about a document, computed once per document. */
export interface ReadDocument {
  readonly text: string;
  readonly operation: OperationDefinitionNode | undefined;
}

const READ = new WeakMap<object, ReadDocument>();

export function readDocument(document: object | string): ReadDocument {
  if (typeof document === 'string') return readText(document);
  const known = READ.get(document);
  if (known) return known;
  const read = isNode(document)
    ? { text: print(document), operation: operationOf(document) }
    : readText(String(document));
  READ.set(document, read);
  return read;
}

function readText(text: string): ReadDocument {
  try {
    return { text, operation: operationOf(parse(text, { noLocation: true })) };
  } catch {
    // The gateway tells what is wrong with it, and where.
    return { text, operation: undefined };
  }
}

const isNode = (document: object): document is DocumentNode => 'kind' in document && document.kind === Kind.DOCUMENT;

const operationOf = ({ definitions }: DocumentNode): OperationDefinitionNode | undefined =>
  definitions.find(definition => definition.kind === Kind.OPERATION_DEFINITION);

export const declaresVariable = ({ operation }: ReadDocument, name: string): boolean =>
  operation?.variableDefinitions?.some(({ variable }) => variable.name.value === name) ?? false;

/**
 * Names of mutations in a document whose `userErrors` are not selected: a refusal would look like a success with an empty object.
 * A payload that is selected by a named fragment counts as complete; the gateway checks trusted documents in full.
 */
export const mutationsWithoutUserErrors = ({ operation }: ReadDocument): string[] =>
  operation?.operation === 'mutation'
    ? operation.selectionSet.selections
        .filter((selection): selection is FieldNode => selection.kind === Kind.FIELD)
        .filter(({ selectionSet }) => !selectsUserErrors(selectionSet))
        .map(({ name }) => name.value)
    : [];

const selectsUserErrors = (set: SelectionSetNode | undefined): boolean =>
  set?.selections.some(selection => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return true;
    if (selection.kind === Kind.INLINE_FRAGMENT) return selectsUserErrors(selection.selectionSet);
    return selection.name.value === 'userErrors';
  }) ?? false;
