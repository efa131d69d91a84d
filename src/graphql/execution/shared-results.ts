import { type ExecutionResult, Kind, visit } from 'graphql';
import type { Context } from '../../schema/context.ts';
import type { Operation, Variables } from './documents.ts';

/** Results of subscription events, each executed once for all subscribers that would get the same. */
export interface SharedResults {
  /**
   * @param event the event as the stream emitted it: the same object for every subscriber of the process
   * @param group see `groupOf`
   * @param execute called for the first subscriber of a group
   */
  result(event: object, group: string, execute: () => Promise<ExecutionResult>): Promise<ExecutionResult>;
  /**
   * Subscribers of a group get the same result for the same event: same operation, same values of the variables used below
   * the root field, same tenant, staff member and scopes. Resolvers see nothing else of a caller.
   */
  groupOf(operation: Operation, variables: Variables, context: Context): string;
}

/** Dashboards of a tenant subscribe to the same events with the same document; each execution costs 40 µs. */
export function createSharedResults(): SharedResults {
  const results = new WeakMap<object, Map<string, Promise<ExecutionResult>>>();
  const operations = new WeakMap<Operation, { readonly number: number; readonly variables: readonly string[] }>();
  let count = 0;

  function numbered(operation: Operation): { readonly number: number; readonly variables: readonly string[] } {
    let entry = operations.get(operation);
    if (!entry) {
      count += 1;
      entry = { number: count, variables: variablesBelowRoot(operation) };
      operations.set(operation, entry);
    }
    return entry;
  }

  return {
    result(event, group, execute) {
      let byGroup = results.get(event);
      if (!byGroup) {
        byGroup = new Map();
        results.set(event, byGroup);
      }
      let result = byGroup.get(group);
      if (!result) {
        result = execute();
        byGroup.set(group, result);
      }
      return result;
    },

    groupOf(operation, variables, { principal }) {
      const { number, variables: names } = numbered(operation);
      const values = names.map(name => variables[name]);
      const { tenant, scopes = [], session } = principal ?? {};
      return JSON.stringify([number, tenant?.id, session?.staffId, [...scopes].sort(), values]);
    },
  };
}

/** Names the variables used outside the root field's arguments, which select the events but do not change their results. */
function variablesBelowRoot({ document, node }: Operation): readonly string[] {
  const names = new Set<string>();
  const collect = (part: Parameters<typeof visit>[0]): void => {
    visit(part, { Variable: variable => void names.add(variable.name.value) });
  };
  for (const definition of document.definitions) if (definition.kind === Kind.FRAGMENT_DEFINITION) collect(definition);
  for (const selection of node.selectionSet.selections) {
    // A subscription has one root field. Within a fragment it is collected above, including its arguments.
    collect(selection.kind === Kind.FIELD ? { ...selection, arguments: [] } : selection);
  }
  return [...names].sort();
}
