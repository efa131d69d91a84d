import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, subscriptionExchange } from 'urql';
import { type ParleyClient, ParleyError, withKey } from '../../client/client.ts';
import { graphcacheSettings } from '../../client/urql.ts';
import { forgetLaterPages } from './list-pages.ts';
import { appendFromEvent, appendFromSend, edgeKeys } from './thread-updates.ts';

interface Sink {
  next(result: object): void;
  error(error: unknown): void;
  complete(): void;
}

interface Body {
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Record<string, unknown> | undefined;
}

/** urql with a normalised cache, whose operations go through the Parley client: token renewal, retries, resumed subscriptions. */
export const createGraphql = (client: ParleyClient): Client =>
  new Client({
    url: `${location.origin}/graphql`,
    preferGetMethod: false,
    exchanges: [
      cacheExchange({
        ...graphcacheSettings,
        keys: { ...graphcacheSettings.keys, ...edgeKeys },
        updates: {
          Query: { templates: forgetLaterPages, webhookDeliveries: forgetLaterPages },
          Subscription: { events: appendFromEvent },
          Mutation: { sendMessage: appendFromSend, retryMessage: appendFromSend },
        },
      }),
      subscriptionExchange({
        enableAllOperations: true,
        forwardSubscription: (body, { kind }) => ({
          subscribe(sink: Sink) {
            const controller = new AbortController();
            const run = kind === 'subscription' ? follow : execute;
            run(client, body as Body, kind === 'mutation', sink, controller.signal).catch((error: unknown) => {
              if (!controller.signal.aborted) sink.error(error);
            });
            return { unsubscribe: () => controller.abort() };
          },
        }),
      }),
    ],
  });

async function execute(client: ParleyClient, body: Body, isMutation: boolean, sink: Sink, signal: AbortSignal) {
  const { query = '', operationName, variables = {} } = body;
  const keyed = isMutation ? withKey(variables) : variables;
  try {
    const request = { query, operationName, variables: keyed ?? variables };
    sink.next({ data: await client.execute(request, keyed !== undefined, signal) });
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    // Fields that succeeded beside a refused one.
    sink.next({ data: error.data, errors: error.errors });
  }
  sink.complete();
}

async function follow(client: ParleyClient, body: Body, _isMutation: boolean, sink: Sink, signal: AbortSignal) {
  const { query = '', operationName, variables = {} } = body;
  for await (const data of client.stream({ query, operationName, variables }, signal)) sink.next({ data });
  sink.complete();
}
