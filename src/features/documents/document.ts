import { hash } from 'node:crypto';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  validate,
} from 'graphql';

/** Longest document, in tokens: as for documents that are sent as text. */
const MAX_TOKENS = 2_000;

export const digestOf = (body: string): Buffer => hash('sha256', body, 'buffer');

/** The `documentId` of a digest (GraphQL over HTTP, appendix A). */
export const documentIdOf = (digest: Buffer): string => `sha256:${digest.toString('hex')}`;

/**
 * Parses a document and checks it against the schema. Mutations must select `userErrors`: a page that does not would take every
 * refusal for a success.
 * @returns the name of its first operation (empty if it has none), or the error
 */
export function checkDocument(
  schema: GraphQLSchema,
  body: string,
): { readonly name: string } | { readonly faults: readonly string[] } {
  let document: DocumentNode;
  try {
    document = parse(body, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof GraphQLError) return { faults: [error.message] };
    if (error instanceof RangeError) return { faults: ['The document is nested too deeply.'] };
    throw error;
  }
  const faults = validate(schema, document, undefined, { maxErrors: 20 }).map(({ message }) => message);
  if (faults.length > 0) return { faults };
  const operations = document.definitions.filter(definition => definition.kind === Kind.OPERATION_DEFINITION);
  const [first] = operations;
  if (!first) return { faults: ['The document has no operation.'] };
  const blind = fieldsWithoutErrors(schema, document);
  if (blind.length > 0) return { faults: blind.map(name => `The mutation ${name} must select userErrors.`) };
  return { name: first.name?.value ?? '' };
}

/** Names the root fields of mutations whose payload has `userErrors` that are not selected. */
function fieldsWithoutErrors(schema: GraphQLSchema, document: DocumentNode): string[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const roots = schema.getMutationType()?.getFields() ?? {};
  return document.definitions
    .flatMap(definition =>
      definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'mutation'
        ? fieldsOf(definition.selectionSet, fragments)
        : [],
    )
    .filter(field => {
      const payload = roots[field.name.value] && getNamedType(roots[field.name.value]?.type);
      if (!isObjectType(payload) || payload.getFields()['userErrors'] === undefined) return false;
      const selected = field.selectionSet ? fieldsOf(field.selectionSet, fragments) : [];
      return !selected.some(({ name }) => name.value === 'userErrors');
    })
    .map(({ name }) => name.value);
}

/** The fields of a selection, with those of its fragments. Validation has excluded cycles. */
function fieldsOf(set: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  type Field = Extract<SelectionSetNode['selections'][number], { kind: Kind.FIELD }>;
  return set.selections.flatMap((selection): Field[] => {
    if (selection.kind === Kind.FIELD) return [selection];
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
    return inner ? fieldsOf(inner.selectionSet, fragments) : [];
  });
}
