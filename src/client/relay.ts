import {
  type FetchFunction,
  type GraphQLResponse,
  Observable,
  type SubscribeFunction,
  type Variables,
} from 'relay-runtime';
import type { ParleyClient } from './client.ts';
import { keyedInput, readDocument, withKeys } from './documents.ts';
import { ParleyError } from './errors.ts';
import type { GraphQLBody } from './http.ts';

/** What Relay gives a network about an operation. `id` is that of a persisted document, stored with `publishDocuments`. */
type Request = Parameters<FetchFunction>[0];

const bodyOf = ({ name, text, id }: Request, variables: object): GraphQLBody => ({
  ...(id ? { documentId: id } : { query: text ?? '' }),
  operationName: name,
  variables,
});

/** The variables with an idempotency key. The text of a persisted document is unknown: its only variable must be `input`, as Relay recommends. */
function keyedVariables({ text }: Request, variables: Variables): Variables | undefined {
  if (text) return withKeys(readDocument(text), variables);
  const input = keyedInput(variables['input']);
  return input && Object.keys(variables).length === 1 ? { input } : undefined;
}

/**
 * The two functions of Relay's network: `Network.create(network.execute, network.subscribe)`. Relay needs no cache settings: global
 * ids are unique, and connections follow its specification.
 */
export const relayNetwork = (client: ParleyClient): { execute: FetchFunction; subscribe: SubscribeFunction } => ({
  async execute(request, variables) {
    const keyed = request.operationKind === 'mutation' ? keyedVariables(request, variables) : variables;
    try {
      const data = await client.execute(bodyOf(request, keyed ?? variables), keyed !== undefined);
      return { data } as GraphQLResponse;
    } catch (error) {
      // Partial data: other fields succeeded.
      if (error instanceof ParleyError && error.data != null)
        return { data: error.data, errors: error.errors } as GraphQLResponse;
      throw error;
    }
  },

  subscribe: (request, variables) =>
    // Relay's own class: its environment calls methods of it that other observables lack.
    Observable.create<GraphQLResponse>(sink => {
      const controller = new AbortController();
      const run = async (): Promise<void> => {
        for await (const data of client.stream(bodyOf(request, variables), controller.signal))
          sink.next({ data } as GraphQLResponse);
        sink.complete();
      };
      run().catch((error: Error) => {
        if (!controller.signal.aborted) sink.error(error);
      });
      return () => controller.abort();
    }),
});
