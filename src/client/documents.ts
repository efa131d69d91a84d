import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type ObjectValueNode,
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
    // The gateway reports the syntax error.
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
 * A payload with a fragment spread counts as complete; the gateway checks trusted documents in full.
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

/**
 * The variables with an idempotency key in the input of each mutation, so that the document can be sent again.
 * @returns undefined if a repetition would execute a mutation twice: its input is a literal without a key, or shares its variable with
 *   another mutation
 */
export function withKeys<Variables extends object>(
  { operation }: ReadDocument,
  variables: Variables,
): Variables | undefined {
  const given = variables as Readonly<Record<string, unknown>>;
  const keyed: Record<string, unknown> = {};
  if (operation?.operation !== 'mutation') return undefined;
  for (const selection of operation.selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) return undefined;
    if (selection.name.value === '__typename') continue;
    const input = selection.arguments?.find(({ name }) => name.value === 'input')?.value;
    if (input?.kind === Kind.OBJECT && hasKey(input, given)) continue;
    if (input?.kind !== Kind.VARIABLE || Object.hasOwn(keyed, input.name.value)) return undefined;
    const value = keyedInput(given[input.name.value]);
    if (!value) return undefined;
    keyed[input.name.value] = value;
  }
  return { ...variables, ...keyed };
}

/** The input with an idempotency key. @returns undefined if the value is not an input object */
export function keyedInput(input: unknown): object | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const { idempotencyKey } = input as { readonly idempotencyKey?: unknown };
  return idempotencyKey == null ? { ...input, idempotencyKey: crypto.randomUUID() } : input;
}

function hasKey({ fields }: ObjectValueNode, variables: Readonly<Record<string, unknown>>): boolean {
  const key = fields.find(({ name }) => name.value === 'idempotencyKey')?.value;
  return key?.kind === Kind.VARIABLE ? variables[key.name.value] != null : key?.kind === Kind.STRING;
}
