import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** Normalized caches as they are without settings: what has an id is one record, and a list without ids belongs to its parent. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Cached {
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  read(document: string, variables: object, from: 'network' | 'cache'): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  mutate(document: string, variables: object): Promise<any>;
}

function apollo(): Cached {
  const headers = { authorization: `Bearer ${gateway.tenant.token}` };
  const link = new HttpLink({ uri: `${gateway.url}/graphql`, headers });
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  return {
    async read(document, variables, from) {
      const fetchPolicy = from === 'network' ? 'network-only' : 'cache-only';
      const { data, error } = await client.query({ query: gql(document), variables, fetchPolicy });
      if (error) throw error;
      return data;
    },
    async mutate(document, variables) {
      const { data, error } = await client.mutate({ mutation: gql(document), variables });
      if (error) throw error;
      return data;
    },
  };
}

function graphcache(): Cached {
  const client = new Client({
    url: `${gateway.url}/graphql`,
    preferGetMethod: false,
    fetchOptions: { headers: { authorization: `Bearer ${gateway.tenant.token}` } },
    // Types without an id are embedded in their parents, with a warning for each.
    exchanges: [cacheExchange({ logger: () => undefined }), fetchExchange],
  });
  return {
    async read(document, variables, from) {
      const requestPolicy = from === 'network' ? 'network-only' : 'cache-only';
      const { data, error } = await client.query(document, variables, { requestPolicy }).toPromise();
      if (error) throw error;
      return data;
    },
    async mutate(document, variables) {
      const { data, error } = await client.mutation(document, variables).toPromise();
      if (error) throw error;
      return data;
    },
  };
}

const BUTTONS = `query Buttons { messages(first: 10) { edges { node { id
  content { ... on InteractiveContent { body buttons { replyId title } } } } } } }`;
const CONTACT = 'query Contact($id: ID!) { contact(id: $id) { id firstName } }';
const EVENTS = `query Events($after: String!) { events(after: $after, filter: { types: [CONTACT_UPDATED] }) {
  nodes { id ... on ContactEvent { payload contact { id firstName } } } } }`;
const CREATE = `mutation Create($input: CreateContactGroupInput!) { createContactGroup(input: $input) {
  contactGroup { id name } userErrors { code message path } } }`;

describe.each([
  ["Apollo's cache", apollo],
  ['Graphcache', graphcache],
])('%s', (name, make) => {
  test('shows the buttons of each message, whose answers have the same ids', async () => {
    const client = make();
    for (const title of ['Yes, please', 'By all means']) {
      const content = { interactive: { body: name, buttons: [{ replyId: 'yes', title }] } };
      dataOf(await gateway.mutate('sendMessage', { to: { phone: '+4915112340001' }, content }, 'message { id }'));
    }
    const fetched = await client.read(BUTTONS, {}, 'network');
    const shown = await client.read(BUTTONS, {}, 'cache');
    expect(shown).toEqual(fetched);
    const titles = shown.messages.edges
      .filter(({ node }: { node: { content: { body: string } } }) => node.content.body === name)
      .map(({ node }: { node: { content: { buttons: { title: string }[] } } }) => node.content.buttons[0]?.title);
    expect(titles.sort()).toEqual(['By all means', 'Yes, please']);
  });

  test('never stores former values of an object in its current record', async () => {
    const client = make();
    const { eventCursor: after } = dataOf(await gateway.graphql('{ eventCursor }'));
    const phone = name === 'Graphcache' ? '+4915112340003' : '+4915112340002';
    const { contact } = payloadOf(
      await gateway.mutate('createContact', { phone, firstName: 'First' }, 'contact { id }'),
    );
    for (const firstName of ['Second', 'Third'])
      dataOf(await gateway.mutate('updateContact', { id: contact.id, firstName }, 'contact { id }'));
    await client.read(CONTACT, { id: contact.id }, 'network');
    const past = async (): Promise<object[]> =>
      (await client.read(EVENTS, { after }, 'network')).events.nodes.map(
        ({ payload }: { payload: { contact: object } }) => payload.contact,
      );
    // The log is read up to a horizon, which other transactions may hold back for a moment.
    await expect.poll(past).toMatchObject([{ firstname: 'Second' }, { firstname: 'Third' }]);
    expect(await client.read(CONTACT, { id: contact.id }, 'cache')).toMatchObject({ contact: { firstName: 'Third' } });
  });

  test('keeps the user errors of each mutation apart', async () => {
    const client = make();
    const group = crypto.randomUUID();
    const results = [];
    for (const input of [{ name: group }, { name: group }, { name: '' }])
      results.push((await client.mutate(CREATE, { input })).createContactGroup);
    expect(results).toMatchObject([
      { contactGroup: { name: group }, userErrors: [] },
      { contactGroup: null, userErrors: [{ code: 'TAKEN', path: ['name'] }] },
      { contactGroup: null, userErrors: [{ code: 'REQUIRED', path: ['name'] }] },
    ]);
  });
});
