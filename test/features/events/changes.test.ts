import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import { codeOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const CHANGES =
  'query ($after: String!, $first: Int) { changes(after: $after, first: $first) { endCursor hasNextPage deletedIds nodes { __typename id ... on Contact { firstName } } } }';

const cursor = async (): Promise<string> => {
  const { data } = await gateway.graphql('{ eventCursor }');
  return data.eventCursor;
};

const changes = async (after: string, first?: number) => {
  const { data, errors } = await gateway.graphql(CHANGES, { after, first });
  expect(errors).toBeUndefined();
  return data.changes;
};

const write = (events: readonly NewEvent[]): Promise<readonly string[]> =>
  gateway.gateway.resources.db.transaction(trx => append(trx, gateway.tenant.id, events));

/** The tailer has read everything that was written. */
const caughtUp = async (): Promise<string> => {
  const [id] = await write([{ type: 'webhook.test', payload: { webhook: { id: 0 } } } as never]);
  // An event is listed once no older transaction can write another one before it.
  const mark = await eventually(async () => {
    const { data } = await gateway.graphql('{ events(last: 1) { nodes { databaseId cursor } } }');
    expect(data.events.nodes[0].databaseId).toBe(id);
    return data.events.nodes[0].cursor;
  });
  gateway.gateway.resources.signals.send('events');
  await eventually(async () => expect(await cursor()).toBe(mark));
  return mark;
};

test('each object that changed after a cursor comes once, as it is now; a deleted one by its id', async () => {
  const seed = seedOf(gateway);
  const [kept, gone] = [await seed.contact({ firstName: 'Ana' }), await seed.contact({ firstName: 'Bea' })];
  const start = await caughtUp();
  for (const name of ['B', 'C', 'D']) await gateway.rest('PATCH', `/contacts/${kept.id}`, { firstname: name });
  await gateway.rest('PATCH', `/contacts/${gone.id}`, { firstname: 'X' });
  const { data } = await gateway.graphql('query ($id: ID!) { contact(id: $id) { id } }', { id: String(gone.id) });
  await gateway.rest('DELETE', `/contacts/${gone.id}`);
  await caughtUp();
  const page = await changes(start);
  expect(page.nodes).toEqual([{ __typename: 'Contact', id: expect.any(String), firstName: 'D' }]);
  expect(page.deletedIds).toEqual([data.contact.id]);
  expect(page.hasNextPage).toBe(false);
  expect(await changes(page.endCursor)).toMatchObject({ nodes: [], deletedIds: [], hasNextPage: false });
});

test('pages of changes together name each object, and end where the next one begins', async () => {
  const start = await caughtUp();
  const seed = seedOf(gateway);
  const ids = [];
  for (let index = 0; index < 5; index += 1) ids.push((await seed.contact()).id);
  await caughtUp();
  const seen: string[] = [];
  let after = start;
  for (let more = true; more; ) {
    const page = await changes(after, 2);
    expect(page.nodes.length).toBeLessThanOrEqual(2);
    seen.push(...page.nodes.map((node: { id: string }) => node.id));
    after = page.endCursor;
    more = page.hasNextPage;
  }
  expect(new Set(seen).size).toBe(ids.length);
  expect(seen.length).toBe(ids.length);
});

test('a subscription after eventCursor tells what the lists of the same query do not show', async () => {
  const before = await caughtUp();
  await seedOf(gateway).contact();
  await caughtUp();
  const query =
    'query ($after: String) { events(after: $after, first: 50) { nodes { type cursor subjectId } pageInfo { endCursor hasNextPage } } }';
  const { data } = await gateway.graphql(query, { after: before });
  expect(data.events.nodes[0]).toMatchObject({ type: 'CONTACT_CREATED', subjectId: expect.any(String) });
  expect(data.events.pageInfo).toEqual({ endCursor: data.events.nodes.at(-1).cursor, hasNextPage: false });
  const { kernel } = gateway.gateway.server;
  const prepared = kernel.prepare('{ eventCursor }', undefined);
  if (!('operation' in prepared)) throw new Error('eventCursor is not in the schema.');
  const principal = await gateway.gateway.resources.tokens.verify(gateway.tenant.token);
  const context = kernel.createContext({ principal, requestId: 'none' });
  const withoutDatabase = { ...context, db: undefined as never };
  expect(await kernel.run(prepared.operation, {}, withoutDatabase)).toEqual({
    data: { eventCursor: expect.any(String) },
  });
});

test('the list goes both ways with one kind of cursor, and an event is found by its id', async () => {
  await caughtUp();
  const { id } = await seedOf(gateway).contact();
  await gateway.rest('PATCH', `/contacts/${id}`, { firstname: 'Cleo' });
  await gateway.rest('PATCH', `/contacts/${id}`, { firstname: 'Dora' });
  await caughtUp();
  const fields = '{ nodes { id databaseId type cursor } pageInfo { hasNextPage hasPreviousPage } }';
  const filter = { contactIds: [String(id)] };
  const ask = async (args: string, variables: object = {}) =>
    (
      await gateway.graphql(
        `query ($filter: EventFilter, $at: String) { events(filter: $filter, ${args}) ${fields} }`,
        { filter, ...variables },
      )
    ).data.events;
  const all = await ask('first: 10, after: $at');
  expect(all.nodes.map((node: { type: string }) => node.type)).toEqual([
    'CONTACT_CREATED',
    'CONTACT_UPDATED',
    'CONTACT_UPDATED',
  ]);
  const last = await ask('last: 1, before: $at', { at: all.nodes[2].cursor });
  expect(last).toEqual({ nodes: [all.nodes[1]], pageInfo: { hasNextPage: true, hasPreviousPage: true } });
  const timeline = await gateway.graphql(
    'query ($id: ID!) { contact(id: $id) { events(first: 2) { nodes { databaseId } } } }',
    { id: String(id) },
  );
  expect(timeline.data.contact.events.nodes.map((node: { databaseId: string }) => node.databaseId)).toEqual([
    all.nodes[2].databaseId,
    all.nodes[1].databaseId,
  ]);
  const node = 'query ($id: ID!) { node(id: $id) { id ... on ContactEvent { type contact { firstName } } } }';
  const found = await gateway.graphql(node, { id: all.nodes[0].id });
  expect(found.data.node).toEqual({ id: all.nodes[0].id, type: 'CONTACT_CREATED', contact: { firstName: 'Dora' } });
  const blind = await gateway.addToken(gateway.tenant, { scopes: ['events:read'] });
  expect((await gateway.graphql(node, { id: all.nodes[0].id }, blind)).data.node).toBeNull();
});

test('a cursor older than the retained events is CURSOR_EXPIRED, and malformed text is a field error', async () => {
  const old = Buffer.from('e:1:0').toString('base64url');
  await gateway.database.query('update event_retention set xid = $1, seq = 1', ['5']);
  for (const query of ['{ changes(after: "X") { endCursor } }', '{ events(after: "X") { nodes { id } } }']) {
    expect(codeOf(await gateway.graphql(query.replace('X', old)))).toBe('CURSOR_EXPIRED');
    expect(codeOf(await gateway.graphql(query.replace('X', 'nonsense')))).toBe('VALIDATION_ERROR');
  }
});
