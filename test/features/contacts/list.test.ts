import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
const ids: Record<string, number> = {};

/** What the tests below look for. Names of columns, as they stand in the table. */
const PEOPLE = [
  {
    firstname: 'Ada',
    lastname: 'Lovelace',
    email: 'ada@example.com',
    phone: '+442079460001',
    company: 'Engines 100%',
    type: 'customer',
    source: 'Web',
    groups: ['Friends', 'Press'],
    created_at: '2026-01-01T10:00:00Z',
  },
  {
    firstname: 'Bob',
    lastname: 'O_Brien',
    email: 'bob.b@example.com',
    phone: '+491511234567',
    company: 'back\\slash',
    type: 'lead',
    source: 'Fair',
    groups: ['Friends'],
    created_at: '2026-01-02T10:00:00Z',
  },
  {
    firstname: 'Çelik',
    lastname: 'Ünal',
    email: null,
    phone: '+905321234567',
    company: 'ÄRGER GMBH',
    type: 'guest',
    source: null,
    groups: [],
    created_at: '2026-01-03T10:00:00.123Z',
  },
  {
    firstname: 'ΓΙΑΝΝΗΣ',
    lastname: '王小明',
    email: 'x@example.com',
    phone: '+8613812345678',
    company: null,
    type: 'lead',
    source: 'Web',
    groups: ['Press'],
    created_at: '2026-01-04T10:00:00Z',
    opted_out_at: '2026-02-01T00:00:00Z',
  },
  {
    firstname: 'Ed',
    lastname: '',
    email: null,
    phone: null,
    company: '50 50',
    type: 'lead',
    source: null,
    groups: [],
    created_at: '2026-01-05T10:00:00Z',
  },
] as const;

beforeAll(async () => {
  gateway = await startGateway();
  const { query } = gateway.database;
  const insert = async (table: string, name: string): Promise<void> => {
    const rows = await query<{ id: string }>(`insert into ${table} (tenant_id, name) values ($1, $2) returning id`, [
      gateway.tenant.id,
      name,
    ]);
    ids[name] = Number(rows[0]?.id);
  };
  for (const name of ['Web', 'Fair']) await insert('sources', name);
  for (const name of ['Friends', 'Press', 'Nobody']) await insert('groups', name);
  for (const { source, groups, ...person } of PEOPLE) {
    const columns = {
      ...person,
      tenant_id: gateway.tenant.id,
      phone_key: person.phone?.slice(1) ?? null,
      source_id: source && ids[source],
      updated_at: person.created_at,
    };
    const names = Object.keys(columns);
    const rows = await query<{ id: string }>(
      `insert into contacts (${names.join(', ')}) values (${names.map((_, n) => `$${n + 1}`).join(', ')}) returning id`,
      Object.values(columns),
    );
    ids[person.firstname] = Number(rows[0]?.id);
    for (const group of groups)
      await query('insert into contact_groups (tenant_id, contact_id, group_id) values ($1, $2, $3)', [
        gateway.tenant.id,
        rows[0]?.id,
        ids[group],
      ]);
  }
  await query('update tenant_usage set contacts = $2 where tenant_id = $1', [gateway.tenant.id, PEOPLE.length]);
});
afterAll(() => gateway.stop());

const LIST = `query ($filter: ContactFilter, $search: String, $orderBy: [ContactOrder!], $first: Int, $after: String, $last: Int, $before: String, $offset: Int) {
  contacts(filter: $filter, search: $search, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before, offset: $offset) {
    nodes { firstName } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
const list = (variables: object) => gateway.graphql(LIST, variables);

/** The first letters of what a list shows, in its order; the count has to agree. */
async function shown(variables: object): Promise<string> {
  const { contacts } = dataOf(await list({ orderBy: [{ field: 'ID' }], ...variables }));
  expect(contacts.totalCount).toBe(contacts.nodes.length);
  return contacts.nodes.map(({ firstName }: { firstName: string }) => firstName[0]).join('');
}

describe('filters', () => {
  const cases: [string, object][] = [
    ['A', { type: { eq: 'CUSTOMER' } }],
    ['BÇΓE', { type: { ne: 'CUSTOMER' } }],
    ['AÇ', { type: { in: ['CUSTOMER', 'GUEST'] } }],
    ['BΓE', { type: { notIn: ['CUSTOMER', 'GUEST'] } }],
    ['', { type: { in: [] } }],
    ['ABÇΓE', { type: { notIn: [] } }],
    ['ABÇΓE', { type: { isNull: false } }],
    ['ÇΓE', { createdAt: { gt: '2026-01-02T10:00:00Z' } }],
    ['BÇΓE', { createdAt: { gte: '2026-01-02T11:00:00+01:00' } }],
    ['A', { createdAt: { lt: '2026-01-02' } }],
    ['AB', { createdAt: { lte: '2026-01-02T10:00:00.000Z' } }],
    ['Ç', { createdAt: { eq: '2026-01-03T10:00:00.123Z' } }],
    ['ABΓE', { createdAt: { ne: '2026-01-03T10:00:00.123Z' } }],
    ['BÇ', { createdAt: { between: ['2026-01-02T10:00:00Z', '2026-01-03T23:59:59Z'] } }],
    ['AB', { createdAt: { in: ['2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z'] } }],
    ['ÇE', { email: { isNull: true } }],
    ['ABΓ', { email: { isNull: false } }],
    ['BÇΓE', { email: { ne: 'ada@example.com' } }],
    ['ÇΓE', { email: { notIn: ['ada@example.com', 'bob.b@example.com'] } }],
    ['ABΓ', { email: { like: 'EXAMPLE' } }],
    ['B', { email: { like: 'bob._@example%' } }],
    ['', { email: { like: 'a\\%' } }],
    ['', { email: { like: '%\\' } }],
    ['Γ', { optedOutAt: { isNull: false } }],
    ['A', { phone: { eq: '+442079460001' } }],
    ['B', { phone: { gt: '+44', lt: '+5' }, type: { eq: 'LEAD' } }],
    ['ABÇΓE', {}],
    ['ABÇΓE', { type: null, email: {}, phone: { eq: null } }],
  ];
  test.each(cases)('%s: %o', async (expected, filter) => expect(await shown({ filter })).toBe(expected));
});

describe('id filters accept global and database ids, and groupId filters by membership', () => {
  const id = (name: string): string => String(ids[name]);
  const cases: [string, () => object][] = [
    ['AΓ', () => ({ sourceId: { eq: id('Web') } })],
    ['AΓ', () => ({ sourceId: { eq: encodeGlobalId('ContactSource', gateway.tenant.id, id('Web')) } })],
    ['BÇE', () => ({ sourceId: { ne: id('Web') } })],
    ['ÇE', () => ({ sourceId: { isNull: true } })],
    ['ABΓ', () => ({ sourceId: { in: [id('Web'), encodeGlobalId('ContactSource', gateway.tenant.id, id('Fair'))] } })],
    ['ÇE', () => ({ sourceId: { notIn: [id('Web'), id('Fair')] } })],
    ['AB', () => ({ groupId: { eq: id('Friends') } })],
    ['ÇΓE', () => ({ groupId: { ne: id('Friends') } })],
    ['ABΓ', () => ({ groupId: { in: [id('Friends'), id('Press')] } })],
    ['BÇE', () => ({ groupId: { notIn: [id('Press'), id('Nobody')] } })],
    ['ÇE', () => ({ groupId: { isNull: true } })],
    ['ABΓ', () => ({ groupId: { isNull: false } })],
    ['', () => ({ groupId: { eq: id('Nobody') } })],
    ['A', () => ({ groupId: { eq: id('Press') }, sourceId: { eq: id('Web') }, type: { eq: 'CUSTOMER' } })],
  ];
  test.each(cases)('%s (%#)', async (expected, filter) => expect(await shown({ filter: filter() })).toBe(expected));
});

describe('search', () => {
  test.each([
    ['A', 'lovelace'],
    ['A', '  LOVELACE '],
    ['A', 'da lo'],
    ['A', '100%'],
    ['B', 'o_b'],
    ['', 'o%b'],
    ['', '%'.repeat(3)],
    ['A', '%'],
    ['B', '_'],
    ['B', 'k\\s'],
    ['B', '\\'],
    ['ABΓ', '@'],
    ['Ç', 'ärger'],
    ['Ç', 'ÇELİK'.slice(0, 3)],
    ['Ç', 'ünal'],
    ['Γ', 'ΓΙΑΝΝΗΣ'],
    ['Γ', 'ΓΙΑΝΝΗΣ'.toLowerCase().slice(0, -1)],
    ['Γ', '小'],
    ['A', '2079460001'],
    ['A', '+44 20 7946 0001'],
    ['A', '(020) 7946-0001'.slice(3)],
    ['A', '0044 20 7946'],
    ['B', '+49-151-123'],
    ['BÇΓ', '1 234 567'],
    ['E', '50 50'],
    ['', '....'],
    ['', '- - -'],
    ['ABÇΓE', '   '],
    ['', "'; drop table contacts; --"],
    ['', '\u{1F44D}'],
    ['A', 'lovelace ada'],
    ['A', 'engines  ada 100%'],
    ['', 'ada ünal'],
    ['Ç', 'celik'],
    ['Ç', 'UNAL ÇELIK'],
    ['Ç', 'c\u0327elik'],
    ['Ç', 'ärger arger'],
    ['', '％bob'],
    ['A', 'ada +4420'],
    ['BÇ', 'A b'],
  ])('finds %s by %j', async (expected, search) => expect(await shown({ search })).toBe(expected));

  test('reads national numbers of the country of the account', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    await gateway.database.query("update tenants set default_country = 'DE' where tenant_id = $1", [tenant.id]);
    const seed = seedOf(gateway, tenant);
    await seed.contact({ firstName: 'Ana', phone: '+4915112345678' });
    await seed.contact({ firstName: 'Ben', phone: '+4930123456' });
    await seed.contact({ firstName: 'Cem', phone: '+905321234567' });
    const found = async (search: string) => {
      const { contacts } = dataOf(await gateway.graphql(LIST, { search, orderBy: [{ field: 'ID' }] }, tenant.token));
      return contacts.nodes.map(({ firstName }: { firstName: string }) => firstName).join(' ');
    };
    expect(await found('0151 123')).toBe('Ana');
    expect(await found('0151-12345678')).toBe('Ana');
    expect(await found('(030) 12 34 56')).toBe('Ben');
    expect(await found('ben 03012')).toBe('Ben');
    expect(await found('+90 532')).toBe('Cem');
    expect(await found('0090 532')).toBe('Cem');
    expect(await found('123456')).toBe('Ana Ben Cem');
    expect(await found('0176 99')).toBe('');
  });

  test('takes at most ten words', async () => {
    expect(faultsOf(await list({ search: 'a b c d e f g h i j k' }))).toEqual({
      search: ['Must have at most 10 words.'],
    });
  });

  test('is combined with a filter', async () =>
    expect(await shown({ search: 'example', filter: { type: { eq: 'LEAD' } } })).toBe('BΓ'));
});

describe('orderBy', () => {
  const by = (...fields: string[]): object[] =>
    fields.map(text => ({ field: text.replace('-', ''), direction: text.startsWith('-') ? 'DESC' : 'ASC' }));
  test.each([
    ['ABÇΓE', by('ID')],
    ['EΓÇBA', by('-ID')],
    ['EΓÇBA', null],
    ['EΓÇBA', []],
    ['ABÇΓE', by('CREATED_AT')],
    ['EΓÇBA', by('-UPDATED_AT')],
    ['ABEÇΓ', by('FIRST_NAME')],
    ['EABÇΓ', by('LAST_NAME', '-FIRST_NAME')],
    ['ABÇΓE', [{ field: 'ID' }]],
    ['ABEÇΓ', Array.from({ length: 500 }, (_, n) => ({ field: 'FIRST_NAME', direction: n % 2 ? 'DESC' : 'ASC' }))],
  ])('%s: %o', async (expected, orderBy) => expect(await shown({ orderBy })).toBe(expected));
});

describe('invalid page arguments are rejected by name', () => {
  const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
  test.each<[string, object]>([
    ['first', { first: 0 }],
    ['first', { first: -1 }],
    ['first', { first: 101 }],
    ['last', { last: 101 }],
    ['last', { first: 1, last: 1 }],
    ['last', { last: 1, after: 'x' }],
    ['before', { before: 'x' }],
    ['after', { after: 'x' }],
    ['after', { after: cursor('c.id', 1) }],
    ['after', { after: cursor('-c.id') }],
    ['after', { after: cursor('-c.id', 1, 2) }],
    ['after', { after: cursor('-c.id', 'abc') }],
    ['after', { after: cursor('-c.id', 1.5) }],
    ['after', { after: cursor('-c.id', 1e300) }],
    ['after', { after: cursor('-c.id', null) }],
    ['after', { after: cursor('-c.id', { a: 1 }) }],
    ['after', { orderBy: [{ field: 'CREATED_AT' }], after: cursor('c.created_at,c.id', 'yesterday', 1) }],
    [
      'after',
      { orderBy: [{ field: 'CREATED_AT' }], after: cursor('c.created_at,c.id', '0000-01-01T00:00:00.000Z', 1) },
    ],
    ['after', { orderBy: [{ field: 'FIRST_NAME' }], after: cursor('c.firstname,c.id', 'a\u0000', 1) }],
    ['before', { last: 1, before: cursor('x') }],
    ['offset', { offset: -1 }],
    ['offset', { offset: 1_000_001 }],
    ['offset', { offset: 1, last: 1 }],
    ['search', { search: 'a\u0000b' }],
    ['search', { search: 'half \ud83d' }],
    ['filter.email.eq', { filter: { email: { eq: '\u0000' } } }],
    ['filter.email.in.1', { filter: { email: { in: ['a', '\u0000'] } } }],
    ['filter.createdAt.between', { filter: { createdAt: { between: ['2026-01-01'] } } }],
    ['filter.sourceId', { filter: { sourceId: { eq: 'x' } } }],
    ['filter.sourceId', { filter: { sourceId: { eq: 'R3JvdXA6MQ' } } }],
    ['filter.sourceId', { filter: { sourceId: { in: ['99999999999999999999'] } } }],
  ])('%s: %o', async (field, variables) => expect(Object.keys(faultsOf(await list(variables)))).toEqual([field]));

  test.each(['2026-13-01', 'tomorrow', '0000-01-01', '2026-01-01T25:00:00Z', '2026-02-30', '', '12'])(
    'the timestamp %j is rejected',
    async instant => expect(codeOf(await list({ filter: { createdAt: { gt: instant } } }))).toBe('BAD_USER_INPUT'),
  );

  test.each([
    '9999-12-31',
    '0001-01-01',
    '2026-01-01T00:00:00.123456Z',
    '2026-01-01T00:00:00+14:00',
    '2026-01-01T00:00:00',
  ])('an instant %j is one', async instant =>
    expect(codeOf(await list({ filter: { createdAt: { ne: instant } } }))).toBeUndefined(),
  );
});

test('a timestamp without an offset is UTC, regardless of the time zone of the process', async () =>
  expect(await shown({ filter: { createdAt: { eq: '2026-01-03T10:00:00.123' } } })).toBe('Ç'));

test('offset pages return the same rows as cursor pages, and a page beyond the end is empty', async () => {
  const page = async (variables: object) =>
    dataOf(await list({ orderBy: [{ field: 'FIRST_NAME' }], ...variables })).contacts;
  const first = await page({ first: 2 });
  const second = await page({ first: 2, after: first.pageInfo.endCursor });
  expect((await page({ first: 2, offset: 2 })).nodes).toEqual(second.nodes);
  expect(await page({ first: 2, offset: 500 })).toEqual({
    nodes: [],
    totalCount: 5,
    pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
  });
  expect((await page({ last: 2, before: second.pageInfo.startCursor })).nodes).toEqual(first.nodes);
  expect(first).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
});
