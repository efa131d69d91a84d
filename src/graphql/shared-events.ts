import { type ExecutionResult, Kind, visit } from 'graphql';
import type { Context } from '../context.ts';
import type { Operation } from './documents.ts';
import type { Variables } from './kernel.ts';

/** Answers to one event of a subscription, each made once for all who would get the same. */
export interface SharedEvents {
  /**
   * @param event what the stream gave: the same object for every subscriber of the process
   * @param group who gets the same answer, as `groupOf` says
   * @param make makes the answer; called by the first who asks
   */
  answer(event: object, group: string, make: () => Promise<ExecutionResult>): Promise<ExecutionResult>;
  /**
   * Subscribers with the same group get the same answer to the same event: the same operation, with the same values of the
   * variables that its fields use, for the same tenant and scopes. Nothing else of a caller reaches a resolver.
   */
  groupOf(operation: Operation, variables: Variables, context: Context): string;
}

/**
 * A thousand dashboards of a tenant ask the same of every event. Executing it for each cost 40 µs apiece, of which what
 * differs, the id of the subscription, is a few bytes of the frame.
 */
export function createSharedEvents(): SharedEvents {
  /** As long as somebody has the event still to send, and no longer. */
  const answers = new WeakMap<object, Map<string, Promise<ExecutionResult>>>();
  const numbers = new WeakMap<Operation, { readonly number: number; readonly used: readonly string[] }>();
  let count = 0;

  function known(operation: Operation): { readonly number: number; readonly used: readonly string[] } {
    let found = numbers.get(operation);
    if (!found) {
      count += 1;
      found = { number: count, used: variablesBelowRoot(operation) };
      numbers.set(operation, found);
    }
    return found;
  }

  return {
    answer(event, group, make) {
      let ofEvent = answers.get(event);
      if (!ofEvent) {
        ofEvent = new Map();
        answers.set(event, ofEvent);
      }
      let answer = ofEvent.get(group);
      if (!answer) {
        answer = make();
        ofEvent.set(group, answer);
      }
      return answer;
    },

    groupOf(operation, variables, { principal }) {
      const { number, used } = known(operation);
      const values = used.map(name => variables[name]);
      return JSON.stringify([number, principal?.tenant.id, [...(principal?.scopes ?? [])].sort(), values]);
    },
  };
}

/** Variables that more than the arguments of the subscribed field use: those say which events come, not how they are answered. */
function variablesBelowRoot({ document, node }: Operation): readonly string[] {
  const used = new Set<string>();
  const collect = (part: Parameters<typeof visit>[0]): void => {
    visit(part, { Variable: variable => void used.add(variable.name.value) });
  };
  for (const definition of document.definitions) if (definition.kind === Kind.FRAGMENT_DEFINITION) collect(definition);
  for (const selection of node.selectionSet.selections) {
    // A subscription has one field; in a fragment it is counted above, arguments and all.
    collect(selection.kind === Kind.FIELD ? { ...selection, arguments: [] } : selection);
  }
  return [...used].sort();
}
