import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { violationsOf } from './axe.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { markTexts } from './marked-texts.ts';

let gateway: TestGateway;
let browser: Browser;
/** databaseIds */
let draft: string;
let completed: string;
let contact: string;
const file = join(tmpdir(), `parley-look-${process.pid}.csv`);

const LOOKS = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { look: 'narrow', colorScheme: 'light', viewport: { width: 380, height: 800 } },
  { look: 'wide', colorScheme: 'dark', viewport: { width: 2560, height: 1300 } },
] as const;

const BODY = 'Hi {{1}}, your order {{2}} is ready. Pick it up until *Friday*, or tell us when it suits you.';

beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      {
        name: 'order_ready',
        language: 'en_US',
        category: 'UTILITY',
        components: [
          { type: 'BODY', text: BODY, example: { body_text: [['Ana', '4711']] } },
          { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'On my way' }] },
        ],
      },
    ],
  });
  browser = await launchChromium();
  payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount'));
  const NAMES = ['Ana Sánchez', 'Kofi Mensah', 'Björn Åkesson', 'Mei-Ling Chang', 'Fatima al-Zahra', 'Otto'];
  const contacts = NAMES.map((name, index) => ({
    phone: `+141555580${10 + index}`,
    firstName: name,
    company: index % 2 === 0 ? 'Harbour Bakery' : undefined,
    groupNames: ['Regulars', 'Newsletter'],
    isOptedOut: name === 'Otto',
  }));
  const made = await gateway.mutate('createContacts', { contacts }, 'results { contact { databaseId } }');
  contact = payloadOf(made).results[0].contact.databaseId;
  const failing = contacts[1]?.phone ?? '';
  gateway.emulator.setFaults({ next: [{ to: failing, asyncErrorCode: 131_049, count: 3 }] });
  const { contactGroups } = dataOf(await gateway.graphql('{ contactGroups { nodes { id name } } }'));
  const groupIds = [contactGroups.nodes[0].id];
  const template = { name: 'order_ready', language: 'en_US', body: ['@{contact_first_name|there}', '4711'] };
  const campaign = async (name: string): Promise<string> => {
    const input = { name, template, audience: { groupIds }, maxFailurePercent: 100 };
    return payloadOf(await gateway.mutate('createCampaign', input, 'campaign { databaseId }')).campaign.databaseId;
  };
  draft = await campaign('Christmas orders');
  completed = await campaign('Orders of the week');
  payloadOf(await gateway.mutate('startCampaign', { id: completed }, 'campaign { id }'));
  const progress = `{ campaign(id: "${completed}") { status progress { read failed } } }`;
  await eventually(async () =>
    expect(dataOf(await gateway.graphql(progress)).campaign).toEqual({
      status: 'COMPLETED',
      progress: { read: 4, failed: 1 },
    }),
  );
  gateway.emulator.inbound({ from: contacts[0]?.phone ?? '', text: 'Thank you!' });
  payloadOf(
    await gateway.mutate('recordConsent', {
      contactId: contact,
      category: 'MARKETING',
      state: 'OPTED_IN',
      source: 'PAGE',
      evidence: 'https://example.com/newsletter',
    }),
  );
  const rows = ['Ana,+14155558010,Berlin', 'Nobody,12,Paris', 'Kofi,+14155558011,Accra'];
  await writeFile(file, ['Name,Phone,City', ...rows].join('\n'));
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

interface View {
  readonly name: string;
  readonly path: () => string;
  readonly prepare: (page: Page) => Promise<void>;
}

const click = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).first().click();
const dialogOf = (page: Page) => page.getByRole('dialog');

const VIEWS: readonly View[] = [
  {
    name: 'campaigns',
    path: () => '/campaigns',
    prepare: page => page.getByRole('row', { name: /Christmas orders/ }).waitFor(),
  },
  {
    name: 'campaign-new',
    path: () => '/campaigns/new',
    async prepare(page) {
      await page.getByLabel('Filter').first().check();
      await page.getByRole('button', { name: 'Add a condition' }).click();
      await page.getByLabel('Template').selectOption({ label: 'order_ready · en_US · Utility' });
      await page.getByLabel('Frequency cap').check();
      await page.getByRole('group', { name: 'Preview' }).getByText('Pick it up').waitFor();
    },
  },
  {
    name: 'campaign-edit',
    path: () => `/campaigns/${draft}/edit`,
    async prepare(page) {
      await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Christmas orders');
      expect(await page.getByLabel('Text: 2').inputValue()).toBe('4711');
      await page.getByLabel('People').first().check();
      await page.getByLabel('Name').fill('');
      await click(page, 'Save and preview');
      await page.locator('.field-error').first().waitFor();
    },
  },
  {
    name: 'campaign-upload',
    path: () => '/campaigns/new',
    async prepare(page) {
      await page.getByLabel('CSV list').check();
      await click(page, 'Upload a list');
      await dialogOf(page).getByLabel('Choose a CSV file, or drop it here').setInputFiles(file);
      await dialogOf(page).getByLabel('Name of the list').fill('Fair');
      await dialogOf(page).getByRole('button', { name: 'Check all rows' }).click();
      await dialogOf(page).getByRole('button', { name: 'Upload 2 rows' }).click();
      await dialogOf(page).getByRole('heading', { name: 'One row with a fault' }).waitFor();
      await dialogOf(page).getByText('Row 2', { exact: true }).waitFor();
    },
  },
  {
    name: 'campaign-draft',
    path: () => `/campaigns/${draft}`,
    prepare: page => page.locator('.samples .bubble').nth(2).waitFor(),
  },
  {
    name: 'campaign-start',
    path: () => `/campaigns/${draft}`,
    async prepare(page) {
      await click(page, 'Start');
      await dialogOf(page).getByText('5 people get the message.').waitFor();
      await dialogOf(page).getByLabel('At a time').check();
    },
  },
  {
    name: 'campaign-test',
    path: () => `/campaigns/${draft}`,
    async prepare(page) {
      await click(page, 'Send a test');
      await dialogOf(page).getByLabel('Phone').waitFor();
    },
  },
  {
    name: 'campaign-delete',
    path: () => `/campaigns/${draft}`,
    async prepare(page) {
      await click(page, 'Delete');
      await dialogOf(page).getByRole('heading', { name: 'Delete Christmas orders?' }).waitFor();
    },
  },
  {
    name: 'campaign-done',
    path: () => `/campaigns/${completed}`,
    async prepare(page) {
      await page.getByRole('heading', { name: 'Why people were skipped' }).waitFor();
      await page.locator('.facts', { hasText: 'Opted out' }).waitFor();
      await page.getByRole('row', { name: /Ana Sánchez/ }).waitFor();
    },
  },
  {
    name: 'contacts-filter',
    path: () => `/contacts?filter=${encodeURIComponent('{"company":{"like":"bakery"}}')}`,
    async prepare(page) {
      await page.getByLabel('Select Ana Sánchez').check();
      await page.getByLabel('Select Björn Åkesson').check();
    },
  },
  {
    name: 'contact-card',
    path: () => `/contacts/${contact}`,
    async prepare(page) {
      await click(page, 'Record consent');
      await click(page, 'History (1)');
      await page.getByRole('heading', { name: 'Last twelve months' }).waitFor();
      await click(page, 'Add to a group');
    },
  },
  {
    name: 'contacts-merge',
    path: () => '/contacts?q=a',
    async prepare(page) {
      await page.getByLabel('Select Ana Sánchez').check();
      await page.getByLabel('Select Kofi Mensah').check();
      await click(page, 'Merge 2');
      await dialogOf(page).getByText('Harbour Bakery').waitFor();
    },
  },
  {
    name: 'contacts-import',
    path: () => '/contacts',
    async prepare(page) {
      await click(page, 'Import');
      await dialogOf(page).getByLabel('Choose a CSV file, or drop it here').setInputFiles(file);
      await expect.poll(() => dialogOf(page).getByLabel('Phone').inputValue()).toBe('Phone');
    },
  },
  {
    name: 'contacts-import-checked',
    path: () => '/contacts',
    async prepare(page) {
      await click(page, 'Import');
      await dialogOf(page).getByLabel('Choose a CSV file, or drop it here').setInputFiles(file);
      await dialogOf(page).getByRole('button', { name: 'Check all rows' }).click();
      await dialogOf(page).getByRole('heading', { name: 'One row with a fault' }).waitFor();
    },
  },
  {
    name: 'contacts-export',
    path: () => '/contacts',
    async prepare(page) {
      await click(page, 'Export');
      await dialogOf(page).getByRole('button', { name: 'Start the export' }).click();
      await dialogOf(page).getByRole('link', { name: 'Download CSV' }).waitFor();
    },
  },
  {
    name: 'contact-erase',
    path: () => `/contacts/${contact}`,
    async prepare(page) {
      await click(page, 'Erase');
      await dialogOf(page).getByRole('heading', { name: 'Erase Ana Sánchez?' }).waitFor();
    },
  },
];

test.each(LOOKS)(
  'axe finds nothing on pages and dialogs of campaigns and contacts, and none is wider than its window: $look',
  async options => {
    const { look, ...context } = options;
    const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, context);
    const found: string[] = [];
    const directory = process.env['PARLEY_LOOK'];
    if (directory !== undefined) await mkdir(directory, { recursive: true });
    for (const { name, path, prepare } of VIEWS) {
      await page.goto(gateway.url + path());
      await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
      await prepare(page);
      found.push(...(await violationsOf(page)).map(text => `${name}: ${text}`));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) found.push(`${name}: ${wide} pixels too wide`);
      if (directory !== undefined) await page.screenshot({ path: `${directory}/${look}-${name}.png` });
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
  },
);

test('every text of the pages and dialogs of campaigns and contacts is translated, apart from data', async () => {
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const { untranslated } = await markTexts(page, ['test', 'order_ready']);
  const found: string[] = [];
  for (const { name, path, prepare } of VIEWS) {
    await page.goto(gateway.url + path());
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await prepare(page);
    found.push(...(await untranslated()).map(text => `${name}: ${text}`));
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
});
