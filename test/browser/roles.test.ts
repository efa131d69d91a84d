import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HELLO_WORLD } from '../../src/emulator/template-store.ts';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway({ templates: [HELLO_WORLD] });
  browser = await launchChromium();
  gateway.emulator.inbound({ from: '+14155550177', text: 'Hello', profileName: 'Vera' });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

async function addStaff(name: string, role: string): Promise<string> {
  const input = { name, email: `${name.toLowerCase()}@example.com`, role };
  return payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }')).staffMember.id;
}

const PAGES = {
  VIEWER: ['Inbox', 'Live', 'Contacts', 'Templates', 'Bots', 'Staff', 'Channels', 'Usage'],
  AGENT: ['Inbox', 'Live', 'Contacts', 'Templates', 'Bots', 'Staff', 'Channels', 'Usage'],
} as const;

test.each([
  ['VIEWER', false],
  ['AGENT', true],
] as const)('what the role %s may not do is not offered', async (role, mayAnswer) => {
  const staffId = await addStaff(`Person${role}`, role);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { staffId });
  const nav = page.getByRole('navigation', { name: 'Pages' });
  await nav.getByRole('link').first().waitFor();
  expect(await nav.getByRole('link').allInnerTexts()).toEqual([...PAGES[role]]);

  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera').click();
  await page.getByRole('log').getByText('Hello').waitFor();
  expect(await page.getByLabel('Message', { exact: true }).count()).toBe(mayAnswer ? 1 : 0);
  expect((await page.getByRole('button', { name: 'Assign' }).count()) > 0).toBe(mayAnswer);

  await nav.getByRole('link', { name: 'Contacts' }).click();
  await page.locator('.contact-row').first().waitFor();
  expect((await page.getByRole('button', { name: 'New contact' }).count()) > 0).toBe(mayAnswer);

  // Only admins change these.
  await nav.getByRole('link', { name: 'Bots' }).click();
  await page.getByRole('heading', { name: 'No bot yet' }).waitFor();
  expect(await page.getByRole('button', { name: 'New bot' }).count()).toBe(0);
  await nav.getByRole('link', { name: 'Staff' }).click();
  await page.getByRole('row').nth(1).waitFor();
  expect(await page.getByRole('button', { name: 'Add a person' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'End sessions' }).count()).toBe(0);
  expect(await page.getByRole('combobox').count()).toBe(0);
  await nav.getByRole('link', { name: 'Templates' }).click();
  await page.getByRole('heading', { name: 'Templates' }).waitFor();
  expect(await page.getByRole('button', { name: 'New template' }).count()).toBe(0);
  await nav.getByRole('link', { name: 'Channels' }).click();
  await page.getByRole('article').first().waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  await nav.getByRole('link', { name: 'Live' }).click();
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Cost this month' }).count()).toBe(0);
  expect(faults).toEqual([]);
});

test('an admin adds a person, changes the role, ends the sessions and removes the person', async () => {
  const staffId = await addStaff('Ada', 'ADMIN');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path: '/staff', staffId });
  await page.getByRole('button', { name: 'Add a person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Bo');
  await dialog.getByLabel('Email').fill('ada@example.com');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('.field', { hasText: 'Email' }).locator('.field-error').waitFor();
  await dialog.getByLabel('Email').fill('bo@example.com');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /bo@example.com/ });
  await row.waitFor();
  await row.getByRole('combobox').selectOption('VIEWER');
  await expect.poll(() => row.getByRole('combobox').inputValue()).toBe('VIEWER');
  await row.getByRole('button', { name: 'End sessions' }).click();
  await page.getByText('All sessions of Bo have ended.').waitFor();
  await row.getByRole('button', { name: 'Delete Bo' }).click();
  await expect.poll(() => row.count()).toBe(0);
  expect(faults).toEqual([]);
});

const ORDER = JSON.stringify({
  id: 4711,
  status: 'processing',
  billing: { first_name: 'Ana', phone: '+351912345678', country: 'PT' },
});

test('a shop is connected, its mapping tried on an order, and changed', async () => {
  await gateway.mutate('syncTemplates', {});
  await eventually(async () =>
    expect(dataOf(await gateway.graphql('{ templates { totalCount } }')).templates.totalCount).toBe(1),
  );
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path: '/shops' });
  await page.getByRole('button', { name: 'Connect a shop' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Mugs');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('/integrations/').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  const shop = page.getByRole('region', { name: 'Mugs' });
  await shop.getByRole('button', { name: 'New mapping' }).click();
  await dialog.getByLabel('Name').fill('Order received');
  await dialog.getByLabel('Template').selectOption('hello_world en_US');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await shop.getByText('Order received').waitFor();
  await shop.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByRole('textbox', { name: 'Payload' }).fill('{');
  await dialog.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByText('This is not JSON').waitFor();
  await dialog.getByRole('textbox', { name: 'Payload' }).fill(ORDER);
  await dialog.getByRole('button', { name: 'Dry run' }).click();
  await dialog.getByText('Would send').waitFor();
  await dialog.locator('.dry-run bdi').getByText('+351912345678').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await shop.getByRole('button', { name: 'Delete Order received' }).click();
  await expect.poll(() => shop.getByText('Order received').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a staff session executes the documents of the build alone, also over its socket, and uploads a file', async () => {
  const staffId = await addStaff('Dora', 'AGENT');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { staffId });
  const bodies: { readonly query?: string; readonly documentId?: string }[] = [];
  page.on('request', request => {
    if (request.url().endsWith('/graphql')) bodies.push(request.postDataJSON());
  });
  page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => {
      const frame = JSON.parse(String(payload)) as {
        readonly type: string;
        readonly payload?: (typeof bodies)[number];
      };
      if (frame.type === 'subscribe' && frame.payload) bodies.push(frame.payload);
    }),
  );
  await page.reload();
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera').click();
  const log = page.getByRole('log');
  await log.getByText('Hello').waitFor();
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({
      name: 'price.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('9.90'),
    });
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await log.getByText('price.txt').waitFor();
  expect(bodies.length).toBeGreaterThan(5);
  expect(bodies.filter(({ query, documentId }) => query || !documentId?.startsWith('sha256:'))).toEqual([]);
  expect(faults).toEqual([]);

  // The session of the page executes nothing else.
  const input = { staffMember: { id: staffId }, origins: [gateway.url], documentsOnly: true };
  const { token } = payloadOf(await gateway.mutate('createStaffSession', input, 'token'));
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, origin: gateway.url, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { scopes } }' }),
  });
  expect(await answer.text()).toContain('DOCUMENT_REQUIRED');
});

test('the bots of today are tried on what people wrote last week', async () => {
  gateway.emulator.inbound({ from: '+14155550178', text: 'Are you open on Sunday?', profileName: 'Max' });
  await gateway.mutate('createBot', {
    name: 'Hours',
    trigger: 'CONTAINS',
    keywords: ['open'],
    reply: { text: { text: 'From 9 to 17.' } },
  });
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path: '/bots' });
  const past = page.getByRole('list', { name: 'What would have been answered last week' });
  await expect
    .poll(
      async () => {
        await page.getByRole('button', { name: 'Try' }).click();
        await past.waitFor();
        return past.innerText();
      },
      { timeout: 60_000 },
    )
    .toContain('Are you open on Sunday?');
  await page.getByText('Hours: 1').waitFor();
  await past.getByText('From 9 to 17.').waitFor();
  expect(faults).toEqual([]);
});
