import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countBillable } from '../../../../src/features/campaigns/recipients/billable-messages.sql.ts';
import { getCosts } from '../../../../src/features/campaigns/recipients/store.ts';
import { readPriceTable } from '../../../../src/features/messages/pricing/price-table.ts';
import { openTestDatabase } from '../../../support/database.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  opened = await openTestDatabase();
  await opened.database.query(
    `insert into message_statistics (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type,
       is_billable, error_code, messages)
     select 1, timestamptz '2026-09-30T12:00:00Z' + h * interval '1 hour', 1, 1, 7, 'campaign', s, c, 'marketing', 'regular', true, -1, 1
     from generate_series(0, 23) h, unnest('{delivered,read}'::text[]) s, unnest('{DE,US}'::text[]) c`,
  );
});
afterAll(() => opened.close());

async function prices(...lines: readonly string[]) {
  const file = join(await mkdtemp(join(tmpdir(), 'parley-prices-')), 'prices.csv');
  await writeFile(file, ['country,category,price,currency,valid_from,valid_until', ...lines].join('\n'));
  return readPriceTable(file);
}

test('messages of a campaign are counted by price period, and cost the price of their hour', async () => {
  const table = await prices(
    'DE,marketing,0.10,EUR,,2026-10-01',
    'DE,marketing,0.20,EUR,2026-10-01,',
    'US,marketing,0.01,USD,2026-10-01,2026-10-01T06:00:00Z',
  );
  const counts = await countBillable(opened.db.read, 1, [7], table.boundaries);
  expect(counts.map(({ country, place, messages }) => [country, place, messages]).sort()).toEqual([
    ...[0, 1, 2].map(place => ['DE', place, place === 0 ? 24 : 12]),
    ...[0, 1, 2].map(place => ['US', place, place === 0 ? 24 : 12]),
  ]);
  expect(await getCosts(opened.db.read, 1, [6, 7], table)).toEqual([
    [],
    [
      { amount: '7.20', currency: 'EUR' },
      { amount: '0.12', currency: 'USD' },
    ],
  ]);
});

test('a table of prices that never change needs one row a country', async () => {
  const table = await prices('*,marketing,0.10,EUR,,');
  expect(await countBillable(opened.db.read, 1, [7], table.boundaries)).toHaveLength(2);
  expect(await getCosts(opened.db.read, 1, [7], table)).toEqual([[{ amount: '9.60', currency: 'EUR' }]]);
});

test('without prices nothing is read', async () => {
  const unread = { executeQuery: () => Promise.reject(new Error('A statement was run.')) };
  expect(await getCosts(unread as never, 1, [7], undefined)).toEqual([[]]);
});
