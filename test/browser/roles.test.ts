import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HELLO_WORLD } from '../../src/emulator/template-store.ts';
import { append } from '../../src/events/append.ts';
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

/** In the order of the navigation, with their addresses. */
const PAGES = {
  Inbox: '/inbox',
  Live: '/live',
  Contacts: '/contacts',
  Campaigns: '/campaigns',
  Templates: '/templates',
  Bots: '/bots',
  Webhooks: '/webhooks',
  Integrations: '/shops',
  Staff: '/staff',
  Tokens: '/tokens',
  Channels: '/channels',
  Usage: '/usage',
} as const;
type PageName = keyof typeof PAGES;
const READ: readonly PageName[] = [
  'Inbox',
  'Live',
  'Contacts',
  'Campaigns',
  'Templates',
  'Bots',
  'Staff',
  'Channels',
  'Usage',
];

/** What each role is offered: its pages, and the actions above them. */
const OFFERED = {
  VIEWER: { pages: READ, actions: {} },
  AGENT: { pages: READ, actions: { Contacts: ['Import', 'New contact'] } },
  ADMIN: {
    pages: (Object.keys(PAGES) as PageName[]).filter(name => name !== 'Tokens'),
    actions: {
      Contacts: ['Import', 'Export', 'New contact'],
      Campaigns: ['New campaign'],
      Templates: ['Synchronize', 'New template'],
      Bots: ['New bot'],
      Webhooks: ['New endpoint'],
      Integrations: ['Connect a shop'],
      Staff: ['Add a person'],
      Channels: ['Connect a number'],
    },
  },
} as const satisfies Record<string, { pages: readonly PageName[]; actions: Partial<Record<PageName, string[]>> }>;

test.each(['VIEWER', 'AGENT', 'ADMIN'] as const)(
  'the role %s is offered the pages and actions that it may use, and told so at the others',
  async role => {
    const staffId = await addStaff(`Reader${role}`, role);
    const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { staffId });
    // A page that asks for what its reader may not have is offered to the wrong people.
    page.on('response', async response => {
      if (!response.url().endsWith('/graphql')) return;
      const text = await response.text().catch(() => '');
      if (text.includes('INSUFFICIENT_SCOPE')) faults.push(`${page.url()}: ${text}`);
    });
    const { pages, actions }: { pages: readonly PageName[]; actions: Partial<Record<PageName, readonly string[]>> } =
      OFFERED[role];
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.first().waitFor();
    expect(await links.allInnerTexts()).toEqual(pages);
    for (const name of Object.keys(PAGES) as PageName[]) {
      await page.goto(gateway.url + PAGES[name]);
      await page.getByRole('heading', { level: 1, name }).waitFor({ state: 'attached' });
      await page.waitForLoadState('networkidle');
      expect(await page.getByRole('heading', { name: 'Not for your role' }).count(), name).toBe(
        pages.includes(name) ? 0 : 1,
      );
      const shown = page.locator('main > .page-head .page-actions').locator('a, button');
      if (name !== 'Inbox' && name !== 'Live') expect(await shown.allInnerTexts(), name).toEqual(actions[name] ?? []);
    }
    await page.goto(`${gateway.url}/contacts`);
    await page.locator('.contact-row button').first().click();
    await page.getByText('Messages received').waitFor();
    await page.waitForLoadState('networkidle');
    // An address that somebody else has sent.
    await page.goto(`${gateway.url}/campaigns/new`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByRole('heading', { name: 'Not for your role' }).count()).toBe(role === 'ADMIN' ? 0 : 1);
    expect(faults).toEqual([]);
  },
);

test.each([
  ['VIEWER', false],
  ['AGENT', true],
] as const)('what the role %s may not do is not offered', async (role, mayAnswer) => {
  const staffId = await addStaff(`Person${role}`, role);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { staffId });
  const nav = page.getByRole('navigation', { name: 'Pages' });
  await nav.getByRole('link').first().waitFor();
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

test('an open page has the role that its reader is given, with what is being written', async () => {
  const staffId = await addStaff('Changing', 'AGENT');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { staffId });
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const become = (role: string) => gateway.mutate('updateStaffMember', { id: staffId, role }, 'staffMember { id }');
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera').click();
  const composer = page.getByLabel('Message', { exact: true });
  await composer.fill('Half a sen');
  await become('VIEWER');
  await expect.poll(() => composer.count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Assign' }).count()).toBe(0);
  await become('ADMIN');
  // A wider role ends no session: this stands for the end of its quarter of an hour.
  await gateway.mutate('revokeStaffSessions', { id: staffId }, 'staffMember { id }');
  await links.getByText('Webhooks').waitFor();
  expect(await composer.inputValue()).toBe('Half a sen');
});

test('an open page does not show what a narrower role may not read, although it was read before', async () => {
  // An account keeps one admin.
  await addStaff('Remaining', 'ADMIN');
  const staffId = await addStaff('Narrowed', 'ADMIN');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path: '/live', staffId });
  const { db, signals } = gateway.gateway.resources;
  const shown = page.getByRole('list', { name: 'Events' }).getByText('webhook.disabled');
  await expect
    .poll(async () => {
      await db.transaction(trx => append(trx, gateway.tenant.id, [{ type: 'webhook.disabled', payload: {} as never }]));
      signals.send('events');
      return shown.count();
    })
    .toBeGreaterThan(0);
  payloadOf(await gateway.mutate('updateStaffMember', { id: staffId, role: 'VIEWER' }, 'staffMember { id }'));
  await expect.poll(() => page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
  await expect.poll(() => shown.count()).toBe(0);
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
  await dialog.getByText('The sessions of this person end at once.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await row.count()).toBe(1);
  await row.getByRole('button', { name: 'Delete Bo' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
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
  await dialog.getByRole('button', { name: 'Delete' }).click();
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

test('the bots of today are tried on all that people wrote last week, together and one by one', async () => {
  const words = ['Are you open on Sunday?', 'Are you OPEN on Sunday?', 'Do you ship to Norway?'];
  for (const [index, text] of words.entries())
    gateway.emulator.inbound({ from: `+1415555018${index}`, text, profileName: `Max ${index}` });
  const input = { trigger: 'CONTAINS', keywords: ['open'], reply: { text: { text: 'From 9 to 17.' } } };
  await gateway.mutate('createBot', { name: 'Hours', ...input });
  await gateway.mutate('createBot', { name: 'Anything', ...input, trigger: 'ANY', keywords: [], isEnabled: false });
  await eventually(async () =>
    expect(dataOf(await gateway.graphql('{ messages(search: "Norway") { totalCount } }')).messages.totalCount).toBe(1),
  );
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path: '/bots' });
  const history = page.getByRole('region', { name: 'What would have been answered last week?' });
  await history.getByRole('button', { name: 'Try' }).click();
  await history.getByText('Hours: 2').waitFor();
  const texts = history.getByRole('list', { name: 'Messages, most frequent first' });
  await texts.getByText('2 times').waitFor();
  await texts.getByText('From 9 to 17.').waitFor();
  await history.getByRole('button', { name: 'Not answered' }).click();
  await texts.getByText('Do you ship to Norway?').waitFor();
  // One that is not on yet, by itself.
  await history.getByLabel('Bots to try').selectOption('Anything');
  await history.getByRole('button', { name: 'Try' }).click();
  await history.getByText(/Anything: [1-9]/).waitFor();
  await history.getByText('100%').waitFor();
  expect(faults).toEqual([]);
});
