import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, subscriptionExchange } from 'urql';
import { type ParleyClient, ParleyError } from '../../client/client.ts';
import { readDocument, withKeys } from '../../client/documents.ts';
import { TransportError } from '../../client/errors.ts';
import { graphcacheSettings, inOrder } from '../../client/urql.ts';
import { type Fault, requestFault, withFaultTexts } from '../texts/faults.ts';
import { createListLimit, createThreadLimit } from './cache-limits.ts';
import { followAnew } from './follow-anew.ts';
import { forgetLaterPages } from './list-pages.ts';
import { appendFromConflict, appendFromSend, createEventUpdate, edgeKeys } from './thread-updates.ts';

interface Sink {
  next(result: object): void;
  error(error: unknown): void;
  complete(): void;
}

/** The error code with which a gateway of another version refuses a document of this page. */
export const OTHER_VERSION = 'DOCUMENT_NOT_FOUND';

/** The page, as the recipient of errors. */
export interface Reader {
  /** Returns the text of an error in the language of the page. */
  textOf(fault: Fault): string;
  /** Called when the gateway no longer accepts the session. */
  onUnauthorized(): void;
  /** Called when the gateway does not know a document of this page: it has another version. */
  onOutdated(): void;
}

interface Body {
  readonly query?: string | undefined;
  readonly operationName?: string | undefined;
  readonly variables?: Record<string, unknown> | undefined;
}

const { messages: _thread, ...otherLists } = graphcacheSettings.resolvers['Conversation'] ?? {};
// `useAll` joins the pages of these itself.
const { accessTokens, contactGroups, staffMembers, tags, ...rootLists } = graphcacheSettings.resolvers['Query'] ?? {};

/**
 * urql with a normalised cache, whose operations go through the Parley client: token renewal, retries, resumed subscriptions.
 * @param reader who reads the errors
 */
export const createGraphql = (client: ParleyClient, reader: Reader): Client =>
  new Client({
    url: `${location.origin}/graphql`,
    preferGetMethod: false,
    exchanges: [
      inOrder(
        cacheExchange({
          ...graphcacheSettings,
          // The inbox joins the pages of a thread itself.
          resolvers: { ...graphcacheSettings.resolvers, Query: rootLists, Conversation: otherLists },
          keys: { ...graphcacheSettings.keys, ...edgeKeys },
          updates: {
            Query: {
              templates: forgetLaterPages,
              webhookDeliveries: forgetLaterPages,
              conversation: createThreadLimit(),
              conversations: createListLimit(),
              contacts: createListLimit(),
              messages: createListLimit(),
            },
            Subscription: { events: createEventUpdate() },
            Mutation: {
              sendMessage: appendFromSend,
              retryMessage: appendFromSend,
              updateConversation: appendFromConflict,
            },
          },
        }),
      ),
      subscriptionExchange({
        enableAllOperations: true,
        forwardSubscription: (body, { kind }) => ({
          subscribe(sink: Sink) {
            const controller = new AbortController();
            const running =
              kind === 'subscription'
                ? follow(client, body as Body, sink, controller.signal)
                : execute(client, body as Body, kind === 'mutation', sink, controller.signal, reader);
            running.catch((error: unknown) => {
              if (controller.signal.aborted) return;
              report(error, reader);
              sink.error(inWords(error, reader));
            });
            return { unsubscribe: () => controller.abort() };
          },
        }),
      }),
    ],
  });

function report(error: unknown, reader: Reader): void {
  if (!(error instanceof ParleyError)) return;
  if (error.code === 'UNAUTHORIZED') reader.onUnauthorized();
  if (error.code === OTHER_VERSION) reader.onOutdated();
}

/** An error of a request, worded in the language of the page. */
function inWords<Failure>(error: Failure, { textOf }: Reader): Failure;
function inWords(error: unknown, { textOf }: Reader): unknown {
  if (error instanceof TransportError) return new TransportError(textOf(requestFault(error)), error.status, error);
  if (!(error instanceof ParleyError)) return error;
  const worded = error.errors.map(each => ({
    ...each,
    message: textOf({ code: each.extensions?.code, message: each.message }),
  }));
  return new ParleyError(worded, error.data);
}

async function execute(
  client: ParleyClient,
  body: Body,
  isMutation: boolean,
  sink: Sink,
  signal: AbortSignal,
  reader: Reader,
) {
  const { query = '', operationName, variables = {} } = body;
  const { textOf } = reader;
  const keyed = isMutation ? withKeys(readDocument(query), variables) : variables;
  try {
    const request = { query, operationName, variables: keyed ?? variables };
    const data = await client.execute(request, keyed !== undefined, signal);
    sink.next({ data: isMutation ? withFaultTexts(data, textOf) : data });
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    report(error, reader);
    // Fields that succeeded beside a refused one.
    const { errors } = inWords(error, reader);
    sink.next({ data: isMutation ? withFaultTexts(error.data, textOf) : error.data, errors });
  }
  sink.complete();
}

async function follow(client: ParleyClient, body: Body, sink: Sink, signal: AbortSignal) {
  const { query = '', operationName, variables = {} } = body;
  for await (const data of followAnew(client, { query, operationName, variables }, signal)) sink.next({ data });
  sink.complete();
}
