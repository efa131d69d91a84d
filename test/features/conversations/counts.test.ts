import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { connect } from '../events/subscriber.ts';
import { harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const COUNTS = 'conversationCounts { open pending snoozed closed unassigned mine unreadConversations unreadMessages }';

test('counts tell the status, what nobody has and what is unread', async () => {
  const harness = await harnessFor(gateway);
  for (let person = 0; person < 4; person += 1) await harness.write({ from: `1415555050${person}`, text: 'Hello' });
  await harness.write({ from: '14155550500', text: 'Again' });
  const ids = (
    await harness.query<{ id: string }>('select id from conversations where tenant_id = $1 order by id')
  ).map(row => row.id);
  await harness.query(
    "update conversations set status = 'closed', unread_count = 0 where tenant_id = $1 and id = $2",
    ids[1],
  );
  await harness.query("update conversations set status = 'snoozed' where tenant_id = $1 and id = $2", ids[2]);
  expect(dataOf(await gateway.graphql(`{ ${COUNTS} }`, {}, harness.tenant.token)).conversationCounts).toEqual({
    open: 2,
    pending: 0,
    snoozed: 1,
    closed: 1,
    unassigned: 2,
    mine: 0,
    unreadConversations: 3,
    unreadMessages: 4,
  });
  const some = '{ conversationCounts(filter: { unreadCount: { gt: 1 } }) { open unreadMessages } }';
  expect(dataOf(await gateway.graphql(some, {}, harness.tenant.token)).conversationCounts).toEqual({
    open: 1,
    unreadMessages: 2,
  });
});

test('a subscription sends the present counts, then what has changed, at most one a second', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: '14155550501', text: 'Hello' });
  const seen: { readonly value: { unreadMessages: number }; readonly atMs: number }[] = [];
  const client = connect(gateway.url, harness.tenant.token);
  const stop = client.subscribe<{ conversationCounts: { unreadMessages: number } }>(
    { query: 'subscription { conversationCounts { unreadMessages } }' },
    {
      next: ({ data }) => {
        if (data) seen.push({ value: data.conversationCounts, atMs: performance.now() });
      },
      error: () => undefined,
      complete: () => undefined,
    },
  );
  try {
    await eventually(async () => expect(seen.map(({ value }) => value)).toEqual([{ unreadMessages: 1 }]));
    const until = performance.now() + 3_000;
    let written = 1;
    for (; performance.now() < until; written += 1) await harness.write({ from: '14155550501', text: `${written}` });
    await eventually(async () => expect(seen.at(-1)?.value).toEqual({ unreadMessages: written }));
    // The client may see two answers closer together than the server sent them; only their number over a time is certain.
    const seconds = ((seen.at(-1)?.atMs ?? 0) - (seen[0]?.atMs ?? 0)) / 1_000;
    expect(seen.length - 1).toBeLessThanOrEqual(seconds + 1);
  } finally {
    stop();
    await client.dispose();
  }
});

test('live counts follow the undo of a merge, which restores a conversation', async () => {
  const harness = await harnessFor(gateway);
  const { token } = harness.tenant;
  for (const from of ['14155550511', '14155550512']) await harness.write({ from, text: 'Hello' });
  const [kept, former] = await harness.query<{ contact_id: string }>(
    'select contact_id from conversations where tenant_id = $1 order by id',
  );
  const seen: { open: number }[] = [];
  const client = connect(gateway.url, token);
  const stop = client.subscribe<{ conversationCounts: { open: number } }>(
    { query: 'subscription { conversationCounts { open } }' },
    {
      next: ({ data }) => {
        if (data) seen.push(data.conversationCounts);
      },
      error: () => undefined,
      complete: () => undefined,
    },
  );
  try {
    await eventually(() => expect(seen).toEqual([{ open: 2 }]));
    const input = { id: kept?.contact_id, fromIds: [former?.contact_id] };
    dataOf(await gateway.mutate('mergeContacts', input, '__typename', token));
    await eventually(() => expect(seen).toEqual([{ open: 2 }, { open: 1 }]));
    dataOf(await gateway.mutate('undoMerge', { id: former?.contact_id }, '__typename', token));
    await eventually(() => expect(seen).toEqual([{ open: 2 }, { open: 1 }, { open: 2 }]), 20_000);
  } finally {
    stop();
    await client.dispose();
  }
});
