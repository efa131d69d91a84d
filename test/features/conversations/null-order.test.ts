import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
let all: string[] = [];
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  // Times with ties, and none.
  const rows = await gateway.database.query<{ id: string }>(
    `with r as (select * from unnest($2::timestamptz[], $3::timestamptz[]) with ordinality as r (waiting, expires, place)),
     c as (insert into contacts (tenant_id, phone, phone_key) select $1::bigint, '+1415555' || 1000 + place, '1415555' || 1000 + place from r returning id, phone)
     insert into conversations (tenant_id, contact_id, channel_id, waiting_since, window_expires_at)
     select $1, c.id, ch.id, r.waiting, r.expires from r join c on c.phone = '+1415555' || 1000 + r.place
     join channels ch on ch.tenant_id = $1 order by r.place returning id`,
    [
      gateway.tenant.id,
      [null, '2026-11-01T10:00Z', null, '2026-11-01T09:00Z', '2026-11-01T10:00Z', null, '2026-11-01T11:00Z', null],
      ['2026-11-02T10:00Z', null, null, '2026-11-02T10:05Z', '2026-11-02T10:00Z', '2026-11-02T12:00Z', null, null],
    ],
  );
  all = rows.map(({ id }) => id).sort();
});
afterAll(() => gateway.stop());

const PAGE = `query ($first: Int, $after: String, $last: Int, $before: String, $orderBy: [ConversationOrder!], $filter: ConversationFilter) {
  conversations(first: $first, after: $after, last: $last, before: $before, orderBy: $orderBy, filter: $filter) {
    nodes { databaseId } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`;

interface PageOfIds {
  readonly ids: readonly string[];
  readonly pageInfo: Readonly<Record<'startCursor' | 'endCursor', string | null>> &
    Readonly<Record<'hasNextPage' | 'hasPreviousPage', boolean>>;
}

async function page(variables: object): Promise<PageOfIds> {
  const { conversations } = dataOf(await gateway.graphql(PAGE, variables));
  const nodes: { databaseId: string }[] = conversations.nodes;
  return { ids: nodes.map(({ databaseId }) => databaseId), pageInfo: conversations.pageInfo };
}

/** All pages, of two rows each. */
async function walk(variables: object, isBackwards: boolean): Promise<string[]> {
  let ids: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const part = await page({
      ...variables,
      ...(isBackwards ? { last: 2, before: cursor } : { first: 2, after: cursor }),
    });
    ids = isBackwards ? [...part.ids, ...ids] : [...ids, ...part.ids];
    if (!(isBackwards ? part.pageInfo.hasPreviousPage : part.pageInfo.hasNextPage)) return ids;
    cursor = isBackwards ? part.pageInfo.startCursor : part.pageInfo.endCursor;
    if (ids.length > 2 * all.length) throw new Error('The pages do not end.');
  }
}

const FIELDS = ['WAITING_SINCE', 'WINDOW_EXPIRES_AT'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;
const ORDERS = FIELDS.flatMap(field =>
  DIRECTIONS.flatMap(direction => [
    [{ field, direction }],
    [
      { field, direction },
      { field: 'ID', direction: direction === 'ASC' ? 'DESC' : 'ASC' },
    ],
    [
      { field, direction },
      ...FIELDS.filter(other => other !== field).map(other => ({ field: other, direction: 'DESC' })),
    ],
  ]),
);

test.each(
  ORDERS.map(orderBy => [orderBy.map(({ field, direction }) => `${field} ${direction}`).join(', '), orderBy] as const),
)('pages in the order %s contain each conversation once, also those without the time', async (_text, orderBy) => {
  const { ids } = await page({ orderBy, first: 100 });
  expect(ids.toSorted()).toEqual(all);
  expect(await walk({ orderBy }, false)).toEqual(ids);
  expect(await walk({ orderBy }, true)).toEqual(ids);
});

test('pages of a filter that excludes rows without the time contain each of the others once', async () => {
  const filter = { windowExpiresAt: { gt: '2026-11-02T00:00:00Z' } };
  const orderBy = [{ field: 'WINDOW_EXPIRES_AT', direction: 'ASC' }];
  const ids = await walk({ orderBy, filter }, false);
  expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
});

test('a cursor without a value is one of an order that has rows without it', async () => {
  const cursor = (order: string, ...values: unknown[]) =>
    Buffer.from(JSON.stringify([order, ...values])).toString('base64url');
  const answer = (after: string, orderBy: object[]) => gateway.graphql(PAGE, { first: 2, after, orderBy });
  const byWaiting = [{ field: 'WAITING_SINCE', direction: 'ASC' }];
  const byCreation = [{ field: 'CREATED_AT', direction: 'ASC' }];
  expect((await answer(cursor('v.waiting_since,v.id', null, 1), byWaiting)).errors).toBeUndefined();
  for (const [after, orderBy] of [
    [cursor('v.waiting_since,v.id', null, null), byWaiting],
    [cursor('v.created_at,v.id', null, 1), byCreation],
  ] as const)
    expect(codeOf(await answer(after, [...orderBy]))).toBe('VALIDATION_ERROR');
});
