import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineCosts } from '../../../../src/features/messages/pricing/export-page.sql.ts';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { describeColumns } from '../../../support/describe-statement.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { accountOf, addSources } from '../statistics/fixture.ts';

let directory: string;
let gateway: TestGateway;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-prices-'));
  const file = join(directory, 'prices.json');
  await writeFile(file, JSON.stringify([{ country: 'DE', category: 'marketing', price: '0.1131', currency: 'EUR' }]));
  gateway = await startGateway({ env: { PARLEY_PRICES: file } });
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true });
});

test('createExport writes the costs that meet a filter, with their amounts', async () => {
  const account = await accountOf(gateway);
  const at = '2026-11-05T10:00:00.000Z';
  // The first sync of the channel deletes templates that the network does not know.
  await eventually(async () =>
    expect(
      await gateway.database.query(
        'select from template_syncs where tenant_id = $1 and finished_at is not null and run_id is null',
        [account.tenantId],
      ),
    ).toHaveLength(1),
  );
  const { campaignId, templateId } = await addSources(account);
  const ids = await account.add(
    [campaignId, undefined, undefined].map(campaign => ({
      at,
      phone: '+4915112345678',
      ...(campaign && { campaign }),
    })),
  );
  const [paid = '', free = '', other = ''] = ids;
  await gateway.database.query('update messages set template_id = $2 where id = $1', [paid, templateId]);
  const pricing = { category: 'marketing', type: 'regular', isBillable: true };
  await account.apply([
    { id: paid, status: 'delivered', at, pricing },
    { id: free, status: 'delivered', at, pricing: { ...pricing, type: 'free_entry_point', isBillable: false } },
    { id: other, status: 'delivered', at, pricing: { ...pricing, category: 'utility' } },
  ]);
  const input = { resource: { costs: { pricingCategory: { eq: 'MARKETING' } } }, fileType: 'CSV' };
  const { id } = payloadOf(await gateway.mutate('createExport', input, 'export { id }', account.token)).export;
  const url = await eventually(async () => {
    const query = `{ export(id: "${id}") { state rowCount url } }`;
    const row = dataOf(await gateway.graphql(query, {}, account.token))['export'];
    expect(row).toMatchObject({ state: 'COMPLETED', rowCount: 2 });
    return new URL(row.url, gateway.url);
  });
  const response = await fetch(url);
  expect(response.headers.get('content-disposition')).toMatch(/costs-.*\.csv/);
  const line = (
    message: string,
    sources: readonly unknown[],
    type: string,
    billable: boolean,
    amount: string,
  ): string => [message, at, account.channelId, ...sources, 'DE', 'marketing', type, billable, amount, 'EUR'].join(',');
  expect((await response.text()).split('\r\n')).toEqual([
    'chat_message_id,occurred_at,channel_id,campaign_id,campaign_name,template_id,template_name,country,category,type,is_billable,amount,currency',
    ...[
      line(paid, [campaignId, '"Autumn, all"', templateId, 'autumn_sale'], 'regular', true, '0.1131'),
      line(free, ['', '', '', ''], 'free_entry_point', false, '0.00'),
    ].sort(),
    '',
  ]);
  const token = await gateway.addToken({ ...gateway.tenant, id: account.tenantId }, { scopes: ['contacts:export'] });
  expect(codeOf(await gateway.mutate('createExport', input, 'export { id }', token))).toBe('INSUFFICIENT_SCOPE');
});

test('a page of costs has the columns of its row type', async () => {
  expect(await describeColumns(gateway.database.url, db => examineCosts(db, 1, {}, null, 1))).toEqual({
    message_id: 'uuid',
    channel_id: 'bigint',
    campaign_id: 'bigint',
    category: 'text',
    type: 'text',
    is_billable: 'boolean',
    country: 'text',
    occurred_at: 'timestamp with time zone',
    meets: 'boolean',
    template_id: 'bigint',
    campaign_name: 'text',
    template_name: 'text',
  });
});
