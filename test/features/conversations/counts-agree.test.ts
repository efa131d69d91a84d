import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { eventually, type GraphQLAnswer, startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendAs } from '../../support/sending.ts';
import { connect } from '../events/subscriber.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

/** Once nothing happens any more, live counts are what a query counts, and what the list of conversations shows. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const FIELDS = 'open pending snoozed closed unassigned unreadConversations unreadMessages';
const FILTERS = [{}, { unreadCount: { gt: 0 } }, { waitingSince: { isNull: false } }, { assigneeId: { isNull: true } }];
const STEPS = 60;
const AT_ONCE = 4;
const PEOPLE = Array.from({ length: 5 }, (_, index) => `1415555070${index}`);

interface Listed {
  readonly databaseId: string;
  readonly status: string;
  readonly unreadCount: number;
  readonly waitingSince: string | null;
  readonly assignee: object | null;
  readonly contactId: string;
  readonly lastMessage: { readonly databaseId: string } | null;
  readonly messages: { readonly nodes: readonly { readonly databaseId: string }[] };
}

/** Numbers that look random, the same for each seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const matches = (row: Listed, filter: object): boolean =>
  ('unreadCount' in filter ? row.unreadCount > 0 : true) &&
  ('waitingSince' in filter ? row.waitingSince !== null : true) &&
  ('assigneeId' in filter ? row.assignee === null : true);

function countsOf(rows: readonly Listed[], filter: object) {
  const of = rows.filter(row => matches(row, filter));
  const number = (predicate: (row: Listed) => boolean): number => of.filter(predicate).length;
  return {
    open: number(row => row.status === 'OPEN'),
    pending: number(row => row.status === 'PENDING'),
    snoozed: number(row => row.status === 'SNOOZED'),
    closed: number(row => row.status === 'CLOSED'),
    unassigned: number(row => row.status === 'OPEN' && row.assignee === null),
    unreadConversations: number(row => row.unreadCount > 0),
    unreadMessages: of.reduce((sum, row) => sum + row.unreadCount, 0),
  };
}

const LIST = `{ conversations(first: 100) { nodes { databaseId status unreadCount waitingSince assignee { id } contactId
  lastMessage { databaseId } messages(last: 1) { nodes { databaseId } } } } }`;

/** What people, agents and administrators do, at random. */
function actionsOf(harness: Harness, random: (below: number) => number, staffId: string) {
  const { token } = harness.tenant;
  const mutate = (name: string, input: object): Promise<GraphQLAnswer> =>
    gateway.mutate(name, input, '__typename', token);
  const anyOf = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  const list = async (): Promise<Listed[]> => dataOf(await gateway.graphql(LIST, {}, token)).conversations.nodes;
  const inbound = async (from: string) => {
    const answer = await fetch(`${gateway.emulator.url}/_emulator/inbound`, {
      method: 'POST',
      body: JSON.stringify({ phoneNumberId: harness.tenant.phoneNumberId, from, text: 'Hello' }),
    });
    await answer.text();
  };
  const echo = (to: string, secondsAgo: number) =>
    gateway.emulator.settled().then(async () => {
      const message = {
        from: '15550780000',
        to,
        id: `wamid.echo.${random(1_000_000)}`,
        timestamp: String(Math.floor(Date.now() / 1_000) - secondsAgo),
        type: 'text',
        text: { body: 'From my phone' },
      };
      const answer = await fetch(`${gateway.emulator.url}/_emulator/changes`, {
        method: 'POST',
        body: JSON.stringify({
          phoneNumberId: harness.tenant.phoneNumberId,
          field: 'smb_message_echoes',
          value: { message_echoes: [message] },
        }),
      });
      await answer.text();
    });
  const onOne = async (change: (row: Listed) => Promise<unknown>): Promise<void> => {
    const rows = await list();
    if (rows.length > 0) await change(anyOf(rows));
  };
  const update = (set: object) => onOne(({ databaseId: id }) => mutate('updateConversation', { id, ...set }));
  const merge = async (): Promise<void> => {
    const ids = [...new Set((await list()).map(row => row.contactId))];
    if (ids.length > 2) await mutate('mergeContacts', { id: ids[0], fromIds: [ids[1]] });
  };
  const undo = async (): Promise<void> => {
    const [row] = await harness.query<{ former_id: string }>(
      'select former_id from contact_merges where tenant_id = $1 and undone_at is null order by id desc limit 1',
    );
    if (row) await mutate('undoMerge', { id: row.former_id });
  };
  const actions: (() => Promise<unknown>)[] = [
    () => inbound(anyOf(PEOPLE)),
    () => inbound(anyOf(PEOPLE)),
    () => inbound(anyOf(PEOPLE)),
    () => sendAs(gateway, 'text', { to: `+${anyOf(PEOPLE)}`, text: 'Answer' }, 'databaseId', token),
    () => echo(anyOf(PEOPLE), random(3)),
    () => update({ status: anyOf(['OPEN', 'CLOSED', 'PENDING', 'SNOOZED']) }),
    () => update({ assigneeId: anyOf([staffId, null]) }),
    () => onOne(({ databaseId: id }) => mutate('markConversationRead', { id })),
    merge,
    undo,
    () => (random(3) === 0 ? onOne(({ contactId: id }) => mutate('deleteContact', { id })) : undo()),
  ];
  return { list, next: () => anyOf(actions)() };
}

test.each([1, 2])('after anything that happens at once, live counts, counts and list agree (seed %i)', async seed => {
  const harness = await harnessFor(gateway);
  const { token } = harness.tenant;
  const [staff] = await harness.query<{ id: string }>(
    "insert into staff (tenant_id, name, email) values ($1, 'Eva', 'eva@example.com') returning id",
  );
  const client = connect(gateway.url, token);
  const live: unknown[] = FILTERS.map(() => undefined);
  const stops = FILTERS.map((filter, index) =>
    client.subscribe<{ conversationCounts: unknown }>(
      {
        query: `subscription ($filter: ConversationFilter) { conversationCounts(filter: $filter) { ${FIELDS} } }`,
        variables: { filter },
      },
      {
        next: ({ data }) => {
          live[index] = data?.conversationCounts;
        },
        error: () => undefined,
        complete: () => undefined,
      },
    ),
  );
  try {
    const { list, next } = actionsOf(harness, randomOf(seed), staff?.id ?? '');
    for (let step = 0; step < STEPS; step += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, next));
      if (step % (5 * AT_ONCE) !== 0) continue;
      await harness.settled();
      const rows = await list();
      const expected = FILTERS.map(filter => countsOf(rows, filter));
      await eventually(() => expect(live).toEqual(expected), 10_000);
      const query = `query ($filter: ConversationFilter) { conversationCounts(filter: $filter) { ${FIELDS} } }`;
      const counted = await Promise.all(FILTERS.map(filter => gateway.graphql(query, { filter }, token)));
      expect(counted.map(answer => dataOf(answer).conversationCounts)).toEqual(expected);
      for (const row of rows) expect(row.lastMessage ?? undefined).toEqual(row.messages.nodes[0]);
    }
  } finally {
    for (const stop of stops) stop();
    await client.dispose();
  }
});
