import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/**
 * Whether a document has `@skip` or `@include` in a place where graphql-jit 0.8.9 applies them wrongly. It stores conditions with the
 * nodes of fields, which has two faults:
 *
 * - A fragment that is spread twice has the same nodes in both places, so that the condition of one place hides fields in the other.
 * - The condition of an object does not reach the fragments below it: if an object is selected twice, and one selection is skipped, the
 *   fields of its fragments are included nevertheless.
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

/** Whether two of the fields that are merged into one object have the same response key, and one of them has a fragment below it. */
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
