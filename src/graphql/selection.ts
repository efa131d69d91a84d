import { type DirectiveNode, type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/** The fields selected below one field, by name; aliases and fragments are already merged. */
export type Selection = ReadonlyMap<string, Selection>;

interface Planned {
  readonly name: string;
  readonly conditions: readonly Condition[];
  readonly nodes: readonly FieldNode[];
}

type Condition = { readonly variable: string; readonly wanted: boolean };

/** What is selected does not change with a document, only what its variables include: the walk is done once per field node. */
const plans = new WeakMap<FieldNode, readonly Planned[]>();

/** Selections by the field and by what its document's variables include; the same object comes again, so that work on it can be kept. */
const selections = new WeakMap<FieldNode, Map<string, Selection>>();
/** A document may have many switches: so many of their settings are remembered for one field. */
const MAX_SETTINGS = 64;

/** What the client selected below the field that is being resolved, `@skip` and `@include` applied. */
export function selectionOf(info: GraphQLResolveInfo): Selection {
  const [node] = info.fieldNodes;
  if (!node || info.fieldNodes.length > 1) return select(info.fieldNodes, info);
  const setting = settingOf(info);
  const bySetting = selections.get(node) ?? new Map<string, Selection>();
  selections.set(node, bySetting);
  const known = bySetting.get(setting);
  if (known) return known;
  const selection = select([node], info);
  if (bySetting.size >= MAX_SETTINGS) bySetting.clear();
  bySetting.set(setting, selection);
  return selection;
}

/** The switches of an operation: only what is Boolean can stand in `@skip` and `@include`. */
function settingOf({ operation, variableValues }: GraphQLResolveInfo): string {
  let setting = '';
  for (const { variable } of operation.variableDefinitions ?? []) {
    const value = variableValues[variable.name.value];
    if (typeof value === 'boolean') setting += `${variable.name.value}=${value},`;
  }
  return setting;
}

/** The selection at a path below another one; empty where nothing is selected. */
export function selectionAt(selection: Selection, ...path: readonly string[]): Selection {
  let at: Selection | undefined = selection;
  for (const name of path) at = at?.get(name);
  return at ?? NOTHING;
}

const NOTHING: Selection = new Map();

/** Both selections of one field: it may stand in a document many times, under aliases and in fragments. */
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

/** @returns undefined when the field is never included */
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
