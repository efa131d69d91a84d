import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountOf, addSources } from '../features/messages/statistics/fixture.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { Session } from './program.ts';

let directory: string;
let gateway: TestGateway;
let session: Session;
let slug: string;
let sources: Awaited<ReturnType<typeof addSources>>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-costs-'));
  await writeFile(
    join(directory, 'prices.csv'),
    'country,category,price,currency\nDE,marketing,0.1131,EUR\nUS,marketing,0.025,USD\n',
  );
  gateway = await startGateway({ role: 'gateway' });
  session = new Session();
  const account = await accountOf(gateway);
  const at = '2026-11-05T10:00:00Z';
  sources = await addSources(account);
  const ids = await account.add([
    { at, phone: '+4915112345678', campaign: sources.campaignId },
    ...['+4915112345678', '+14155550101', '+919876543210'].map(phone => ({ at, phone })),
  ]);
  await gateway.database.query('update messages set template_id = $2 where id = $1', [ids[0], sources.templateId]);
  const pricing = { category: 'marketing', type: 'regular', isBillable: true };
  await account.apply(ids.map(id => ({ id, status: 'delivered', at, pricing })));
  const [tenant] = await gateway.database.query<{ slug: string }>('select slug from tenants where tenant_id = $1', [
    account.tenantId,
  ]);
  slug = tenant?.slug ?? '';
});
afterAll(async () => {
  session.child.kill('SIGKILL');
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const costs = async (...args: string[]): Promise<string> => {
  const env = { DATABASE_URL: gateway.database.url, PARLEY_PRICES: 'prices.csv' };
  const { code, output } = await session.run(directory, ['costs', slug, '--since', '2026-11-01', ...args], env);
  expect({ code, output }).toMatchObject({ code: 0 });
  return output;
};

test('parley costs prints months by category and country as CSV, JSON and a table', async () => {
  expect(await costs('--by', 'category,country', '--csv')).toBe(
    [
      'start,category,country,messages,unpriced,amount,currency',
      '2026-11-01T00:00:00.000Z,MARKETING,DE,2,0,0.2262,EUR',
      ...['2026-11-01T00:00:00.000Z,MARKETING,IN,1,1,,', '2026-11-01T00:00:00.000Z,MARKETING,US,1,0,0.025,USD'],
      '',
    ].join('\r\n'),
  );
  expect(JSON.parse(await costs('--json'))).toEqual(
    [
      { messages: 4, unpriced: 1, amount: '0.2262', currency: 'EUR' },
      { messages: null, unpriced: null, amount: '0.025', currency: 'USD' },
    ].map(counts => ({ start: '2026-11-01T00:00:00.000Z', category: 'MARKETING', ...counts })),
  );
  expect(await costs()).toMatch(/start +category +messages +unpriced +amount +currency\n.* 0\.2262 +EUR\n/);
  expect(await costs('--until', '2026-11-02', '--csv')).toBe('start,category,messages,unpriced,amount,currency\r\n');
});

test('parley costs prints the names of templates and campaigns with their ids', async () => {
  const { campaignId, templateId } = sources;
  expect(await costs('--by', 'template,campaign', '--csv')).toBe(
    [
      'start,template,templateName,campaign,campaignName,messages,unpriced,amount,currency',
      ...['2026-11-01T00:00:00.000Z,,,,,3,1,0.1131,EUR', '2026-11-01T00:00:00.000Z,,,,,,,0.025,USD'],
      `2026-11-01T00:00:00.000Z,${templateId},autumn_sale,${campaignId},"Autumn, all",1,0,0.1131,EUR`,
      '',
    ].join('\r\n'),
  );
  expect(JSON.parse(await costs('--by', 'campaign', '--json'))).toContainEqual({
    ...{ start: '2026-11-01T00:00:00.000Z', campaign: campaignId, campaignName: 'Autumn, all' },
    ...{ messages: 1, unpriced: 0, amount: '0.1131', currency: 'EUR' },
  });
});

test('an unknown time zone or dimension is refused', async () => {
  const env = { DATABASE_URL: gateway.database.url };
  for (const [option, value] of [
    ['--time-zone', 'Europe/Nowhere'],
    ['--by', 'weather'],
    ['--since', 'yesterday'],
  ] as const) {
    const { code, output } = await session.run(directory, ['costs', slug, option, value], env);
    expect(code, output).toBe(1);
    expect(output).toMatch(/Must be/);
  }
});
