import { type DirectiveNode, type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/** The fields selected below a field, by name, with aliases and fragments merged. */
export type Selection = ReadonlyMap<string, Selection>;

interface Planned {
  readonly name: string;
  readonly conditions: readonly Condition[];
  readonly nodes: readonly FieldNode[];
}

type Condition = { readonly variable: string; readonly wanted: boolean };

/** The selection of a field node without its conditions, walked once; variables only decide which conditions hold. */
const plans = new WeakMap<FieldNode, readonly Planned[]>();

/** Selections by field node and by the values of Boolean variables. Callers cache work by the identity of a selection. */
const selections = new WeakMap<FieldNode, Map<string, Selection>>();
/** Combinations of Boolean variables that are cached for one field. */
const MAX_COMBINATIONS = 64;

/** Returns the selection below the field being resolved, with `@skip` and `@include` applied. */
export function selectionOf(info: GraphQLResolveInfo): Selection {
  const [node] = info.fieldNodes;
  if (!node || info.fieldNodes.length > 1) return select(info.fieldNodes, info);
  const combination = booleansOf(info);
  const byCombination = selections.get(node) ?? new Map<string, Selection>();
  selections.set(node, byCombination);
  const known = byCombination.get(combination);
  if (known) return known;
  const selection = select([node], info);
  if (byCombination.size >= MAX_COMBINATIONS) byCombination.clear();
  byCombination.set(combination, selection);
  return selection;
}

/**
 * Cached by the variables of a request, because `selectsOnlyKey` is called for each reference of each row: 1 ms for 50 contacts with the
 * 28 Boolean variables of REST.
 */
const combinations = new WeakMap<object, string>();

/** Serializes the Boolean variables of a request: only those can be used in `@skip` and `@include`. */
function booleansOf({ variableValues }: GraphQLResolveInfo): string {
  const known = combinations.get(variableValues);
  if (known !== undefined) return known;
  let text = '';
  for (const [name, value] of Object.entries(variableValues))
    if (typeof value === 'boolean') text += `${name}=${value},`;
  combinations.set(variableValues, text);
  return text;
}

const KEYS: ReadonlySet<string> = new Set(['id', 'databaseId', '__typename']);

/**
 * Whether only ids are selected of the field being resolved, so that the referenced row need not be read:
 * `status: t.field({ resolve: (row, _args, context, info) => selectsOnlyKey(info) ? { id: row.status_id } : statusLoader…`.
 */
export const selectsOnlyKey = (info: GraphQLResolveInfo): boolean => hasOnlyKey(selectionOf(info));

/** As `selectsOnlyKey`, for a given selection. */
export const hasOnlyKey = (selection: Selection): boolean => {
  for (const name of selection.keys()) if (!KEYS.has(name)) return false;
  return true;
};

/** Returns the selection at a path below another one; empty if nothing is selected there. */
export function selectionAt(selection: Selection, ...path: readonly string[]): Selection {
  let at: Selection | undefined = selection;
  for (const name of path) at = at?.get(name);
  return at ?? EMPTY;
}

const EMPTY: Selection = new Map();

/** Merges two selections of a field: it may occur several times, under aliases and in fragments. */
export function merged(one: Selection | undefined, other: Selection): Selection {
  if (!one || one.size === 0) return other;
  const all = new Map(one);
  for (const [name, below] of other) all.set(name, merged(all.get(name), below));
  return all;
}

function select(nodes: readonly FieldNode[], info: GraphQLResolveInfo): Selection {
  const selected = new Map<string, Selection>();
  for (const node of nodes) {
    for (const { name, conditions, nodes: children } of planOf(node, info)) {
      if (!conditions.every(({ variable, wanted }) => info.variableValues[variable] === wanted)) continue;
      selected.set(name, merged(selected.get(name), select(children, info)));
    }
  }
  return selected;
}

function planOf(node: FieldNode, info: GraphQLResolveInfo): readonly Planned[] {
  const known = plans.get(node);
  if (known) return known;
  const plan: Planned[] = [];
  if (node.selectionSet) collect(node.selectionSet, [], info, plan);
  plans.set(node, plan);
  return plan;
}

function collect(set: SelectionSetNode, outer: readonly Condition[], info: GraphQLResolveInfo, plan: Planned[]): void {
  for (const selection of set.selections) {
    const conditions = conditionsOf(selection.directives ?? []);
    if (!conditions) continue;
    const all = [...outer, ...conditions];
    if (selection.kind === Kind.FIELD) plan.push({ name: selection.name.value, conditions: all, nodes: [selection] });
    else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, all, info, plan);
    else {
      const fragment = info.fragments[selection.name.value];
      if (fragment) collect(fragment.selectionSet, all, info, plan);
    }
  }
}

/** @returns undefined if the field is never included */
function conditionsOf(directives: readonly DirectiveNode[]): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const directive of directives) {
    if (directive.name.value !== 'skip' && directive.name.value !== 'include') continue;
    const wanted = directive.name.value === 'include';
    const value = directive.arguments?.[0]?.value;
    if (value?.kind === Kind.VARIABLE) conditions.push({ variable: value.name.value, wanted });
    else if (value?.kind === Kind.BOOLEAN && value.value !== wanted) return undefined;
  }
  return conditions;
}
