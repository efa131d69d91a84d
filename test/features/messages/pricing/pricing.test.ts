import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPriceTable } from '../../../../src/features/messages/pricing/price-table.ts';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { harnessFor } from '../inbound/harness.ts';
import { type Account, accountOf } from '../statistics/fixture.ts';

const PRICES = `country,category,price,currency,valid_from,valid_until
DE,marketing,0.1131,EUR,,2026-11-01
DE,marketing,0.12,EUR,2026-11-01,
*,utility,0.0001,USD,,
`;

let directory: string;
let gateway: TestGateway;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-prices-'));
  const file = join(directory, 'prices.csv');
  await writeFile(file, PRICES);
  gateway = await startGateway({ role: 'all', env: { PARLEY_PRICES: file } });
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true });
});

const MARKETING = { category: 'marketing', type: 'regular', isBillable: true };

async function priceOf(account: Account, id: string) {
  const query =
    '{ message(id: "ID") { pricing { category type networkCategory country { alpha2 } isBillable cost { amount currency } } } }';
  return dataOf(await gateway.graphql(query.replace('ID', id), {}, account.token))['message'].pricing;
}

test('a message shows the price that the network reported, in any words, and its cost by the table of the time', async () => {
  const account = await accountOf(gateway);
  const ids = await account.add([
    { at: '2026-10-31T23:59:59Z', phone: '+4915112345678' },
    { at: '2026-11-01T00:00:00Z', phone: '+4915112345678' },
    { at: '2026-11-02T00:00:00Z', phone: '+14165550101' },
    { at: '2026-11-02T00:00:00Z', phone: '+14165550101' },
    { at: '2026-11-02T00:00:00Z', phone: '+4915112345678' },
    { at: '2026-11-02T00:00:00Z', phone: '+4915112345678' },
  ]);
  const [before = '', after = '', free = '', unknown = '', hyphen = '', silent = ''] = ids;
  const at = '2026-11-03T00:00:00Z';
  await account.apply([
    { id: before, status: 'delivered', at, pricing: MARKETING },
    { id: after, status: 'delivered', at, pricing: MARKETING },
    {
      id: free,
      status: 'delivered',
      at,
      pricing: { category: 'utility', type: 'free_customer_service', isBillable: false },
    },
    { id: unknown, status: 'delivered', at, pricing: { category: 'hologram', type: 'lottery', isBillable: true } },
    { id: hyphen, status: 'delivered', at, pricing: { category: 'authentication-international', type: 'regular' } },
  ]);
  const price = {
    category: 'MARKETING',
    type: 'REGULAR',
    networkCategory: 'marketing',
    country: { alpha2: 'DE' },
    isBillable: true,
  };
  expect(await priceOf(account, before)).toEqual({ ...price, cost: { amount: '0.1131', currency: 'EUR' } });
  expect(await priceOf(account, after)).toEqual({ ...price, cost: { amount: '0.12', currency: 'EUR' } });
  expect(await priceOf(account, free)).toMatchObject({
    type: 'FREE_CUSTOMER_SERVICE',
    country: { alpha2: 'CA' },
    isBillable: false,
    cost: { amount: '0.00', currency: 'USD' },
  });
  expect(await priceOf(account, unknown)).toMatchObject({
    category: 'OTHER',
    type: 'OTHER',
    networkCategory: 'hologram',
    cost: null,
  });
  expect(await priceOf(account, hyphen)).toMatchObject({
    category: 'AUTHENTICATION_INTERNATIONAL',
    isBillable: true,
    cost: null,
  });
  expect(await priceOf(account, silent)).toBeNull();
});

test('a message has one price for any order and repetition of its statuses', async () => {
  const at = '2026-11-02T10:00:00Z';
  const statuses = [
    { status: 'sent', at, pricing: { category: 'service', type: 'regular', isBillable: true } },
    { status: 'delivered', at, pricing: MARKETING },
    { status: 'read', at },
  ] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...statuses), { maxLength: 4 }), { maxLength: 5 }),
      async turns => {
        const account = await accountOf(gateway);
        const [id = ''] = await account.add([{ at, phone: '+4915112345678' }]);
        for (const turn of [...turns, statuses]) await account.apply(turn.map(status => ({ id, ...status })));
        expect(
          await gateway.database.query('select category from message_pricing where tenant_id = $1', [account.tenantId]),
        ).toEqual([{ category: 'marketing' }]);
        expect(await reportOf(account, 'since: "2026-11-01", until: "2026-12-01"')).toMatchObject({
          total: 1,
          cost: [{ amount: '0.12', currency: 'EUR' }],
        });
      },
    ),
    { numRuns: 20 },
  );
});

const reportOf = async ({ token }: Account, args: string) =>
  dataOf(
    await gateway.graphql(
      `{ costReport(${args}) { total cost { amount currency } unpricedCount
         series { start count unpricedCount cost { amount currency } category pricingType source country { alpha2 } } } }`,
      {},
      token,
    ),
  )['costReport'];

describe('costs by month', () => {
  let account: Account;
  beforeAll(async () => {
    account = await accountOf(gateway);
    const ids = await account.add([
      // Already November in Berlin; the price is that of the hour in UTC.
      { at: '2026-10-31T23:30:00Z', phone: '+4915112345678' },
      { at: '2026-11-05T10:00:00Z', phone: '+4915112345678' },
      { at: '2026-11-05T10:00:00Z', phone: '+4915112345678' },
      { at: '2026-11-05T10:00:00Z', phone: '+14165550101' },
      { at: '2026-11-05T10:00:00Z', phone: '+14165550101' },
      { at: '2026-11-05T10:00:00Z', phone: '+14165550101' },
    ]);
    const at = '2026-11-06T00:00:00Z';
    await account.apply(ids.slice(0, 3).map(id => ({ id, status: 'delivered', at, pricing: MARKETING })));
    await account.apply([
      { id: ids[3] ?? '', status: 'read', at, pricing: { category: 'utility', type: 'regular', isBillable: true } },
      { id: ids[4] ?? '', status: 'read', at, pricing: { category: 'hologram', type: 'regular', isBillable: true } },
      { id: ids[5] ?? '', status: 'read', at },
    ]);
  });

  test.each([false, true])('add up exactly by currency, and tell what has no price (moved: %s)', async moved => {
    if (moved) while ((await account.move()) > 0);
    expect(await reportOf(account, 'since: "2026-10-01", until: "2026-12-01", groupBy: [CATEGORY, COUNTRY]')).toEqual({
      total: 5,
      cost: [
        { amount: '0.3531', currency: 'EUR' },
        { amount: '0.0001', currency: 'USD' },
      ],
      unpricedCount: 1,
      series: expect.arrayContaining([
        point({ start: '2026-10-01T00:00:00.000Z', cost: [{ amount: '0.1131', currency: 'EUR' }] }),
        point({ count: 2, cost: [{ amount: '0.24', currency: 'EUR' }] }),
        point({ category: 'UTILITY', country: { alpha2: 'CA' }, cost: [{ amount: '0.0001', currency: 'USD' }] }),
        point({ category: 'OTHER', country: { alpha2: 'CA' }, unpricedCount: 1 }),
      ]),
    });
  });

  test('begin with the months of the zone', async () => {
    const { series } = await reportOf(
      account,
      'since: "2026-10-01", until: "2026-12-01", timeZone: "Europe/Berlin", groupBy: [SOURCE]',
    );
    expect(series).toEqual([
      point({
        start: '2026-10-31T23:00:00.000Z',
        count: 5,
        category: null,
        country: null,
        source: 'TOKEN',
        unpricedCount: 1,
        cost: [
          { amount: '0.3531', currency: 'EUR' },
          { amount: '0.0001', currency: 'USD' },
        ],
      }),
    ]);
  });

  test('have the price of the time also where a range begins within a month, after the price has changed', async () => {
    const month = await reportOf(account, 'since: "2026-10-15", until: "2026-12-01", timeZone: "UTC"');
    const rest = await reportOf(account, 'since: "2026-11-02", until: "2026-12-01", timeZone: "Europe/Berlin"');
    expect(month.series.map(({ cost }: { cost: unknown }) => cost)).toEqual([
      [{ amount: '0.1131', currency: 'EUR' }],
      [
        { amount: '0.24', currency: 'EUR' },
        { amount: '0.0001', currency: 'USD' },
      ],
    ]);
    expect(rest.cost).toEqual(month.series[1].cost);
    const days = await reportOf(account, 'since: "2026-11-02T05:00:00Z", until: "2026-11-30", interval: DAY');
    const hours = await reportOf(account, 'since: "2026-11-02T05:20:00Z", until: "2026-11-30", interval: HOUR');
    expect([days.cost, hours.cost]).toEqual([rest.cost, rest.cost]);
  });

  test('need the scope costs:read, as the cost of a statistic does', async () => {
    const token = await gateway.addToken({ ...gateway.tenant, id: account.tenantId }, { scopes: ['messages:read'] });
    expect(codeOf(await gateway.graphql('{ costReport(since: "2026-11-01") { total } }', {}, token))).toBe(
      'INSUFFICIENT_SCOPE',
    );
    const answer = await gateway.graphql(
      '{ messageStatistics(since: "2026-11-01") { total cost { amount } } }',
      {},
      token,
    );
    expect(answer.data).toMatchObject({ messageStatistics: { total: 5, cost: null } });
    expect(codeOf(answer)).toBe('INSUFFICIENT_SCOPE');
  });

  const point = (values: object) => ({
    start: '2026-11-01T00:00:00.000Z',
    count: 1,
    unpricedCount: 0,
    cost: [],
    category: 'MARKETING',
    pricingType: null,
    source: null,
    country: { alpha2: 'DE' },
    ...values,
  });
});

test('the network’s statuses price a message that was sent, and the statistics know it', async () => {
  const harness = await harnessFor(gateway);
  await harness.write({ from: '14155550101', text: 'Hi' });
  const { token } = harness.tenant;
  await gateway.graphql(
    'mutation { sendMessage(input: { to: { phone: "+14155550101" }, content: { text: { body: "Hello" } } }) { message { databaseId } userErrors { code message path } } }',
    {},
    token,
  );
  const query =
    '{ messageStatistics(since: "2020-01-01", interval: MONTH, groupBy: [DIRECTION, CATEGORY, COUNTRY]) { series { count direction category country { alpha2 } } } }';
  await expect
    .poll(async () => dataOf(await gateway.graphql(query, {}, token))['messageStatistics'].series, { timeout: 60_000 })
    .toEqual(
      expect.arrayContaining([
        { count: 1, direction: 'INBOUND', category: null, country: { alpha2: 'US' } },
        { count: 1, direction: 'OUTBOUND', category: 'SERVICE', country: { alpha2: 'US' } },
      ]),
    );
});

describe('a price table', () => {
  const read = async (text: string) => {
    const file = join(directory, 'table');
    await writeFile(file, text);
    return readPriceTable(file);
  };
  const at = Date.parse('2026-11-02');

  test('is JSON or CSV, names the country before all others, and the latest of prices that overlap', async () => {
    const rows = [
      { country: 'de', category: 'authentication-international', price: 0.5, currency: 'EUR' },
      {
        country: 'DE',
        category: 'authentication_international',
        price: '0.75',
        currency: 'EUR',
        valid_from: '2026-11-01T00:00:00+01:00',
      },
      { country: '*', category: 'authentication_international', price: '1', currency: 'USD' },
    ];
    const csv = `country,category,price,currency,valid_from\r\n${rows.map(row => `${row.country},"${row.category}",${row.price},${row.currency},${row.valid_from ?? ''}`).join('\r\n')}\r\n`;
    for (const table of [await read(JSON.stringify(rows)), await read(csv)]) {
      const priced = (country: string | null, ms: number) => table.priceOf(country, 'AUTHENTICATION-international', ms);
      expect(priced('DE', at)).toEqual({ amount: 7_500_000_000n, currency: 'EUR' });
      expect(priced('DE', Date.parse('2026-10-31T22:00Z'))).toEqual({ amount: 5_000_000_000n, currency: 'EUR' });
      expect(priced('FR', at)).toEqual({ amount: 10_000_000_000n, currency: 'USD' });
      expect(priced(null, at)).toEqual({ amount: 10_000_000_000n, currency: 'USD' });
      expect(table.priceOf('DE', 'marketing', at)).toBeUndefined();
      expect(table.boundaries).toEqual([Date.parse('2026-10-31T23:00Z')]);
    }
  });

  test('gives territories with the calling code of a country its price, unless it names them', async () => {
    const csv =
      'country,category,price,currency\nGB,marketing,0.04,GBP\nGG,marketing,0.03,GBP\nUS,marketing,0.02,USD\n';
    const priced = async (text: string) => {
      const table = await read(text);
      return ['GB', 'JE', 'GG', 'IM', 'US', 'JM', 'KZ'].map(country => table.priceOf(country, 'marketing', at)?.amount);
    };
    const [gb, gg, us, any] = [400_000_000n, 300_000_000n, 200_000_000n, 100_000_000n];
    expect(await priced(csv)).toEqual([gb, gb, gg, gb, us, undefined, undefined]);
    expect(await priced(`${csv}*,marketing,0.01,USD\n`)).toEqual([gb, gb, gg, gb, us, any, any]);
  });

  test('refuses a period that ends before it starts, and two prices with the same start', async () => {
    const [header] = PRICES.split('\n');
    const lines = [
      header,
      'DE,marketing,0.10,EUR,2026-10-01,2026-02-01',
      'DE,utility,0.05,EUR,,',
      'de,utility,0.06,EUR,,',
      'FR,utility,0.05,EUR,2026-10-01,',
      'FR,utility,0.05,USD,2026-10-01T00:00:00Z,2027-01-01',
      'FR,utility,0.050,EUR,2026-10-01,2027-01-01',
    ];
    const error: unknown = await read(lines.join('\n')).catch(fault => fault);
    expect(String(error).split('\n').slice(1)).toEqual([
      '  line 2: valid_until: must be after valid_from',
      '  line 4: price: line 3 has another price for the same country, category and start',
      '  line 6: price: line 5 has another price for the same country, category and start',
    ]);
  });

  test('lists its faults by line', async () => {
    await expect(
      read('country,category,price,currency\nDE,marketing,0,1,EUR\nGermany,marketing,0.1,euro\n'),
    ).rejects.toThrow(/line 2: currency.*\n.*line 3: country.*\n.*line 3: currency/);
    await expect(read('country,category,currency,price\nDE,marketing,EUR,0,1131\n')).rejects.toThrow(
      'line 2: row: Has 5 cells, the first line has 4: quote values that contain the delimiter.',
    );
    await expect(read('[{ "country": "DE" }]')).rejects.toThrow(/row 1: category/);
    await expect(read('{}')).rejects.toThrow('array');
    await expect(readPriceTable(join(directory, 'missing'))).rejects.toThrow('PARLEY_PRICES');
  });
});

test('cost entries are listed by campaign, category, channel and time, and statistics count the campaign', async () => {
  const account = await accountOf(gateway);
  const [campaign] = await gateway.database.query<{ id: string }>(
    `insert into campaigns (tenant_id, name, template, audience, author) values ($1, 'Sale', '{}', '{}', '{}') returning id`,
    [account.tenantId],
  );
  const [mine = '', other = '', silent = ''] = await account.add([
    { at: '2026-11-05T10:00:00Z', phone: '+4915112345678', campaign: Number(campaign?.id) },
    { at: '2026-11-06T10:00:00Z', phone: '+4915112345678' },
    { at: '2026-11-06T10:00:00Z', phone: '+4915112345678' },
  ]);
  const at = '2026-11-06T11:00:00Z';
  await account.apply([
    { id: mine, status: 'delivered', at, pricing: MARKETING },
    { id: other, status: 'delivered', at, pricing: { ...MARKETING, category: 'hologram' } },
    { id: silent, status: 'delivered', at },
  ]);
  const list = async (args: string): Promise<string[]> => {
    const query = `{ costEntries(${args}) { totalCount nodes { databaseId } } }`;
    const { nodes, totalCount } = dataOf(await gateway.graphql(query, {}, account.token))['costEntries'];
    expect(totalCount).toBe(nodes.length);
    return nodes.map(({ databaseId }: { databaseId: string }) => databaseId);
  };
  expect(await list('first: 5')).toEqual([other, mine]);
  expect(await list('orderBy: [{ field: OCCURRED_AT }]')).toEqual([mine, other]);
  expect(await list(`filter: { campaignId: { eq: "${campaign?.id}" } }`)).toEqual([mine]);
  expect(await list(`filter: { campaignId: { isNull: true } }`)).toEqual([other]);
  expect(await list('filter: { pricingCategory: { eq: OTHER } }')).toEqual([other]);
  expect(await list(`filter: { channelId: { eq: "${account.channelId}" }, occurredAt: { lt: "2026-11-06" } }`)).toEqual(
    [mine],
  );
  const entry = `{ costEntry(id: "${mine}") { id occurredAt message { databaseId } channel { databaseId } campaign { name } pricing { category cost { amount } } } }`;
  const { id, ...shown } = dataOf(await gateway.graphql(entry, {}, account.token))['costEntry'];
  expect(shown).toEqual({
    occurredAt: '2026-11-05T10:00:00.000Z',
    message: { databaseId: mine },
    channel: { databaseId: String(account.channelId) },
    campaign: { name: 'Sale' },
    pricing: { category: 'MARKETING', cost: { amount: '0.12' } },
  });
  const node = '{ node(id: "ID") { ... on CostEntry { databaseId } } }'.replace('ID', id);
  expect(dataOf(await gateway.graphql(node, {}, account.token))).toEqual({ node: { databaseId: mine } });
  const byCampaign =
    '{ costReport(since: "2026-11-01", groupBy: [CAMPAIGN]) { series { count campaign { name } cost { amount } } } }';
  for (const moved of [false, true]) {
    if (moved) await account.move();
    expect(dataOf(await gateway.graphql(byCampaign, {}, account.token))['costReport'].series).toEqual(
      expect.arrayContaining([
        { count: 1, campaign: { name: 'Sale' }, cost: [{ amount: '0.12' }] },
        { count: 1, campaign: null, cost: [] },
      ]),
    );
    const counted = `{ messageStatistics(since: "2026-11-01", groupBy: [STATUS], filter: { campaignId: { eq: "${campaign?.id}" } }) { series { count status } } }`;
    expect(dataOf(await gateway.graphql(counted, {}, account.token))['messageStatistics'].series).toEqual([
      { count: 1, status: 'DELIVERED' },
    ]);
  }
});
