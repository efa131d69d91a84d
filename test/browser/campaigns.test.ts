import { mkdir, readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;
const PEOPLE = 500;

beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      {
        name: 'order_ready',
        language: 'en_US',
        category: 'UTILITY',
        components: [
          {
            type: 'BODY',
            text: 'Hi {{1}}, your order {{2}} is ready.',
            example: { body_text: [['Ana', '4711']] },
          },
        ],
      },
    ],
  });
  browser = await launchChromium();
  payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount'));
  const contacts = Array.from({ length: PEOPLE }, (_, index) => ({
    phone: `+1415557${1_000 + index}`,
    firstName: `Person ${index}`,
    groupNames: ['Newsletter'],
  }));
  payloadOf(await gateway.mutate('createContacts', { contacts }, 'summary { succeeded }'));
  const optedOut = { phone: '+14155569001', firstName: 'Otto', groupNames: ['Newsletter'], isOptedOut: true };
  payloadOf(await gateway.mutate('createContact', optedOut, 'contact { id }'));
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const open = (path: string) => openDashboard(browser, gateway.url, gateway.tenant.token, { path });

/** With PARLEY_LOOK the pictures of a run are kept there, to be looked at. */
async function look(page: Page, name: string): Promise<void> {
  const directory = process.env['PARLEY_LOOK'];
  if (directory === undefined) return;
  await mkdir(directory, { recursive: true });
  await page.screenshot({ path: `${directory}/${name}.png` });
}

const channelRate = async (messagesPerSecond: number): Promise<void> => {
  const { channels } = dataOf(await gateway.graphql('{ channels { nodes { id } } }'));
  payloadOf(await gateway.mutate('updateChannel', { id: channels.nodes[0].id, messagesPerSecond }, 'channel { id }'));
};

/** How many messages the network got for each number of the campaign. */
const sentCounts = (): number[] =>
  Array.from({ length: PEOPLE }, (_, index) => gateway.emulator.sent({ to: `+1415557${1_000 + index}` }).matched);

test('a campaign of 500 is written, previewed, started, paused and resumed from the page, and each recipient is messaged once', async () => {
  const { page, faults } = await open('/campaigns');
  await page.getByRole('heading', { name: 'No campaign yet' }).waitFor();
  await page.getByRole('link', { name: 'New campaign' }).first().click();
  // All that is missing is named at once, each until it is there.
  await page.getByRole('button', { name: 'Save and preview' }).click();
  const missing = page.locator('.campaign-form .field-error');
  await expect.poll(() => missing.count()).toBe(3);
  await page.getByLabel('Name').fill('Orders of the week');
  await expect.poll(() => missing.count()).toBe(2);
  await page.getByLabel(/^Newsletter/).check();
  await page.getByLabel('Template').selectOption({ label: 'order_ready · en_US · Utility' });
  await expect.poll(() => missing.count()).toBe(0);
  const first = page.locator('.value-field').first();
  await first.getByRole('button', { name: 'Insert a field of the contact' }).click();
  await first.getByRole('menuitem', { name: 'First name' }).click();
  await page.getByLabel('Text: 2').fill('4711');
  await page.getByRole('group', { name: 'Preview' }).getByText('your order 4711 is ready').waitFor();
  await page.getByLabel('Quiet hours').uncheck();
  await page.getByLabel('First wave').fill('1000');
  await look(page, 'campaign-form');
  await page.getByRole('button', { name: 'Save and preview' }).click();

  // The preview: 500 get it, one does not, and why.
  await page.getByRole('heading', { name: 'Orders of the week' }).waitFor();
  await page.locator('.stat', { hasText: 'Get the message' }).getByText('500', { exact: true }).waitFor();
  await page.locator('.facts', { hasText: 'Opted out' }).waitFor();
  await expect.poll(() => page.locator('.samples .bubble').count()).toBe(3);
  await page
    .locator('.samples')
    .getByText(/^Hi Person \d+, your order 4711 is ready\.$/)
    .first()
    .waitFor();
  await look(page, 'campaign-preview');

  await page.getByRole('button', { name: 'Send a test' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Phone').fill('nonsense');
  await dialog.getByRole('button', { name: 'Send the test' }).click();
  await dialog.locator('.field-error').waitFor();
  await dialog.getByLabel('Phone').fill('+14155569999');
  await dialog.getByRole('button', { name: 'Send the test' }).click();
  await dialog.getByText('The test is on its way to +14155569999.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await expect.poll(() => gateway.emulator.sent({ to: '+14155569999' }).matched).toBe(1);

  // At five messages a second there is time to pause; afterwards the channel is fast again.
  await channelRate(5);
  await page.getByRole('button', { name: 'Start' }).click();
  await dialog.getByText('500 people get the message.').waitFor();
  await dialog.getByRole('button', { name: 'Start now' }).click();
  await expect
    .poll(async () =>
      Number(await page.locator('.campaign-funnel li', { hasText: 'Sent' }).locator('strong').innerText()),
    )
    .toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused', { exact: true }).first().waitFor();
  await page.getByRole('row', { name: /Person 0/ }).waitFor();
  await look(page, 'campaign-paused');
  expect(sentCounts().filter(count => count > 0).length).toBeLessThan(PEOPLE);
  await channelRate(1_000);
  await page.getByRole('button', { name: 'Resume' }).click();
  // The page follows to the end without a reload.
  await expect.poll(() => page.locator('.page-lead').innerText(), { timeout: 60_000 }).toContain('Completed');
  await expect
    .poll(() => page.locator('.campaign-funnel li', { hasText: 'Delivered' }).locator('strong').innerText(), {
      timeout: 60_000,
    })
    .toBe('500');
  await page.locator('.facts', { hasText: 'Opted out' }).waitFor();
  expect(sentCounts()).toEqual(Array.from({ length: PEOPLE }, () => 1));

  await page.getByLabel('State').selectOption('SKIPPED');
  await page.getByRole('row', { name: /Otto/ }).getByText('Opted out').waitFor();
  await look(page, 'campaign-done');
  await page.getByRole('button', { name: 'Export' }).click();
  await dialog.getByText('One recipient is written to a file').waitFor();
  await dialog.getByRole('button', { name: 'Start the export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Download CSV' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain('+14155569001');
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await page.getByRole('link', { name: 'Campaigns' }).first().click();
  await page
    .getByRole('row', { name: /Orders of the week/ })
    .getByText('Completed')
    .waitFor();
  await look(page, 'campaign-list');
  expect(faults).toEqual([]);
});

test('columns of an uploaded CSV file are values of the messages, and its bad rows are given back', async () => {
  const rows = ['Ana,+14155558001,A-1', 'Ben,+14155558002,', 'Cleo,12,C-3'];
  const { page, faults } = await open('/campaigns/new');
  await page.getByLabel('Name').fill('Vouchers');
  await page.getByRole('radio', { name: /CSV list/ }).check();
  await page.getByRole('button', { name: 'Upload a list' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Choose a CSV file, or drop it here').setInputFiles({
    name: 'fair.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['Name,Mobile,Order code', ...rows].join('\n')),
  });
  await expect.poll(() => dialog.getByLabel('Phone').inputValue()).toBe('Mobile');
  await look(page, 'upload-map');
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByText('Has no valid phone number.').waitFor();
  await look(page, 'upload-checked');
  expect(dataOf(await gateway.graphql('{ recipientLists { totalCount } }')).recipientLists.totalCount).toBe(0);
  await dialog.getByRole('button', { name: 'Upload 2 rows' }).click();
  await dialog.getByText('fair has 2 people.').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download these rows' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain('Cleo,12,C-3');
  await look(page, 'upload-done');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('2 people. Columns: Name, Mobile, Order code').waitFor();

  await page.getByLabel('Template').selectOption({ label: 'order_ready · en_US · Utility' });
  for (const [index, column] of ['Column Name', 'Column Order code'].entries()) {
    const field = page.locator('.value-field', { has: page.getByLabel(`Text: ${index + 1}`) });
    await field.getByRole('button', { name: 'Insert a field of the contact' }).click();
    await field.getByRole('menuitem', { name: column }).click();
  }
  await page
    .getByRole('group', { name: 'Preview' })
    .getByText('Hi ‹Name›, your order ‹Order code› is ready.')
    .waitFor();
  await page.getByLabel('Quiet hours').uncheck();
  await look(page, 'campaign-columns');
  await page.getByRole('button', { name: 'Save and preview' }).click();
  await page.getByRole('heading', { name: 'Vouchers' }).waitFor();
  // The preview has what will be sent, also where a row has no value.
  await page.locator('.samples').getByText('Hi Ana, your order A-1 is ready.').waitFor();
  await page.locator('.samples').getByText('Hi Ben, your order – is ready.').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await dialog.getByRole('button', { name: 'Start now' }).click();
  const values = (to: string): unknown[] => gateway.emulator.sent({ to }).messages.map(({ content }) => content);
  const sentWith = (...texts: string[]) => [
    expect.objectContaining({
      components: [expect.objectContaining({ parameters: texts.map(text => expect.objectContaining({ text })) })],
    }),
  ];
  await expect.poll(() => values('+14155558001'), { timeout: 60_000 }).toEqual(sentWith('Ana', 'A-1'));
  await expect.poll(() => values('+14155558002'), { timeout: 60_000 }).toEqual(sentWith('Ben', '–'));
  expect(faults).toEqual([]);
});

/** Chooses a file of 2,001 rows, which is uploaded in two parts, and begins. */
async function beginLongUpload(page: Page): Promise<Locator> {
  await page.getByRole('radio', { name: /CSV list/ }).check();
  await page.getByRole('button', { name: 'Upload a list' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Choose a CSV file, or drop it here').setInputFiles({
    name: 'long.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`Mobile\n${'+14155558101\n'.repeat(2_001)}`),
  });
  await expect.poll(() => dialog.getByLabel('Phone').inputValue()).toBe('Mobile');
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByRole('button', { name: /^Upload 2,?001 rows$/ }).click();
  return dialog;
}

test('an upload that is refused in its middle, or whose dialog is closed, leaves no part of the list', async () => {
  const { page } = await open('/campaigns/new');
  const listed = async () =>
    dataOf(await gateway.graphql('{ recipientLists(search: "long") { totalCount } }')).recipientLists.totalCount;
  const stored = async () =>
    (await gateway.database.query("select from campaign_lists where lower(name) ~ 'long'")).length;
  let begun = (): void => undefined;
  const isBegun = new Promise<void>(resolve => {
    begun = resolve;
  });
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let parts = 0;
  await page.route('**/graphql', async route => {
    if (route.request().postDataJSON()?.operationName !== 'AddRecipientListRows') return route.continue();
    parts += 1;
    if (parts > 1) {
      begun();
      await held;
      return route.continue();
    }
    const userErrors = [{ code: 'INVALID', message: 'This part is refused.', path: ['input', 'csv'] }];
    return route.fulfill({ json: { data: { addRecipientListRows: { recipientList: null, userErrors } } } });
  });
  const refused = await beginLongUpload(page);
  await refused.getByText('This part is refused.').waitFor();
  await expect.poll(stored).toBe(0);
  await refused.getByRole('button', { name: 'Cancel' }).click();

  const closed = await beginLongUpload(page);
  await isBegun;
  // Nor does a tab that is closed now.
  expect([await stored(), await listed()]).toEqual([1, 0]);
  await closed.getByRole('button', { name: 'Cancel' }).click();
  release();
  await expect.poll(stored).toBe(0);
});

test('a filter that a colleague has saved is the audience of a campaign', async () => {
  const { page, faults } = await open('/contacts');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByLabel('Condition 1', { exact: true }).selectOption({ label: 'Did not opt out' });
  await page.getByRole('button', { name: 'Save the filter' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Reachable');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const saved = page.getByLabel('Saved filters');
  await expect.poll(() => saved.locator('option:checked').innerText()).toBe('Reachable');
  // Changed, it is another one, or replaces the first.
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByLabel('Condition 2', { exact: true }).selectOption({ label: 'Phone contains' });
  await page.getByLabel('Value of condition 2').fill('+1415557100');
  await page.getByText('10 contacts', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save the filter' }).click();
  await look(page, 'saved-filter');
  await dialog.getByRole('button', { name: 'Replace “Reachable”' }).click();
  await expect.poll(() => saved.locator('option:checked').innerText()).toBe('Reachable');

  const colleague = await open('/campaigns/new');
  await colleague.page.getByRole('radio', { name: /Filter/ }).check();
  await colleague.page.getByLabel('Saved filters').selectOption('Reachable');
  await colleague.page.getByText('10 contacts meet it now.').waitFor();
  await look(colleague.page, 'campaign-filter');
  await page.getByRole('button', { name: 'Delete Reachable' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => saved.count()).toBe(0);
  expect([...faults, ...colleague.faults]).toEqual([]);
});
