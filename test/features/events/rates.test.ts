import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { connect } from './subscriber.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Rates {
  readonly cursor: string;
  readonly counts: readonly { readonly second: string; readonly type: string; readonly count: number }[];
}

const event = (type: 'group.created' | 'group.deleted'): NewEvent => ({
  type,
  payload: {
    group: {
      id: 1,
      name: 'G',
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    } as never,
  },
});

async function write(type: 'group.created' | 'group.deleted', count: number): Promise<void> {
  const { db, signals } = gateway.gateway.resources;
  for (let index = 0; index < count; index += 10) {
    await db.transaction(trx =>
      append(
        trx,
        gateway.tenant.id,
        Array.from({ length: 10 }, () => event(type)),
      ),
    );
    signals.send('events');
  }
}

function count(token: string, after: string) {
  const values: Rates[] = [];
  const errors: unknown[] = [];
  const client = connect(gateway.url, token);
  client.subscribe<{ eventRates: Rates }>(
    {
      query: 'subscription ($after: String) { eventRates(after: $after) { cursor counts { second type count } } }',
      variables: { after },
    },
    {
      next: ({ data }) => {
        if (data) values.push(data.eventRates);
      },
      error: error => void errors.push(error),
      complete: () => undefined,
    },
  );
  return { values, errors, stop: () => client.dispose() };
}

const sum = (values: readonly Rates[], type: string): number =>
  values.flatMap(({ counts }) => counts).reduce((all, each) => all + (each.type === type ? each.count : 0), 0);

test('events are counted by type and second, each once, also across a lost connection, in few values', async () => {
  const { eventCursor } = dataOf(await gateway.graphql('{ eventCursor }'));
  await write('group.created', 120);
  const first = count(gateway.tenant.token, eventCursor);
  await write('group.deleted', 80);
  await eventually(() => expect(sum(first.values, 'GROUP_CREATED')).toBe(120));
  await first.stop();
  const cursor = first.values.at(-1)?.cursor ?? '';
  await write('group.created', 300);
  const second = count(gateway.tenant.token, cursor);
  await eventually(() => {
    const values = [...first.values, ...second.values];
    expect([sum(values, 'GROUP_CREATED'), sum(values, 'GROUP_DELETED')]).toEqual([420, 80]);
  });
  await second.stop();
  const seconds = [...first.values, ...second.values].flatMap(({ counts }) => counts.map(each => each.second));
  expect(seconds.every(each => /T\d\d:\d\d:\d\d(?:\.000)?Z$/.test(each))).toBe(true);
  // 500 events, and fewer values: one a second at most.
  expect(first.values.length + second.values.length).toBeLessThan(500);
  expect([...first.errors, ...second.errors]).toEqual([]);
});

test('only types that the token may read are counted', async () => {
  const { eventCursor } = dataOf(await gateway.graphql('{ eventCursor }'));
  const token = await gateway.addToken(gateway.tenant, { scopes: ['events:read', 'messages:read'] });
  const stream = count(token, eventCursor);
  await write('group.created', 10);
  gateway.emulator.inbound({ from: '+14155550142', text: 'Hello' });
  await eventually(() => expect(sum(stream.values, 'MESSAGE_RECEIVED')).toBe(1));
  await stream.stop();
  expect(sum(stream.values, 'GROUP_CREATED')).toBe(0);
});
