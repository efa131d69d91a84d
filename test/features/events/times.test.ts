import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

/** Times of payloads are compared as text by their consumers, and every event of an object is one state of it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let gateway: TestGateway;
beforeAll(async () => {
  const components = [{ type: 'BODY', text: 'Welcome' }];
  const template = { name: 'welcome', language: 'en', category: 'UTILITY', status: 'APPROVED', components } as const;
  gateway = await startGateway({ templates: [template] });
});
afterAll(() => gateway.stop());

const timesIn = (value: unknown, path: string): string[] => {
  if (typeof value === 'string') return TIME.test(value) && !FORMAT.test(value) ? [`${path}: ${value}`] : [];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => timesIn(inner, `${path}.${name}`));
};

const eventsOf = async (types: readonly string[]): Promise<{ type: string; payload: Record<string, unknown> }[]> => {
  const query =
    'query ($types: [EventType!]) { events(last: 100, filter: { types: $types }) { nodes { type payload } } }';
  return dataOf(await gateway.graphql(query, { types })).events.nodes;
};

test('times in payloads have one format, whichever statement wrote the event', async () => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const send = (phone: string, more: object) =>
    gateway.mutate('sendMessage', { to: { phone }, content: { text: { body: 'Hello' } }, ...more }, 'message { id }');
  dataOf(await send('+14155550181', {}));
  dataOf(await send('+14155550183', { scheduledAt: { instant: scheduledAt } }));
  dataOf(await gateway.mutate('syncTemplates', {}));

  const types = ['CONTACT_CREATED', 'CONVERSATION_CREATED', 'MESSAGE_QUEUED', 'MESSAGE_SCHEDULED', 'MESSAGE_READ'];
  const events = await eventually(async () => {
    const found = await eventsOf([...types, 'TEMPLATE_CREATED']);
    expect([...new Set(found.map(event => event.type))]).toEqual(
      expect.arrayContaining([...types, 'TEMPLATE_CREATED']),
    );
    return found;
  });
  expect(events.flatMap(({ type, payload }) => timesIn(payload, type))).toEqual([]);
});
