import {
  type ArgumentNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  visit,
} from 'graphql';

/**
 * Sparse fieldsets (a term of JSON:API): `fields` and `include` select what is read, not only what is written.
 *
 * In our documents a fragment has the mark `@sparse`; fields with the mark `@included` are read only if `include` or `fields` names
 * them. `npm run codegen` adds a switch to every field: `firstname: firstName @include(if: $with_firstname)`, with
 * `$with_firstname: Boolean = true` in each operation that uses the fragment (`= false` for `@included` fields). The fragment is thus
 * the only place that lists the fields of a row.
 */
const PREFIX = 'with_';
const SPARSE = 'sparse';
const INCLUDED = 'included';

/** Fields that a request switches on or off; others keep the default of the document. */
export type Switches = { readonly [name in `with_${string}`]: boolean };

export const switchOf = (field: string): `with_${string}` => `${PREFIX}${field}`;

/** The fields of an operation's rows, in the order of the document: those shown by default, and those that `include` adds. */
export interface RowFields {
  readonly fields: readonly string[];
  readonly includes: readonly string[];
}

export function switchesOf(document: DocumentNode): RowFields {
  const [fields, includes]: [string[], string[]] = [[], []];
  for (const { variable, defaultValue } of operationOf(document)?.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (!name.startsWith(PREFIX) || defaultValue?.kind !== Kind.BOOLEAN) continue;
    (defaultValue.value ? fields : includes).push(name.slice(PREFIX.length));
  }
  return { fields, includes };
}

export const operationOf = (document: DocumentNode): OperationDefinitionNode | undefined =>
  document.definitions.find(node => node.kind === Kind.OPERATION_DEFINITION);

/** Puts the switches into the documents of one folder, whose operations may use each other's fragments. */
export function withSwitches(documents: readonly DocumentNode[]): DocumentNode[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of documents.flatMap(({ definitions }) => definitions))
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const switched = (node: DefinitionNode): DefinitionNode => {
    if (node.kind === Kind.OPERATION_DEFINITION) return withVariables(node, fragments);
    return node.kind === Kind.FRAGMENT_DEFINITION && isMarked(node, SPARSE) ? withConditions(node) : node;
  };
  return documents.map(document => ({ ...document, definitions: document.definitions.map(switched) }));
}

const isMarked = ({ directives = [] }: { readonly directives?: readonly DirectiveNode[] | undefined }, mark: string) =>
  directives.some(({ name }) => name.value === mark);

const fieldsOf = ({ selectionSet }: FragmentDefinitionNode): readonly FieldNode[] =>
  selectionSet.selections.filter(selection => selection.kind === Kind.FIELD);

const wireNameOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

function withConditions(fragment: FragmentDefinitionNode): FragmentDefinitionNode {
  const selections = fieldsOf(fragment).map(field => ({ ...field, directives: [includeIf(wireNameOf(field))] }));
  return { ...fragment, directives: [], selectionSet: { ...fragment.selectionSet, selections } };
}

function includeIf(field: string): DirectiveNode {
  const value = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: switchOf(field) } } as const;
  const argument: ArgumentNode = { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'if' }, value };
  return { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'include' }, arguments: [argument] };
}

function withVariables(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): OperationDefinitionNode {
  const declared = new Map<string, string>();
  const visitor = {
    FragmentSpread({ name }: { readonly name: { readonly value: string } }) {
      const fragment = fragments.get(name.value);
      if (!fragment) return;
      if (isMarked(fragment, SPARSE))
        for (const field of fieldsOf(fragment))
          declared.set(switchOf(wireNameOf(field)), isMarked(field, INCLUDED) ? 'false' : 'true');
      visit(fragment, visitor);
    },
  };
  visit(operation, visitor);
  if (declared.size === 0) return operation;
  // Nullable, because graphql-jit does not apply the default of a non-null variable.
  const text = [...declared].map(([name, value]) => `$${name}: Boolean = ${value}`).join(' ');
  const added = operationOf(parse(`query (${text}) { any }`, { noLocation: true }))?.variableDefinitions ?? [];
  return { ...operation, variableDefinitions: [...(operation.variableDefinitions ?? []), ...added] };
}
