import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { createClient as createSseClient } from 'graphql-sse';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  CREATE,
  CREATE_STATUS,
  expectResumption,
  GROUPS,
  type GroupEvent,
  HOT_USES,
  LIST,
  resumingSockets,
  UPDATE_STATUS,
} from './sockets.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

type Variables = Readonly<Record<string, unknown>>;

/** What the tests need of a client, each by its own means. */
interface Adapter {
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  run(document: string, variables?: Variables): Promise<any>;
  /** Absent for clients without subscriptions. */
  subscribe?(document: string, next: (data: GroupEvent) => void): void;
  /** Loses the connection. */
  cut?(): void;
  stop(): Promise<void> | void;
}

const authorization = () => ({ authorization: `Bearer ${gateway.tenant.token}` });

function apollo(): Adapter {
  const sockets = resumingSockets(gateway);
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const http = new PersistedQueryLink({ sha256 }).concat(
    new HttpLink({ uri: `${gateway.url}/graphql`, headers: authorization() }),
  );
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.split(
      ({ operationType }) => operationType === 'subscription',
      new GraphQLWsLink(sockets.client),
      http,
    ),
  });
  return {
    async run(document, variables = {}) {
      const parsed = gql(document);
      const result = document.startsWith('mutation')
        ? await client.mutate({ mutation: parsed, variables })
        : await client.query({ query: parsed, variables, fetchPolicy: 'network-only' });
      if (result.error) throw result.error;
      return result.data;
    },
    subscribe(document, next) {
      client.subscribe<GroupEvent>({ query: gql(document) }).subscribe(({ data }) => {
        if (!data) return;
        sockets.seen(data.events.cursor);
        next(data);
      });
    },
    cut: () => sockets.client.terminate(),
    stop: () => sockets.client.dispose(),
  };
}

function urql(): Adapter {
  const sockets = resumingSockets(gateway);
  const client = new Client({
    url: `${gateway.url}/graphql`,
    fetchOptions: () => ({ headers: authorization() }),
    preferGetMethod: false,
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: sink => ({
            unsubscribe: sockets.client.subscribe(
              { query, variables: variables as Record<string, unknown> },
              sink as never,
            ),
          }),
        }),
      }),
    ],
  });
  return {
    async run(document, variables = {}) {
      const isMutation = document.startsWith('mutation');
      const result = await (isMutation ? client.mutation(document, variables) : client.query(document, variables));
      if (result.error) throw result.error;
      return result.data;
    },
    subscribe(document, next) {
      client.subscription<GroupEvent>(document, {}).subscribe(({ data }) => {
        if (!data) return;
        sockets.seen(data.events.cursor);
        next(data);
      });
    },
    cut: () => sockets.client.terminate(),
    stop: () => sockets.client.dispose(),
  };
}

function graphqlWs(): Adapter {
  const sockets = resumingSockets(gateway);
  return {
    run: async (query, variables = {}) => (await sockets.client.iterate({ query, variables }).next()).value?.data,
    subscribe(query, next) {
      sockets.client.subscribe<GroupEvent>(
        { query },
        {
          next: ({ data }) => {
            if (!data) return;
            sockets.seen(data.events.cursor);
            next(data);
          },
          error: () => undefined,
          complete: () => undefined,
        },
      );
    },
    cut: () => sockets.client.terminate(),
    stop: () => sockets.client.dispose(),
  };
}

/** Over SSE a lost connection is resumed by the variable of the subscription. */
function graphqlSse(): Adapter {
  let connection = new AbortController();
  const client = createSseClient({
    url: `${gateway.url}/graphql/stream`,
    retryAttempts: 10,
    retry: async () => undefined,
    headers: authorization,
    fetchFn: (url: string, init: RequestInit) => {
      connection = new AbortController();
      const { signal } = init;
      return fetch(url, {
        ...init,
        signal: signal ? AbortSignal.any([signal, connection.signal]) : connection.signal,
      });
    },
  });
  return {
    run: async (query, variables = {}) => (await client.iterate({ query, variables }).next()).value?.data,
    subscribe(query, next) {
      const document = query
        .replace('Groups {', 'Groups($after: String) {')
        .replace('filter: { types: [GROUP_CREATED] }', 'filter: { types: [GROUP_CREATED] }, after: $after');
      // The client serializes its variables anew each time that it connects.
      const variables: { after?: string } = {};
      client.subscribe<GroupEvent>(
        { query: document, variables },
        {
          next: ({ data }) => {
            if (!data) return;
            variables.after = data.events.cursor;
            next(data);
          },
          error: () => undefined,
          complete: () => undefined,
        },
      );
    },
    cut: () => connection.abort(),
    stop: () => client.dispose(),
  };
}

function graphqlRequest(): Adapter {
  const client = new GraphQLClient(`${gateway.url}/graphql`, { headers: authorization });
  return { run: (document, variables = {}) => client.request(document, variables), stop: () => undefined };
}

describe.each([
  ['Apollo Client, with persisted queries', apollo],
  ['urql', urql],
  ['graphql-request', graphqlRequest],
  ['graphql-ws', graphqlWs],
  ['graphql-sse', graphqlSse],
])('%s, unmodified', (name, adapterOf) => {
  let adapter: Adapter;
  beforeEach(async () => {
    adapter = adapterOf();
    return async () => adapter.stop();
  });

  test('runs a query and a mutation, whose user errors are data', async () => {
    const group = `Group of ${name}`;
    expect((await adapter.run(CREATE, { name: group })).createContactGroup).toMatchObject({
      contactGroup: { name: group },
      userErrors: [],
    });
    expect((await adapter.run(CREATE, { name: '' })).createContactGroup).toMatchObject({
      contactGroup: null,
      userErrors: [{ message: expect.any(String) }],
    });
    const { contactGroups } = await adapter.run(LIST, { search: group });
    expect(contactGroups.nodes).toMatchObject([{ name: group }]);
  });

  test('gets the same results for omitted variables however often a document is used', async () => {
    const first = await adapter.run(LIST);
    for (let use = 0; use < HOT_USES; use += 1) expect(await adapter.run(LIST)).toEqual(first);
    expect((await adapter.run(LIST, { first: 1 })).contactGroups.nodes).toHaveLength(1);
    const created = await adapter.run(CREATE_STATUS, { input: { name: `Status of ${name}`, color: '#123456' } });
    const { id } = created.createContactStatus.contactStatus;
    for (let use = 0; use < HOT_USES; use += 1) {
      const changed = await adapter.run(UPDATE_STATUS, { id, name: `Status ${use} of ${name}` });
      expect(changed.updateContactStatus).toMatchObject({
        contactStatus: { name: `Status ${use} of ${name}`, color: '#123456' },
        userErrors: [],
      });
    }
  });

  test('resumes its subscription without a gap or a repetition', async context => {
    const { subscribe, cut } = adapter;
    if (!subscribe || !cut) return context.skip('It has no subscriptions.');
    const names: string[] = [];
    subscribe(GROUPS, ({ events }) => names.push(events.contactGroup.name));
    await expectResumption(gateway, names, cut);
  });
});
