import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { EVENT_TYPES, type NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import type { Facet, FacetName } from '../../../src/events/facets.sql.ts';
import { readTenant } from '../../../src/events/log.sql.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { type Follower, type FollowOptions, follow, seen } from './subscriber.ts';

let gateway: TestGateway;
let other: TestTenant;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
  other = await gateway.addTenant();
});
afterAll(() => gateway.stop());

async function send(to: string, tenant = gateway.tenant): Promise<string> {
  const { data } = await gateway.graphql(
    `mutation { sendMessage(input: { to: { phone: "${to}" }, content: { text: { body: "Hello" } } }) { message { databaseId } } }`,
    {},
    tenant.token,
  );
  return data.sendMessage.message.databaseId;
}

const write = (tenant: TestTenant, events: readonly NewEvent[]): Promise<readonly string[]> =>
  gateway.gateway.resources.db.transaction(trx => append(trx, tenant.id, events));

const template = (name: string, status: string): NewEvent =>
  ({ type: 'template.status_changed', payload: { template: { id: 7, name, status }, previous: {} } }) as never;
const group = (name: string): NewEvent => ({ type: 'group.created', payload: { group: { id: 1, name } } }) as never;

const open = async (): Promise<number> =>
  (await gateway.gateway.resources.metrics.subscribers.get()).values[0]?.value ?? 0;

/** Followers that are subscribed, not only connected: the gateway counts them. */
async function subscribed(token: string, options: readonly FollowOptions[]): Promise<Follower[]> {
  const before = await open();
  const followers = await Promise.all(options.map(one => follow(gateway.url, token, one)));
  await eventually(async () => expect(await open()).toBe(before + options.length));
  return followers;
}

// Who has left is no longer counted a moment later.
afterEach(() => eventually(async () => expect(await open()).toBe(0)));

const END = { xid: 2n ** 62n, seq: 0 };
const facetsOf = (filter: Readonly<Record<string, readonly (string | null)[]>>): Facet[] =>
  Object.entries(filter).map(([name, ids]) => ({ name: name as FacetName, ids: new Set(ids) }));

const STATUSES = ['message.queued', 'message.sent', 'message.delivered', 'message.read', 'message.failed'];

test('each stream gives the requested types of its own tenant, and nothing else', async () => {
  const { tenant, emulator } = gateway;
  const [received, status, contact, templates] = await subscribed(tenant.token, [
    { types: ['message.received'] },
    { types: STATUSES },
    { types: ['contact.*'] },
    { types: ['template.status_changed'] },
  ]);
  if (!received || !status || !contact || !templates) throw new Error('Not all are open.');
  await send('+14155550101', other);
  await send('+14155550101');
  emulator.inbound({ from: '14155550101', phoneNumberId: tenant.phoneNumberId, text: 'Where is it?' });
  await write(other, [template('not mine', 'PAUSED')]);
  await write(tenant, [group('nobody asked for'), template('order', 'PAUSED')]);
  gateway.gateway.resources.signals.send('events');
  await seen(status, 4);
  await seen(templates, 1);
  await seen(received, 1);
  expect(status.events.map(({ type }) => type)).toEqual([
    'message.queued',
    'message.sent',
    'message.delivered',
    'message.read',
  ]);
  expect(contact.events.map(({ type }) => type)).toEqual(['contact.created']);
  expect(templates.events.map(({ data }) => data)).toMatchObject([{ template: { name: 'order' } }]);
  expect(received.events.map(({ data }) => data.message?.message)).toEqual(['Where is it?']);
  for (const one of [received, status, contact, templates]) {
    expect(one.errors).toEqual([]);
    await one.stop();
  }
});

test('of one message: its own statuses alone, live and behind a cursor', async () => {
  const { tenant } = gateway;
  const [all] = await subscribed(tenant.token, [{ types: STATUSES }]);
  if (!all) throw new Error('It is not open.');
  const first = await send('+14155550102');
  const second = await send('+14155550103');
  await seen(all, 8);
  const start = all.events[0]?.cursor;
  const filter = { messageIds: [second] };
  const [one] = await subscribed(tenant.token, [{ types: STATUSES, filter, after: start }]);
  if (!one) throw new Error('It is not open.');
  await seen(one, second === all.events[0]?.data.message?.id ? 3 : 4);
  expect(new Set(one.events.map(({ data }) => data.message?.id))).toEqual(new Set([second]));
  expect(first).not.toBe(second);
  const foreign = await send('+14155550104', other);
  const [silent] = await subscribed(tenant.token, [
    { types: STATUSES, filter: { messageIds: [foreign] }, after: start },
  ]);
  await send('+14155550102');
  await seen(all, 12);
  expect(silent?.events).toEqual([]);
  await Promise.all([all, one, silent].map(follower => follower?.stop()));
});

test('of webhook deliveries: each attempt, of one endpoint or of all', async () => {
  const { tenant } = gateway;
  const attempt = (endpoint: number): NewEvent =>
    ({
      type: 'webhook.delivery_attempted',
      payload: { delivery: { id: 'd', endpoint_id: endpoint }, attempt: {} },
    }) as never;
  const types = ['webhook.delivery_attempted'];
  const [all, one] = await subscribed(tenant.token, [{ types }, { types, filter: { endpointIds: ['17'] } }]);
  await write(other, [attempt(17)]);
  await write(tenant, [attempt(18), attempt(17)]);
  gateway.gateway.resources.signals.send('events');
  await seen(all as Follower, 2);
  await seen(one as Follower, 1);
  expect(one?.events.map(({ id }) => id)).toEqual(all?.events.slice(1).map(({ id }) => id));
  await Promise.all([all, one].map(follower => follower?.stop()));
});

/** One event for each way in which a payload names an object. */
const contact = (id: number, assigned: number | null, before?: number | null): NewEvent =>
  ({
    type: 'contact.updated',
    payload: { contact: { id, assigned_id: assigned }, previous: before === undefined ? {} : { assigned_id: before } },
  }) as never;
const message = (id: string, contactId: number, channelId: number, conversationId: number | null): NewEvent =>
  ({
    type: 'message.sent',
    payload: { message: { id, contact_id: contactId, channel_id: channelId, interaction_id: conversationId } },
  }) as never;
const MESSAGE = '01930000-0000-7000-8000-000000000001';
const EVENTS_OF_ALL: readonly NewEvent[] = [
  contact(901, 1, null),
  contact(902, null, 2),
  contact(903, 3),
  message(MESSAGE, 901, 71, 81),
  message('01930000-0000-7000-8000-000000000002', 902, 72, null),
  { type: 'contact.merged', payload: { contact: { id: 902 }, former_id: 904 } } as never,
  { type: 'channel.updated', payload: { channel: { id: 71 } } } as never,
  { type: 'otp.sent', payload: { otp: { id: 'o', contact_id: 903, chat_message_id: MESSAGE } } } as never,
  {
    type: 'bot.replied',
    payload: { bot: { id: 5 }, contact_id: 902, chat_message_id: 'm', reply_chat_message_id: MESSAGE },
  } as never,
];

test.each([
  [{ contactIds: ['901'] }, [0, 3]],
  [{ contactIds: ['902', '903'] }, [1, 2, 4, 5, 7, 8]],
  [{ contactIds: ['904'] }, [5]],
  [{ conversationIds: ['81'] }, [3]],
  [{ channelIds: ['71'] }, [3, 6]],
  [{ messageIds: [MESSAGE] }, [3, 7, 8]],
  [{ assigneeIds: ['1'] }, [0]],
  [{ assigneeIds: ['2', '3'] }, [1, 2]],
  [{ assigneeIds: [null] }, [0, 1]],
  [{ contactIds: ['901'], channelIds: ['71'] }, [3]],
  [{ contactIds: ['901'], channelIds: ['72'] }, []],
])('%j selects the same events live, from memory, from the log and in the list', async (filter, expected) => {
  const tenant = await gateway.addTenant();
  const { signals, db } = gateway.gateway.resources;
  const [live, marks] = await subscribed(tenant.token, [{ filter }, {}]);
  const [first] = await write(tenant, [group('start')]);
  const ids = await write(tenant, EVENTS_OF_ALL);
  signals.send('events');
  await seen(marks as Follower, EVENTS_OF_ALL.length + 1);
  const selected = expected.map(index => ids[index]);
  await eventually(() => expect(live?.events.map(({ id }) => id)).toEqual(selected));
  // The tailer of this process has them in memory.
  const [again] = await subscribed(tenant.token, [{ filter, after: first }]);
  await eventually(() => expect(again?.events.map(({ id }) => id)).toEqual(selected));
  const query =
    'query ($filter: EventFilter, $after: String) { events(filter: $filter, after: $after) { totalCount nodes { databaseId } } }';
  const { data } = await gateway.graphql(query, { filter, after: first }, tenant.token);
  expect(data.events).toEqual({ totalCount: selected.length, nodes: selected.map(databaseId => ({ databaseId })) });
  const { types, facets } = { types: EVENT_TYPES, facets: facetsOf(filter) };
  const rows = await readTenant(db.read, tenant.id, { types, facets, after: undefined, before: END }, 100);
  expect(rows.map(({ id }) => id)).toEqual(selected);
  await Promise.all([live, marks, again].map(follower => follower?.stop()));
});

test.each([
  ['message.received', 'messages:read'],
  ['message.sent', 'messages:read'],
  ['contact.updated', 'contacts:read'],
  ['template.status_changed', 'templates:read'],
  ['webhook.delivery_attempted', 'webhooks:read'],
])('%s is refused to a token without %s, and given to one with it alone', async (type, scope) => {
  const { tenant, url } = gateway;
  const others = ['events:read', 'messages:read', 'contacts:read', 'templates:read', 'webhooks:read'].filter(
    name => name !== scope,
  );
  const without = await follow(url, await gateway.addToken(tenant, { scopes: others }), { types: [type] });
  await eventually(() =>
    expect(without.errors).toMatchObject([
      { extensions: { code: 'INSUFFICIENT_SCOPE', details: { required: [scope] } } },
    ]),
  );
  const token = await gateway.addToken(tenant, { scopes: [scope] });
  const [alone] = await subscribed(token, [{ types: [type] }]);
  expect(alone?.errors).toEqual([]);
  const untyped = await follow(url, token);
  await eventually(() =>
    expect(untyped.errors).toMatchObject([
      { extensions: { code: 'INSUFFICIENT_SCOPE', details: { required: ['events:read'] } } },
    ]),
  );
  await Promise.all([without, alone, untyped].map(follower => follower?.stop()));
});

test('300 subscribers in one process cost one read of the log, and a reconnect to recent events costs none', async () => {
  const { tenant, statements } = gateway;
  const followers = await subscribed(tenant.token, Array(300).fill({ types: ['template.status_changed'] }));
  const reads = (): number => statements.filter(text => /\bfrom (?:events e\b|read_events\()/.test(text)).length;
  // Some for the events, and those that look whether there are more, twice a second: not one for each subscriber.
  let since = 0;
  const count = (): void => {
    statements.length = 0;
    since = performance.now();
  };
  const expectFew = (): void =>
    expect(reads()).toBeLessThan(Math.min(300, 100 + (3 * (performance.now() - since)) / 1_000));
  count();
  const names = Array.from({ length: 20 }, (_, index) => `t${index}`);
  await write(
    tenant,
    names.map(name => template(name, 'PAUSED')),
  );
  gateway.gateway.resources.signals.send('events');
  for (const one of followers) await seen(one, 20);
  expectFew();
  count();
  const after = followers[0]?.events[4]?.cursor;
  const again = await subscribed(tenant.token, Array(300).fill({ types: ['template.status_changed'], after }));
  for (const one of again) {
    await seen(one, 15);
    expect(one.events.map(({ id }) => id)).toEqual(followers[0]?.events.slice(5).map(({ id }) => id));
  }
  expectFew();
  await Promise.all([...followers, ...again].map(one => one.stop()));
});
