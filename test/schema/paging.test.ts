import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

interface Person {
  readonly id: number;
  readonly FIRST_NAME: string;
  readonly LAST_NAME: string;
  readonly CREATED_AT: string;
  readonly UPDATED_AT: string;
  readonly type: string;
}
type Term = {
  readonly field: 'ID' | 'FIRST_NAME' | 'LAST_NAME' | 'CREATED_AT' | 'UPDATED_AT';
  readonly direction: 'ASC' | 'DESC';
};

let gateway: TestGateway;
const people: Person[] = [];

/** Few values and many rows: most pages begin and end amid rows that are equal in all but the id. */
beforeAll(async () => {
  gateway = await startGateway();
  const names = ['', 'a', 'ab', 'b', 'bb', 'c', 'ccc'];
  const [cycle, at] = [
    (n: number, salt: number): number => (n * 7919 + salt * 104_729) % 97,
    (n: number): string => new Date(1_767_000_000_000 + (n % 5)).toISOString(),
  ];
  const rows = Array.from({ length: 137 }, (_, n) => [
    names[cycle(n, 1) % 7],
    names[cycle(n, 2) % 3],
    at(cycle(n, 3)),
    at(cycle(n, 4)),
    ['lead', 'customer', 'guest'][cycle(n, 5) % 3],
  ]);
  for (const row of rows) {
    const inserted = await gateway.database.query<{ id: string }>(
      'insert into contacts (tenant_id, firstname, lastname, created_at, updated_at, type) values ($1, $2, $3, $4, $5, $6) returning id',
      [gateway.tenant.id, ...row],
    );
    const [first = '', last = '', created = '', updated = '', type = ''] = row;
    people.push({
      id: Number(inserted[0]?.id),
      FIRST_NAME: first,
      LAST_NAME: last,
      CREATED_AT: created,
      UPDATED_AT: updated,
      type,
    });
  }
  await gateway.database.query('update tenant_usage set contacts = $2 where tenant_id = $1', [
    gateway.tenant.id,
    people.length,
  ]);
});
afterAll(() => gateway.stop());

/** The list as one would write it in memory. */
function model(order: readonly Term[], types: readonly string[] | undefined, search: string | undefined): number[] {
  // A field that is named twice decides nothing the second time.
  const distinct = order.filter(({ field }, n) => order.findIndex(other => other.field === field) === n);
  const terms = distinct.length > 0 ? distinct : [{ field: 'ID', direction: 'DESC' } as const];
  const tie = { field: 'ID', direction: terms.at(-1)?.direction ?? 'ASC' } as const;
  const value = (person: Person, { field }: Term): string | number => (field === 'ID' ? person.id : person[field]);
  return people
    .filter(person => !types || types.includes(person.type))
    .filter(person => search === undefined || `${person.FIRST_NAME} ${person.LAST_NAME}`.includes(search))
    .sort((a, b) => {
      for (const term of [...terms, tie]) {
        const [x, y] = [value(a, term), value(b, term)];
        if (x !== y) return (x < y ? -1 : 1) * (term.direction === 'ASC' ? 1 : -1);
      }
      return 0;
    })
    .map(person => person.id);
}

const PAGE = `query ($first: Int, $after: String, $last: Int, $before: String, $order: [ContactOrder!], $filter: ContactFilter, $search: String) {
  contacts(first: $first, after: $after, last: $last, before: $before, orderBy: $order, filter: $filter, search: $search) {
    edges { cursor node { databaseId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`;

async function walk(
  direction: 'forward' | 'backward',
  size: number,
  rest: object,
): Promise<{ ids: number[]; totals: Set<number> }> {
  const ids: number[] = [];
  const totals = new Set<number>();
  for (let cursor: string | null = null; ; ) {
    const place: object = direction === 'forward' ? { first: size, after: cursor } : { last: size, before: cursor };
    const { edges, pageInfo, totalCount } = dataOf(await gateway.graphql(PAGE, { ...place, ...rest })).contacts;
    const page = edges.map((edge: { node: { databaseId: string } }) => Number(edge.node.databaseId));
    totals.add(totalCount);
    expect(page.length).toBeLessThanOrEqual(size);
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([
      edges[0]?.cursor ?? null,
      edges.at(-1)?.cursor ?? null,
    ]);
    if (direction === 'forward') ids.push(...page);
    else ids.unshift(...page);
    expect(pageInfo[direction === 'forward' ? 'hasPreviousPage' : 'hasNextPage']).toBe(cursor !== null);
    if (!pageInfo[direction === 'forward' ? 'hasNextPage' : 'hasPreviousPage']) return { ids, totals };
    cursor = direction === 'forward' ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

const term = fc.record({
  field: fc.constantFrom('ID', 'FIRST_NAME', 'LAST_NAME', 'CREATED_AT', 'UPDATED_AT'),
  direction: fc.constantFrom('ASC', 'DESC'),
}) as fc.Arbitrary<Term>;

test('paging in either direction, in any order, with any filter and search, visits every row exactly once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(term, { maxLength: 4 }),
      fc.option(fc.subarray(['lead', 'customer', 'guest']), { nil: undefined }),
      fc.option(fc.constantFrom('a', 'b', 'bb', 'c a'), { nil: undefined }),
      fc.integer({ min: 7, max: 100 }),
      fc.constantFrom('forward' as const, 'backward' as const),
      async (order, types, search, size, direction) => {
        const expected = model(order, types, search);
        const { ids, totals } = await walk(direction, size, {
          order,
          search,
          filter: types && { type: { in: types.map(type => type.toUpperCase()) } },
        });
        expect(ids).toEqual(expected);
        expect([...totals]).toEqual([expected.length]);
      },
    ),
    { numRuns: 60 },
  );
});

test('rows inserted or deleted between pages cause no other row to be repeated or skipped', async () => {
  const seen: number[] = [];
  const order = [{ field: 'FIRST_NAME', direction: 'ASC' }];
  let cursor: string | null = null;
  for (let page = 0; ; page += 1) {
    const {
      edges,
      pageInfo,
    }: { edges: { node: { databaseId: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } = dataOf(
      await gateway.graphql(PAGE, { first: 20, after: cursor, order }),
    ).contacts;
    seen.push(...edges.map(edge => Number(edge.node.databaseId)));
    if (!pageInfo.hasNextPage) break;
    cursor = pageInfo.endCursor;
    const last = edges.at(-1)?.node.databaseId;
    await gateway.database.query("insert into contacts (tenant_id, firstname) values ($1, ''), ($1, 'a')", [
      gateway.tenant.id,
    ]);
    if (page === 1)
      await gateway.database.query('delete from contacts where tenant_id = $1 and id = $2', [gateway.tenant.id, last]);
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(people.filter(({ id }) => !seen.includes(id))).toEqual([]);
  await gateway.database.query('delete from contacts where tenant_id = $1 and id > $2', [
    gateway.tenant.id,
    people.at(-1)?.id,
  ]);
});
