import { mkdir } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from './axe.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { type DevelopmentGateway, startDevelopment } from './development.ts';
import { markTexts } from './marked-texts.ts';

/** With `PARLEY_SCREENSHOTS=1` the pictures of the documentation are made anew. */
const PICTURES = process.env['PARLEY_SCREENSHOTS'] === '1' ? 'docs/pictures' : undefined;

/** A directory that gets a picture of every view, to look at. */
const PROOFS = process.env['PARLEY_PROOFS'];

/** A page and how it is reached; `ready` is the text that shows that it is complete. */
interface View {
  readonly name: string;
  readonly path: string;
  readonly prepare?: (page: Page) => Promise<void>;
}

const openConversation = (page: Page) =>
  page.getByRole('list', { name: 'Conversations' }).getByText('Kofi García').first();

const VIEWS: readonly View[] = [
  { name: 'inbox', path: '/inbox', prepare: page => openThread(page) },
  {
    name: 'phone',
    path: '/inbox',
    async prepare(page) {
      await openThread(page);
      await page.getByRole('button', { name: 'Answer as the customer' }).click();
      await page.locator('.phone .bubble').first().waitFor();
      // The first look writes what the others show too.
      if ((await page.locator('.phone .bubble').count()) > 1) return;
      await page.getByLabel('Message', { exact: true }).fill('Yes, in blue and in *white*.');
      await page.keyboard.press('Enter');
      await page.locator('.phone').getByText('Yes, in blue').waitFor();
      await page.locator('.phone').getByRole('textbox').fill('Blue, please! Can I have it tomorrow?');
      await page.keyboard.press('Enter');
      await page.getByRole('log').first().getByText('Blue, please!').waitFor();
    },
  },
  {
    name: 'template',
    path: '/inbox',
    async prepare(page) {
      await openThread(page);
      await page.getByRole('button', { name: 'Send a template' }).first().click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /order_shipped/ })
        .click();
      await page.getByRole('group', { name: 'Preview' }).getByText('is on its way').waitFor();
    },
  },
  {
    name: 'live',
    path: '/live',
    async prepare(page) {
      await page.locator('.chart canvas').first().waitFor();
      // The picture is the dark one, and the inbox of those before it stays as it is.
      if (PICTURES && (await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)))
        await chatter(page);
    },
  },
  {
    name: 'contacts',
    path: '/contacts',
    async prepare(page) {
      await page.locator('.contact-row button').nth(2).click();
      await page.getByRole('complementary').getByLabel('First name').waitFor();
    },
  },
  { name: 'campaigns', path: '/campaigns' },
  { name: 'templates', path: '/templates', prepare: page => page.getByText('hello_world').first().waitFor() },
  { name: 'bots', path: '/bots', prepare: page => page.getByRole('row').nth(1).waitFor() },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'shops', path: '/shops', prepare: page => page.locator('.shop').first().waitFor() },
  { name: 'staff', path: '/staff', prepare: page => page.getByRole('row').nth(1).waitFor() },
  { name: 'tokens', path: '/tokens', prepare: page => page.getByRole('row').nth(1).waitFor() },
  { name: 'channels', path: '/channels', prepare: page => page.getByRole('article').first().waitFor() },
  { name: 'usage', path: '/usage', prepare: page => page.getByRole('article').first().waitFor() },
  { name: 'phones', path: '/phone', prepare: page => page.locator('.phone-head strong').first().waitFor() },
];

/** Pictures in the documentation: view, and how it is looked at. */
const SHOWN = new Set([
  'inbox light',
  'inbox narrow',
  'phone light',
  'phone dark',
  'live dark',
  'contacts light',
  'template light',
]);

async function openThread(page: Page): Promise<void> {
  await openConversation(page).click();
  await page.getByRole('log').locator('.bubble').first().waitFor();
}

/**
 * For the picture: people write for some seconds, and bots answer them, so that the chart has something to show. Each writes once: the
 * network's limit for messages to one person would hold most of the answers.
 */
async function chatter(page: Page): Promise<void> {
  let people = 0;
  for (let second = 0; second < 24; second += 1) {
    for (let index = 0; index < 1 + ((second * 7) % 5); index += 1)
      await page.request.post(`${gateway.link.origin}/_emulator/inbound`, {
        headers: { authorization: `Bearer ${gateway.token}` },
        data: { type: 'text', from: `+1201555${String(++people).padStart(4, '0')}`, text: 'When do you open today?' },
      });
    await page.waitForTimeout(1_000);
  }
}

let browser: Browser;
let gateway: DevelopmentGateway;

beforeAll(async () => {
  browser = await launchChromium();
  gateway = await startDevelopment();
  if (PICTURES) await mkdir(PICTURES, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const LOOKS = [
  { look: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { look: 'dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { look: 'narrow', colorScheme: 'light', viewport: { width: 380, height: 844 } },
  { look: 'wide', colorScheme: 'light', viewport: { width: 2560, height: 1440 } },
  // The steps to a view name what they press in English: from right to left the pages are as they open.
  { look: 'right-to-left', colorScheme: 'dark', viewport: { width: 1280, height: 800 }, locale: 'ar-EG' },
] as const;

/** Headings and buttons of cards that stand outside their card, where they are cut off or cover what is beside it. */
const overflowing = (page: Page): Promise<string[]> =>
  page.locator('main .card').evaluateAll(cards =>
    cards.flatMap(card => {
      const { left, right } = card.getBoundingClientRect();
      return [...card.querySelectorAll('h2, h3, .chip, .button')]
        .filter(part => part.closest('.table-box, pre') === null)
        .filter(part => part.getBoundingClientRect().right > right + 1 || part.getBoundingClientRect().left < left - 1)
        .map(part => `${part.textContent} is outside its card`);
    }),
  );

test.each(LOOKS)('axe finds nothing on any page, and none is wider than its window: $look', async options => {
  const { look, ...context } = options;
  const { page, faults } = await openDashboard(browser, gateway.link.origin, gateway.token, context);
  const found: string[] = [];
  for (const { name, path, prepare } of VIEWS) {
    await page.goto(gateway.link.origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    // On a narrow page some views have no place for what others show beside them.
    if (prepare && look !== 'right-to-left' && !(look === 'narrow' && name === 'template')) await prepare(page);
    found.push(...(await violationsOf(page)).map(text => `${name}: ${text}`));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wide > 0) found.push(`${name}: ${wide} pixels too wide`);
    found.push(...(await overflowing(page)).map(text => `${name}: ${text}`));
    if (PROOFS) await page.screenshot({ path: `${PROOFS}/${name}-${look}.png` });
    if (PICTURES && SHOWN.has(`${name} ${look}`)) await page.screenshot({ path: `${PICTURES}/${name}-${look}.png` });
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
});

test('every text that a page shows or reads out is translated, apart from data', async () => {
  const { page, faults } = await openDashboard(browser, gateway.link.origin, gateway.token);
  const { untranslated } = await markTexts(page, [
    'hello_world',
    'login_code',
    'new_arrivals',
    'order_shipped',
    'processing',
    'unlimited',
    'weekly_news',
  ]);
  const found: string[] = [];
  for (const { name, path, prepare } of VIEWS) {
    await page.goto(gateway.link.origin + path);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    if (prepare) await prepare(page);
    found.push(...(await untranslated()).map(text => `${name}: ${text}`));
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
});

test('axe finds nothing on the sign-in page', async () => {
  const { page } = await openDashboard(browser, gateway.link.origin, undefined);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
});
