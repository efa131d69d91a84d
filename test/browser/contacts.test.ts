import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const open = (path: string, { token }: TestTenant = gateway.tenant) =>
  openDashboard(browser, gateway.url, token, { path });

/** With PARLEY_LOOK the pictures of a run are kept there, to be looked at. */
async function look(page: Page, name: string): Promise<void> {
  const directory = process.env['PARLEY_LOOK'];
  if (directory === undefined) return;
  await mkdir(directory, { recursive: true });
  await page.screenshot({ path: `${directory}/${name}.png` });
}

test('a CSV file of 1,000 rows with 30 bad ones is mapped, checked and imported, and the bad rows are given back with their faults', async () => {
  const tenant = await gateway.addTenant();
  const rows = Array.from({ length: 1_000 }, (_, index) => {
    const phone = index % 100 < 3 ? ['12', 'nonsense', ''][index % 3] : `+1415555${String(index).padStart(4, '0')}`;
    return `"Person, ${index}",${phone},person${index}@example.com`;
  });
  const path = join(tmpdir(), `parley-import-${process.pid}.csv`);
  await writeFile(path, ['Vorname,Mobile,Mail', ...rows].join('\n'));
  const { page, faults } = await open('/contacts', tenant);
  await page.getByRole('heading', { name: 'No contact yet' }).waitFor();
  await look(page, 'contacts-empty');
  await page.getByRole('button', { name: 'Import' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Choose a CSV file, or drop it here').setInputFiles(path);
  // The columns are guessed by their names.
  await expect.poll(() => dialog.getByLabel('Phone').inputValue()).toBe('Mobile');
  expect(await dialog.getByLabel('First name').inputValue()).toBe('Vorname');
  expect(await dialog.getByLabel('Email').inputValue()).toBe('Mail');
  await dialog.getByLabel('Add all of them to a group').fill('Fair');
  await look(page, 'import-map');
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByRole('heading', { name: '30 rows with a fault' }).waitFor();
  await look(page, 'import-checked');
  // So far nothing was written.
  const count = async () =>
    dataOf(await gateway.graphql('{ contacts { totalCount } }', {}, tenant.token)).contacts.totalCount;
  expect(await count()).toBe(0);
  await dialog.getByRole('button', { name: 'Import 970 contacts' }).click();
  await dialog.locator('.figure-box.good', { hasText: 'Imported' }).getByText('970').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download these rows' }).click(),
  ]);
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  expect(lines[0]).toBe('Vorname,Mobile,Mail,error');
  expect(lines).toHaveLength(31);
  expect(lines[1]).toMatch(/^"Person, 0",12,person0@example.com,"Phone: Must be a phone number /);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText('970 contacts', { exact: true }).waitFor();
  const { data } = await gateway.graphql('{ contactGroups { nodes { name contactsCount } } }', {}, tenant.token);
  expect(data.contactGroups.nodes).toEqual([{ name: 'Fair', contactsCount: 970 }]);
  expect(faults).toEqual([]);
});

test('a row of a CSV file with a value beyond the columns is not imported, and is given back whole', async () => {
  const tenant = await gateway.addTenant();
  const { page, faults } = await open('/contacts', tenant);
  await page.getByRole('button', { name: 'Import' }).first().click();
  const dialog = page.getByRole('dialog');
  const rows = ['12,Nobody,N', '+14155559001,Smith, John,Acme', '+14155559002,"Smith, John",Acme,', '13,Nobody'];
  await dialog.getByLabel('Choose a CSV file, or drop it here').setInputFiles({
    name: 'shifted.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['Phone,First name,Company', ...rows].join('\n')),
  });
  await dialog.getByRole('button', { name: 'Check all rows' }).click();
  await dialog.getByRole('heading', { name: '3 rows with a fault' }).waitFor();
  const told = await dialog.locator('.error-list li').allInnerTexts();
  expect(told.map(text => text.replaceAll(/\s+/g, ' '))).toEqual([
    expect.stringMatching(/^Row 1 Phone: /),
    'Row 2 Has 4 cells, the first line has 3: quote values that contain the delimiter.',
    expect.stringMatching(/^Row 4 Phone: /),
  ]);
  await dialog.getByRole('button', { name: 'Import one contact' }).click();
  await dialog.locator('.figure-box.good', { hasText: 'Imported' }).getByText('1').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download these rows' }).click(),
  ]);
  // Behind the fault, where it is a value beyond the columns again if the row is not mended.
  expect(await readFile(await download.path(), 'utf8')).toContain(
    '\r\n+14155559001,Smith, John,"Has 4 cells, the first line has 3: quote values that contain the delimiter.",Acme\r\n',
  );
  const { data } = await gateway.graphql('{ contacts { nodes { phone firstName company } } }', {}, tenant.token);
  expect(data.contacts.nodes).toEqual([{ phone: '+14155559002', firstName: 'Smith, John', company: 'Acme' }]);
  expect(faults).toEqual([]);
});

test('of 100,000 contacts only the rows in view are in the page, wherever it is scrolled to', async () => {
  const tenant = await gateway.addTenant();
  // The first rows tell the planner what it needs for the checks of foreign keys of the rest, whatever was analyzed before them: with the
  // statistics of a table of a few rows, each check reads all contacts of the account.
  for (const [first, last] of [
    [1, 1_000],
    [1_001, 100_000],
  ]) {
    await gateway.database.query(
      `insert into contacts (tenant_id, firstname, phone, phone_key, company)
       select $1, 'Person ' || lpad(n::text, 6, '0'), '+4930' || (1000000 + n), '4930' || (1000000 + n), case when n % 1000 = 0 then 'Acme' end
       from generate_series($2::int, $3::int) n`,
      [tenant.id, first, last],
    );
    await gateway.database.query('analyze contacts');
  }
  await gateway.database.query('update tenant_usage set contacts = 100000 where tenant_id = $1', [tenant.id]);
  const { page, faults } = await open('/contacts?order=name', tenant);
  await page.getByText('100,000 contacts', { exact: true }).waitFor();
  const rows = page.locator('.contact-row');
  const scroller = page.locator('.rows');
  await rows.getByText('Person 000001').waitFor();
  await look(page, 'contacts-100000');
  const elements = (): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);
  // Somewhere in the middle and at the end, without what lies between.
  for (const [share, name] of [
    [0.5, 'Person 050000'],
    [1, 'Person 100000'],
    [0.25, 'Person 025000'],
  ] as const) {
    await scroller.evaluate(
      (element, part) => element.scrollTo(0, (element.scrollHeight - element.clientHeight) * part),
      share,
    );
    await rows.getByText(name).waitFor();
    expect(await rows.count()).toBeLessThan(60);
    expect(await elements()).toBeLessThan(1_500);
  }
  // Dragged through in 50 steps: of the 1,000 pages only those are read that came into view.
  const asked: string[] = [];
  page.on('request', request => {
    if (request.postData()?.includes('query ContactPage')) asked.push(request.postData() ?? '');
  });
  await scroller.evaluate(async element => {
    for (let step = 0; step <= 50; step += 1) {
      element.scrollTo(0, (element.scrollHeight * step) / 50);
      // A frame, or a second where a busy machine draws none: nothing else would end the wait.
      await new Promise(done => {
        requestAnimationFrame(done);
        setTimeout(done, 1_000);
      });
    }
  });
  await rows.getByText('Person 100000').waitFor();
  expect(asked.length).toBeLessThan(150);
  expect(await elements()).toBeLessThan(1_500);

  // The filter of the API is in the address, and the list follows it.
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByLabel('Condition 1', { exact: true }).selectOption({ label: 'Company contains' });
  await page.getByLabel('Value of condition 1').fill('acme');
  await page.getByText('100 contacts', { exact: true }).waitFor();
  expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual({ company: { like: 'acme' } });
  await rows.getByText('Person 001000').waitFor();
  await look(page, 'contacts-filter');
  await page.reload();
  await page.getByText('100 contacts', { exact: true }).waitFor();
  expect(await page.getByLabel('Value of condition 1').inputValue()).toBe('acme');
  await page.getByRole('button', { name: 'Remove condition 1' }).click();
  await page.getByText('100,000 contacts', { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test('on the card of a contact, groups and consent are changed, all data is exported, and the erasure has a receipt', async () => {
  const tenant = await gateway.addTenant();
  const made = await gateway.mutate(
    'createContact',
    { phone: '+14155550123', firstName: 'Ana', groupNames: ['Guests'] },
    'contact { databaseId }',
    tenant.token,
  );
  const { page, faults } = await open(`/contacts/${payloadOf(made).contact.databaseId}`, tenant);
  const card = page.getByRole('complementary', { name: 'Ana' });
  await card.getByRole('button', { name: 'Add to a group' }).click();
  await card.getByLabel('Find or create a group').fill('Regulars');
  await card.getByRole('button', { name: 'Create “Regulars”' }).click();
  await card.getByRole('button', { name: 'Remove from Regulars' }).waitFor();
  await card.getByRole('button', { name: 'Remove from Guests' }).click();
  await expect.poll(() => card.getByRole('button', { name: 'Remove from Guests' }).count()).toBe(0);

  await card.getByRole('button', { name: 'Record consent' }).click();
  await card.getByLabel('The person').selectOption({ label: 'Opted out' });
  await card.getByLabel('Evidence').fill('Letter of 1 November');
  await card.locator('form.inset').getByRole('button', { name: 'Save' }).click();
  await card.getByRole('button', { name: 'History (1)' }).click();
  await card.getByRole('list', { name: 'History (1)' }).getByText('Letter of 1 November').waitFor();
  await look(page, 'contact-card');

  await card.getByRole('button', { name: 'Export all data' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Start the export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Download JSON' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain('Letter of 1 November');
  await look(page, 'export-person');
  await dialog.getByRole('button', { name: 'Close' }).first().click();

  await card.getByRole('button', { name: 'Erase' }).click();
  await dialog.getByRole('button', { name: 'Erase' }).click();
  await dialog.getByRole('heading', { name: 'Receipt of the erasure' }).waitFor();
  await look(page, 'erase-receipt');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'No contact yet' }).waitFor();
  expect(faults).toEqual([]);
});

test('the contacts of a filter are exported to a file', async () => {
  const tenant = await gateway.addTenant();
  const contacts = ['Acme', 'Acme', 'Other'].map((company, index) => ({ phone: `+1415555020${index}`, company }));
  payloadOf(await gateway.mutate('createContacts', { contacts }, 'summary { succeeded }', tenant.token));
  const filter = encodeURIComponent(JSON.stringify({ company: { like: 'Acme' } }));
  const { page, faults } = await open(`/contacts?filter=${filter}`, tenant);
  await page.getByText('2 contacts', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 contacts are written to a file.').waitFor();
  await look(page, 'export-dialog');
  await dialog.getByRole('button', { name: 'Start the export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Download CSV' }).click(),
  ]);
  const text = await readFile(await download.path(), 'utf8');
  expect(text.trim().split('\r\n')).toHaveLength(3);
  expect(text).not.toContain('Other');
  expect(faults).toEqual([]);
});
