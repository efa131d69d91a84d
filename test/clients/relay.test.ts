import { createHash } from 'node:crypto';
import { type FormattedExecutionResult, parse, print, validate } from 'graphql';
import {
  type ConcreteRequest,
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { createClient } from '../../src/client/client.ts';
import { relayNetwork } from '../../src/client/relay.ts';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { seedOf } from '../support/seed.ts';
import contactQuery from './relay/__generated__/documentsContactQuery.graphql.ts';
import contactsSubscription from './relay/__generated__/documentsContactsSubscription.graphql.ts';
import createGroup from './relay/__generated__/documentsCreateGroupMutation.graphql.ts';
import groupsQuery from './relay/__generated__/documentsGroupsQuery.graphql.ts';
import groupsSubscription from './relay/__generated__/documentsGroupsSubscription.graphql.ts';
import messagesQuery from './relay/__generated__/documentsMessagesQuery.graphql.ts';
import updateStatus from './relay/__generated__/documentsUpdateStatusMutation.graphql.ts';
import { DOCUMENTS } from './relay/documents.ts';
import { expectResumption, HOT_USES, resumingSockets } from './sockets.ts';

/** Relay's runtime, unmodified, with documents of its compiler: a normalized store that trusts ids and connections. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const ARTIFACTS: readonly (ConcreteRequest & { readonly hash?: string })[] = [
  contactQuery,
  contactsSubscription,
  createGroup,
  groupsQuery,
  groupsSubscription,
  messagesQuery,
  updateStatus,
];

test.each(ARTIFACTS.map(artifact => [artifact.params.name, artifact] as const))(
  '%s is compiled from the document as it is now, and fits the schema',
  (name, { hash, params: { text } }) => {
    expect(hash).toBe(
      createHash('md5')
        .update(print(parse(DOCUMENTS[name] ?? '')))
        .digest('hex'),
    );
    expect(validate(schema, parse(text ?? ''))).toEqual([]);
  },
);

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
type Data = any;

/** Relay as its documentation sets it up: POST for queries and mutations, graphql-ws for subscriptions. */
function relay() {
  const sockets = resumingSockets(gateway);
  const network = Network.create(
    async ({ text, name }, variables) => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.tenant.token}` },
        body: JSON.stringify({ query: text, operationName: name, variables }),
      });
      return (await response.json()) as never;
    },
    ({ text, name }, variables) =>
      Observable.create<never>(sink =>
        sockets.client.subscribe<{ events?: { cursor: string } }>(
          { query: text ?? '', operationName: name, variables },
          {
            next(value: FormattedExecutionResult<{ events?: { cursor: string } }>) {
              if (value.data?.events) sockets.seen(value.data.events.cursor);
              sink.next(value as never);
            },
            error: (error: Error) => sink.error(error),
            complete: () => sink.complete(),
          },
        ),
      ),
  );
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  return { sockets, ...actionsOf(environment) };
}

/** The functions of Relay that pages call through its hooks. */
function actionsOf(environment: Environment) {
  return {
    read: async (query: ConcreteRequest, variables: object = {}): Promise<Data> =>
      fetchQuery(environment, query, variables).toPromise(),
    /** What the store has, without a request. */
    stored: (query: ConcreteRequest, variables: object = {}): Data =>
      environment.lookup(createOperationDescriptor(query, variables as never).fragment).data,
    mutate: (mutation: ConcreteRequest, variables: Record<string, unknown>): Promise<Data> =>
      new Promise((resolve, reject) => {
        commitMutation(environment, { mutation, variables, onCompleted: resolve, onError: reject });
      }),
    subscribe: (subscription: ConcreteRequest, variables: Record<string, unknown>, onNext: (data: Data) => void) =>
      requestSubscription(environment, { subscription, variables, onNext }),
    /** Keeps what the store has of a query from its garbage collection. */
    retain: (query: ConcreteRequest, variables: object = {}) =>
      environment.retain(createOperationDescriptor(query, variables as never)),
  };
}

describe("Relay over the client package's network", () => {
  test('reads, writes, and gets user errors and events', async () => {
    const parley = createClient({ url: gateway.url, token: gateway.tenant.token });
    onTestFinished(() => parley.close());
    const { execute, subscribe } = relayNetwork(parley);
    const network = Network.create(execute, subscribe);
    const client = actionsOf(new Environment({ network, store: new Store(new RecordSource()) }));
    const { eventCursor: after } = dataOf(await gateway.graphql('{ eventCursor }'));
    const names: string[] = [];
    const { dispose } = client.subscribe(groupsSubscription, { after }, ({ events }) =>
      names.push(events.contactGroup.name),
    );
    const name = crypto.randomUUID();
    const created = await client.mutate(createGroup, { input: { name } });
    expect(created.createContactGroup).toMatchObject({ contactGroup: { name }, userErrors: [] });
    const empty = await client.mutate(createGroup, { input: { name: '' } });
    expect(empty.createContactGroup).toMatchObject({ contactGroup: null, userErrors: [{ code: 'REQUIRED' }] });
    const { contactGroups } = await client.read(groupsQuery, { first: 10, search: name });
    expect(contactGroups.edges.map(({ node }: Data) => node.name)).toEqual([name]);
    await eventually(() => expect(names).toContain(name));
    dispose();
  });
});

describe('Relay', () => {
  let client: ReturnType<typeof relay>;
  beforeEach(() => {
    client = relay();
    return async () => client.sockets.client.dispose();
  });

  test('loses no page of a connection, and keeps lists with other arguments apart', async () => {
    const seed = seedOf(gateway);
    const names = ['page a', 'page b', 'page c', 'page d', 'page e'];
    for (const name of names) await seed.label('Group', name);
    const variables = { first: 2, search: 'page' };
    client.retain(groupsQuery, variables);
    const shown = (): Data => client.stored(groupsQuery, variables).contactGroups;
    await client.read(groupsQuery, variables);
    await client.read(groupsQuery, { first: 10, search: 'page c' });
    expect(shown().edges).toHaveLength(2);
    while (shown().pageInfo.hasNextPage)
      await client.read(groupsQuery, { ...variables, after: shown().pageInfo.endCursor });
    expect(
      shown()
        .edges.map(({ node }: Data) => node.name)
        .sort(),
    ).toEqual(names);
  });

  test('gets the user errors of each mutation, also if it failed differently before', async () => {
    const name = crypto.randomUUID();
    const [created, taken, empty] = [
      await client.mutate(createGroup, { input: { name } }),
      await client.mutate(createGroup, { input: { name } }),
      await client.mutate(createGroup, { input: { name: '' } }),
    ];
    expect(created.createContactGroup).toMatchObject({ contactGroup: { name }, userErrors: [] });
    expect(taken.createContactGroup).toEqual({
      contactGroup: null,
      userErrors: [{ __typename: 'InputError', code: 'TAKEN', message: expect.any(String), path: ['name'] }],
    });
    expect(empty.createContactGroup).toMatchObject({ contactGroup: null, userErrors: [{ code: 'REQUIRED' }] });
  });

  test('keeps what an update omits, however often its document is used', async () => {
    const input = { name: crypto.randomUUID(), color: '#123456' };
    const { contactStatus } = payloadOf(await gateway.mutate('createContactStatus', input, 'contactStatus { id }'));
    for (let use = 0; use < HOT_USES; use += 1) {
      const name = `Status ${use} of Relay`;
      const changed = await client.mutate(updateStatus, { input: { id: contactStatus.id, name } });
      expect(changed.updateContactStatus).toEqual({
        contactStatus: { id: contactStatus.id, name, color: '#123456' },
        userErrors: [],
      });
    }
    // What Relay makes of a variable of its own that is omitted.
    const refused = await client.mutate(updateStatus, { input: { id: contactStatus.id, color: null } });
    expect(refused.updateContactStatus).toEqual({
      contactStatus: null,
      userErrors: [{ message: 'May not be null: omit the field to keep its value.', path: ['color'] }],
    });
  });

  test('shows the buttons of each message, whose answers have the same ids', async () => {
    const send = async (title: string): Promise<void> => {
      const content = { interactive: { body: 'Shall we?', buttons: [{ replyId: 'yes', title }] } };
      dataOf(await gateway.mutate('sendMessage', { to: { phone: '+4915112340001' }, content }, 'message { id }'));
    };
    await send('Yes, please');
    await send('By all means');
    const { messages } = await client.read(messagesQuery);
    const buttons = messages.edges.flatMap(({ node }: Data) => node.content.buttons);
    expect(buttons.sort((one: Data, other: Data) => (one.title < other.title ? -1 : 1))).toEqual([
      { replyId: 'yes', title: 'By all means' },
      { replyId: 'yes', title: 'Yes, please' },
    ]);
  });

  test('never stores former values of an object in its current record', async () => {
    const { eventCursor: after } = dataOf(await gateway.graphql('{ eventCursor }'));
    const phone = '+4915112340002';
    const { contact } = payloadOf(
      await gateway.mutate('createContact', { phone, firstName: 'First' }, 'contact { id }'),
    );
    for (const firstName of ['Second', 'Third'])
      dataOf(await gateway.mutate('updateContact', { id: contact.id, firstName }, 'contact { id }'));
    client.retain(contactQuery, { id: contact.id });
    await client.read(contactQuery, { id: contact.id });
    // Both events are told after the last change: their payloads have what was, the contact under its id is what is.
    const seen: Data[] = [];
    client.subscribe(contactsSubscription, { after }, data => seen.push(data.events));
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen.map(({ payload }) => payload.contact.firstname)).toEqual(['Second', 'Third']);
    expect(seen.map(event => event.contact)).toEqual([
      { id: contact.id, firstName: 'Third' },
      { id: contact.id, firstName: 'Third' },
    ]);
    expect(client.stored(contactQuery, { id: contact.id }).contact.firstName).toBe('Third');
  });

  test('resumes its subscription without a gap or a repetition', async () => {
    const names: string[] = [];
    client.subscribe(groupsSubscription, {}, ({ events }) => names.push(events.contactGroup.name));
    await expectResumption(gateway, names, () => client.sockets.client.terminate());
  });
});
