import { type ParleyClient, withKey } from './client.ts';
import { ParleyError } from './errors.ts';
import type { GraphQLBody } from './http.ts';

/** Parameters that Relay passes to its network for each operation. */
interface RequestParameters {
  readonly name: string;
  readonly operationKind: string;
  readonly text?: string | null;
  /** Of a persisted document, stored with `publishDocuments`. */
  readonly id?: string | null;
}

interface Sink {
  next(response: never): void;
  error(error: Error): void;
  complete(): void;
}

const bodyOf = ({ name, text, id }: RequestParameters, variables: object): GraphQLBody => ({
  ...(id ? { documentId: id } : { query: text ?? '' }),
  operationName: name,
  variables,
});

/**
 * The two functions of Relay's network: `Network.create(network.execute, network.subscribe)`. Relay needs no cache settings: global
 * ids are unique, and connections follow its specification.
 */
export const relayNetwork = (client: ParleyClient) => ({
  async execute(request: RequestParameters, variables: object): Promise<never> {
    const keyed = request.operationKind === 'mutation' ? withKey(variables) : variables;
    try {
      return { data: await client.execute(bodyOf(request, keyed ?? variables), keyed !== undefined) } as never;
    } catch (error) {
      // Fields that succeeded beside a refused one.
      if (error instanceof ParleyError && error.data != null)
        return { data: error.data, errors: error.errors } as never;
      throw error;
    }
  },

  subscribe(request: RequestParameters, variables: object) {
    return {
      subscribe(sink: Sink): { unsubscribe(): void } {
        const controller = new AbortController();
        const run = async (): Promise<void> => {
          for await (const data of client.stream(bodyOf(request, variables), controller.signal))
            sink.next({ data } as never);
          sink.complete();
        };
        run().catch((error: Error) => {
          if (!controller.signal.aborted) sink.error(error);
        });
        return { unsubscribe: () => controller.abort() };
      },
    };
  },
});
