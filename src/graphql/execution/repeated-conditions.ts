import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/**
 * Whether `@skip` or `@include` stand where graphql-jit 0.8.9 applies them to other places, too. It notes conditions at the nodes of
 * fields: a fragment that is spread twice has one node for both places, so that fields vanish where they have no condition; and those
 * of an object do not reach the fragments below it, so that of an object that is selected twice it includes what is skipped.
 */
export function hasRepeatedConditions(document: DocumentNode): boolean {
  let [isOnPart, isOnObject] = [false, false];
  const sets: SelectionSetNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  const spreads: string[] = [];
  visit(document, {
    FragmentDefinition: fragment => void fragments.set(fragment.name.value, fragment),
    SelectionSet: set => void sets.push(set),
    Field(field) {
      isOnObject ||= field.selectionSet !== undefined && isConditional(field);
    },
    InlineFragment(fragment) {
      isOnPart ||= isConditional(fragment);
    },
    FragmentSpread(spread) {
      spreads.push(spread.name.value);
      isOnPart ||= isConditional(spread);
    },
  });
  if (isOnPart && new Set(spreads).size < spreads.length) return true;
  return (isOnPart || isOnObject) && sets.some(set => hasRepeatedObject(set, fragments));
}

const isConditional = ({ directives = [] }: SelectionNode): boolean =>
  directives.some(({ name }) => name.value === 'skip' || name.value === 'include');

/** Whether two fields have one key in the response, of all that are collected together, and a fragment below one of them. */
function hasRepeatedObject(set: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): boolean {
  /** Whether the objects that were found have fragments, by their keys. */
  const found = new Map<string, boolean>();
  const visited = new Set<string>();
  const isRepeated = ({ selections }: SelectionSetNode): boolean =>
    selections.some(selection => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return isRepeated(selection.selectionSet);
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (!fragment || visited.has(selection.name.value)) return false;
        visited.add(selection.name.value);
        return isRepeated(fragment.selectionSet);
      }
      if (!selection.selectionSet) return false;
      const key = (selection.alias ?? selection.name).value;
      const other = found.get(key);
      const hasOwn = hasFragment(selection.selectionSet);
      found.set(key, hasOwn || other === true);
      return other !== undefined && (hasOwn || other);
    });
  return isRepeated(set);
}

const hasFragment = ({ selections }: SelectionSetNode): boolean =>
  selections.some(selection =>
    selection.kind === Kind.FIELD ? selection.selectionSet !== undefined && hasFragment(selection.selectionSet) : true,
  );
