import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { type Follower, follow, seen } from './subscriber.ts';

let gateway: TestGateway;
let other: TestTenant;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open' } } });
  other = await gateway.addTenant();
});
afterAll(() => gateway.stop());

const typed = (field: string): string =>
  `subscription ($after: String) { events: ${field.includes('(') ? field.replace(')', ', after: $after)') : `${field}(after: $after)`} { id cursor type data } }`;

async function send(to: string, tenant = gateway.tenant): Promise<string> {
  const { data } = await gateway.graphql(
    `mutation { sendTextMessage(input: { to: "${to}", text: "Hello" }) { databaseId } }`,
    {},
    tenant.token,
  );
  return data.sendTextMessage.databaseId;
}

const write = (tenant: TestTenant, events: readonly NewEvent[]): Promise<readonly string[]> =>
  gateway.gateway.resources.db.transaction(trx => append(trx, tenant.id, events));

const template = (name: string, status: string): NewEvent =>
  ({ type: 'template.status_changed', payload: { template: { id: 7, name, status }, previous: {} } }) as never;
const group = (name: string): NewEvent => ({ type: 'group.created', payload: { group: { id: 1, name } } }) as never;

const open = async (): Promise<number> =>
  (await gateway.gateway.resources.metrics.subscribers.get()).values[0]?.value ?? 0;

/** Followers that are subscribed, not only connected: the gateway counts them. */
async function subscribed(token: string, fields: readonly string[], after?: string): Promise<Follower[]> {
  const before = await open();
  const followers = await Promise.all(fields.map(field => follow(gateway.url, token, { query: typed(field), after })));
  await eventually(async () => expect(await open()).toBe(before + fields.length));
  return followers;
}

// Who has left is no longer counted a moment later.
afterEach(() => eventually(async () => expect(await open()).toBe(0)));

test('each gives its own events of its own tenant, and nothing else', async () => {
  const { tenant, emulator } = gateway;
  const [received, status, contact, templates] = await subscribed(tenant.token, [
    'messageReceived',
    'messageStatusChanged',
    'contactChanged',
    'templateStatusChanged',
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
  expect(received.events.map(({ data }) => data.message?.body)).toEqual(['Where is it?']);
  for (const one of [received, status, contact, templates]) {
    expect(one.errors).toEqual([]);
    await one.stop();
  }
});

test('of one message: its own statuses alone, live and behind a cursor; one of another tenant is not found', async () => {
  const { tenant } = gateway;
  const [all] = await subscribed(tenant.token, ['messageStatusChanged']);
  if (!all) throw new Error('It is not open.');
  const first = await send('+14155550102');
  const second = await send('+14155550103');
  await seen(all, 8);
  const start = all.events[0]?.cursor;
  const [one] = await subscribed(tenant.token, [`messageStatusChanged(messageId: "${second}")`], start);
  if (!one) throw new Error('It is not open.');
  await seen(one, second === all.events[0]?.data.message?.id ? 3 : 4);
  expect(new Set(one.events.map(({ data }) => data.message?.id))).toEqual(new Set([second]));
  expect(first).not.toBe(second);
  const foreign = await send('+14155550104', other);
  for (const id of [foreign, 'nothing']) {
    const query = typed(`messageStatusChanged(messageId: "${id}")`);
    const stranger = await follow(gateway.url, tenant.token, { query });
    await eventually(() => expect(stranger.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]));
    await stranger.stop();
  }
  await all.stop();
  await one.stop();
});

test('of webhook deliveries: each attempt, of one endpoint or of all; an endpoint of another tenant is not found', async () => {
  const { tenant } = gateway;
  const attempt = (endpoint: number): NewEvent =>
    ({
      type: 'webhook.delivery_attempted',
      payload: { delivery: { id: 'd', endpoint_id: endpoint }, attempt: {} },
    }) as never;
  const create = async (token: string): Promise<number> => {
    const { data } = await gateway.graphql(
      'mutation { createWebhookEndpoint(input: { url: "https://example.com/", events: ["order.*"] }) { endpoint { databaseId } } }',
      {},
      token,
    );
    return data.createWebhookEndpoint.endpoint.databaseId;
  };
  const [mine, theirs] = [await create(tenant.token), await create(other.token)];
  const [all, one] = await subscribed(tenant.token, [
    'webhookDeliveryAttempted',
    `webhookDeliveryAttempted(endpointId: ${mine})`,
  ]);
  await write(other, [attempt(mine)]);
  await write(tenant, [attempt(mine + 1), attempt(mine)]);
  gateway.gateway.resources.signals.send('events');
  await seen(all as Follower, 2);
  await seen(one as Follower, 1);
  expect(one?.events.map(({ id }) => id)).toEqual(all?.events.slice(1).map(({ id }) => id));
  const stranger = await follow(gateway.url, tenant.token, {
    query: typed(`webhookDeliveryAttempted(endpointId: ${theirs})`),
  });
  await eventually(() => expect(stranger.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]));
  await Promise.all([all, one, stranger].map(follower => follower?.stop()));
});

test.each([
  ['messageReceived', 'messages:read'],
  ['messageStatusChanged', 'messages:read'],
  ['contactChanged', 'contacts:read'],
  ['templateStatusChanged', 'templates:read'],
  ['webhookDeliveryAttempted', 'webhooks:read'],
])('%s is refused when it is opened to a token without %s, and open to one with it alone', async (field, scope) => {
  const { tenant, url } = gateway;
  const others = ['events:read', 'messages:read', 'contacts:read', 'templates:read', 'webhooks:read'].filter(
    name => name !== scope,
  );
  const without = await follow(url, await gateway.addToken(tenant, { scopes: others }), { query: typed(field) });
  await eventually(() =>
    expect(without.errors).toMatchObject([
      { extensions: { code: 'INSUFFICIENT_SCOPE', details: { required: [scope] } } },
    ]),
  );
  const [alone] = await subscribed(await gateway.addToken(tenant, { scopes: [scope] }), [field]);
  expect(alone?.errors).toEqual([]);
  await without.stop();
  await alone?.stop();
});

test('300 subscribers in one process cost one read of the log, and who comes back to what was just told none', async () => {
  const { tenant, statements } = gateway;
  const followers = await subscribed(tenant.token, Array(300).fill('templateStatusChanged'));
  const reads = (): number => statements.filter(text => /\bfrom events e\b/.test(text)).length;
  statements.length = 0;
  const names = Array.from({ length: 20 }, (_, index) => `t${index}`);
  await write(
    tenant,
    names.map(name => template(name, 'PAUSED')),
  );
  gateway.gateway.resources.signals.send('events');
  for (const one of followers) await seen(one, 20);
  // One for the events, and those that look whether there are more.
  expect(reads()).toBeLessThan(30);
  statements.length = 0;
  const after = followers[0]?.events[4]?.cursor;
  const again = await subscribed(tenant.token, Array(50).fill('templateStatusChanged'), after);
  for (const one of again) {
    await seen(one, 15);
    expect(one.events.map(({ id }) => id)).toEqual(followers[0]?.events.slice(5).map(({ id }) => id));
  }
  expect(reads()).toBeLessThan(30);
  await Promise.all([...followers, ...again].map(one => one.stop()));
});
