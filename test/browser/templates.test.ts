import { mkdir } from 'node:fs/promises';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { changeTenant } from '../../src/features/tenancy/tenants/change.ts';
import { PNG } from '../features/messages/content/media/files.ts';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { violationsOf } from './axe.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;
const LOOK = process.env['PARLEY_LOOK'];

beforeAll(async () => {
  const named = (name: string): TemplateSeed => ({
    name,
    language: 'en',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: `The text of ${name}` }],
  });
  const numbered = (word: string): TemplateSeed[] =>
    Array.from({ length: 30 }, (_, index) => named(`${word}_${String(index).padStart(2, '0')}`));
  const templates = [...numbered('offer'), ...numbered('filler'), named('zebra')];
  gateway = await startGateway({ templates });
  browser = await launchChromium();
  payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount'));
  if (LOOK !== undefined) await mkdir(LOOK, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const open = (path: string, options?: BrowserContextOptions) =>
  openDashboard(browser, gateway.url, gateway.tenant.token, { path, ...options });

test('a template with a picture and every kind of button is shown as on a phone and submitted', async () => {
  const { page, faults } = await open('/templates');
  await page.getByRole('button', { name: 'New template' }).click();
  const dialog = page.getByRole('dialog');
  const preview = dialog.getByRole('group', { name: 'Preview' });
  const button = (name: string) => dialog.getByRole('group', { name, exact: true });
  await dialog.getByLabel('Name').fill('Spring Sale');
  await dialog.getByLabel('Header').selectOption({ label: 'Picture' });
  await dialog.getByLabel('Example file').setInputFiles({ name: 'spring.png', mimeType: 'image/png', buffer: PNG });
  await preview.getByRole('img', { name: 'spring.png' }).waitFor();
  await dialog.getByLabel('Text', { exact: true }).fill('Hi {{1}}, it is spring.');
  await dialog.getByLabel('Example for {{1}}').fill('Ana');
  await dialog.getByLabel('Footer').fill('Until Sunday');
  for (const type of ['Coupon code', 'Link', 'Phone call', 'Quick reply'])
    await dialog.getByRole('button', { name: type, exact: true }).click();
  // Replies go before the others, as the network wants them.
  await button('1. Quick reply').getByLabel('Text of the button').fill('No more offers');
  await button('2. Coupon code').getByLabel('Example of a code').fill('SPRING25');
  await button('3. Link').getByLabel('Text of the button').fill('Your basket');
  await button('3. Link').getByLabel('Address', { exact: true }).fill('https://shop.example/{{1}}/basket');
  await button('3. Link').getByLabel('Example for {{1}} in the address').fill('4711');
  await button('4. Phone call').getByLabel('Text of the button').fill('Call us');
  await button('4. Phone call').getByLabel('Phone number').fill('+14155550123');
  await expect
    .poll(() => preview.locator('.template-buttons > span').allInnerTexts())
    .toEqual(['No more offers', 'Copy code', 'Your basket', 'Call us']);
  expect(await violationsOf(page)).toEqual([]);
  if (LOOK !== undefined) await page.screenshot({ path: `${LOOK}/new-template.png` });
  const submit = dialog.getByRole('button', { name: 'Submit for review' });
  await submit.click();
  // Each fault is at its field.
  await dialog.locator('.field', { hasText: 'Name' }).locator('.field-error').waitFor();
  await button('3. Link').getByText('May have one variable, at its end.').waitFor();
  await dialog.getByLabel('Name').fill('spring_sale');
  await button('3. Link').getByLabel('Address', { exact: true }).fill('https://shop.example/basket/{{1}}');
  await submit.click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('Search templates').fill('spring');
  await page.getByRole('heading', { name: 'spring_sale' }).waitFor();
  expect(await page.locator('.template-card').count()).toBe(1);
  const document = '{ templates(filter: { name: { eq: "spring_sale" } }) { nodes { raw } } }';
  expect(dataOf(await gateway.graphql(document)).templates.nodes[0].raw).toEqual([
    { type: 'HEADER', format: 'IMAGE', example: { header_handle: [expect.stringMatching(/^4::/)] } },
    { type: 'BODY', text: 'Hi {{1}}, it is spring.', example: { body_text: [['Ana']] } },
    { type: 'FOOTER', text: 'Until Sunday' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'No more offers' },
        { type: 'COPY_CODE', example: 'SPRING25' },
        {
          type: 'URL',
          text: 'Your basket',
          url: 'https://shop.example/basket/{{1}}',
          example: ['https://shop.example/basket/4711'],
        },
        { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+14155550123' },
      ],
    },
  ]);
  expect(faults).toEqual([]);
});

test('every template is reached page by page, and one that is deleted goes', async () => {
  const { page, faults } = await open('/templates?q=offer_');
  const cards = page.locator('.template-card');
  await cards.first().waitFor();
  expect(await cards.count()).toBe(24);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => cards.count()).toBe(30);
  await cards.filter({ hasText: 'offer_29' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const more = page.getByRole('button', { name: 'Show more' });
  await more.click();
  await expect.poll(() => cards.count()).toBe(29);
  await more.waitFor({ state: 'detached' });
  expect(await cards.filter({ hasText: 'offer_29' }).count()).toBe(0);
  expect(faults).toEqual([]);
});

test('every delivery of a webhook is reached page by page', async () => {
  const input = { url: 'https://hooks.example.com/orders', events: ['contact.created'] };
  payloadOf(await gateway.mutate('createWebhookEndpoint', input, 'webhookEndpoint { id }'));
  const contacts = Array.from({ length: 60 }, (_, index) => ({ phone: `+1415557${1_000 + index}` }));
  payloadOf(await gateway.mutate('createContacts', { contacts }, 'summary { succeeded }'));
  await expect
    .poll(async () => dataOf(await gateway.graphql('{ webhookDeliveries { totalCount } }')).webhookDeliveries)
    .toEqual({ totalCount: 60 });
  const { page, faults } = await open('/webhooks');
  const rows = page.getByRole('row').filter({ hasText: 'contact.created' });
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => rows.count()).toBe(60);
  // Begins with the newest again.
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect.poll(() => rows.count()).toBe(50);
  expect(faults).toEqual([]);
});

test('an integration is deleted after a question, with its orders', async () => {
  payloadOf(await gateway.mutate('createIntegration', { name: 'Old shop', kind: 'GENERIC' }, 'integration { id }'));
  const { page, faults } = await open('/shops');
  await page.getByRole('button', { name: 'Delete Old shop' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete “Old shop”?' });
  await dialog.getByText('the orders it has received go with it').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(dataOf(await gateway.graphql('{ integrations { totalCount } }')).integrations).toEqual({ totalCount: 1 });
  await page.getByRole('button', { name: 'Delete Old shop' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('region', { name: 'Old shop' }).waitFor({ state: 'detached' });
  expect(dataOf(await gateway.graphql('{ integrations { totalCount } }')).integrations).toEqual({ totalCount: 0 });
  expect(faults).toEqual([]);
});

test('a mapping finds a template beyond the first ones by its name, and keeps it', async () => {
  payloadOf(await gateway.mutate('createIntegration', { name: 'Shop', kind: 'GENERIC' }, 'integration { id }'));
  const { page, faults } = await open('/shops');
  await page.getByRole('button', { name: 'New mapping' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shipped');
  const options = dialog.getByLabel('Template', { exact: true }).locator('option');
  await expect.poll(() => options.count()).toBe(51);
  await dialog.getByLabel('Search templates').fill('zebra');
  await expect.poll(() => options.count()).toBe(2);
  await dialog.getByLabel('Template', { exact: true }).selectOption('zebra en');
  await dialog.getByLabel('Search templates').fill('filler_03');
  await expect.poll(() => dialog.getByLabel('Template', { exact: true }).inputValue()).toBe('zebra en');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('region', { name: 'Shop' }).getByText('zebra').waitFor();
  expect(faults).toEqual([]);
});

test('a campaign and the inbox find a template beyond the first ones by a search, and a draft keeps it', async () => {
  const contact = { phone: '+14155579999', groupNames: ['Regulars'] };
  payloadOf(await gateway.mutate('createContacts', { contacts: [contact] }, 'summary { succeeded }'));
  gateway.emulator.inbound({ from: contact.phone, text: 'Any news?', profileName: 'Ana' });
  const { page, faults } = await open('/campaigns/new');
  const template = page.getByLabel('Template', { exact: true });
  await expect.poll(() => template.locator('option').count()).toBe(51);
  await page.getByLabel('Search templates').fill('zebra');
  await expect.poll(() => template.locator('option').count()).toBe(2);
  await template.selectOption('zebra · en · Marketing');
  await page.getByLabel('Search templates').fill('');
  await expect.poll(() => template.locator('option').count()).toBe(52);
  await page.getByText('The text of zebra').waitFor();
  const draft = { name: 'Stripes', template: { name: 'zebra', language: 'en' } };
  const { contactGroups } = dataOf(await gateway.graphql('{ contactGroups { nodes { id } } }'));
  const audience = { groupIds: [contactGroups.nodes[0].id] };
  const { campaign } = payloadOf(
    await gateway.mutate('createCampaign', { ...draft, audience }, 'campaign { databaseId }'),
  );
  await page.goto(`${gateway.url}/campaigns/${campaign.databaseId}/edit`);
  await page.getByText('The text of zebra').waitFor();
  await page.goto(`${gateway.url}/inbox`);
  await page.getByText('Any news?').first().click();
  await page.getByRole('button', { name: 'Send a template' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Search templates').fill('nothing');
  await dialog.getByText('No template matches.').waitFor();
  await dialog.getByLabel('Search templates').fill('zebra');
  await dialog.getByRole('button', { name: /^zebra/ }).click();
  await dialog.getByText('The text of zebra').waitFor();
  expect(faults).toEqual([]);
});

test('the usage names the day in UTC on which the next month begins, without a time', async () => {
  const { page, faults } = await open('/usage', { timezoneId: 'America/New_York' });
  const now = new Date();
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(next);
  await page.getByText(`the next one begins on ${day}.`).waitFor();
  expect(faults).toEqual([]);
});

test('the usage shows the plan with its state and its end', async () => {
  const { page, faults } = await open('/usage');
  const plan = page.getByRole('region', { name: 'Plan' });
  await plan.getByText('Active').waitFor();
  await plan.getByText('It does not end.').waitFor();
  const { db } = gateway.gateway.resources;
  const end = (planExpiresAt: string) => db.transaction(trx => changeTenant(trx, gateway.tenant.id, { planExpiresAt }));
  await end('2031-03-01T12:00:00Z');
  await page.reload();
  await plan.getByText(/It ends on 1 Mar 2031/).waitFor();
  await end('2021-03-01T12:00:00Z');
  await page.reload();
  await plan.getByText('Expired').waitFor();
  await plan.getByText(/It ended on 1 Mar 2021/).waitFor();
  if (LOOK !== undefined) await page.screenshot({ path: `${LOOK}/usage.png` });
  expect(faults).toEqual([]);
});
