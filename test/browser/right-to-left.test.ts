import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
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

test('in Arabic, what people wrote keeps its direction and is cut off at its own end', async () => {
  const email = `${'a-long-name-of-somebody'.repeat(4)}@example.com`;
  const input = { firstName: 'Ana', phone: '+14155550100', email };
  expect(payloadOf(await gateway.mutate('createContact', input)).userErrors).toEqual([]);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, {
    locale: 'ar-EG',
    path: '/contacts',
  });
  const shown = await page.getByText(email).evaluate(element => {
    const { direction, textAlign, textOverflow } = getComputedStyle(element);
    return { page: document.documentElement.dir, direction, textAlign, textOverflow };
  });
  expect(shown).toEqual({ page: 'rtl', direction: 'ltr', textAlign: 'right', textOverflow: 'ellipsis' });
  expect(faults).toEqual([]);
});

test('in Arabic, every digit of the inbox and of the live view is a Latin one, as in phone numbers', async () => {
  gateway.emulator.inbound({ from: '+14155550101', text: 'Hi', profileName: 'Tom' });
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { locale: 'ar-EG', path: '/inbox' });
  await page.locator('.conversation-list').getByText('Tom', { exact: true }).click();
  await page.getByRole('log').getByText('Hi', { exact: true }).waitFor();
  expect(await page.locator('.bubble time').innerText()).toMatch(/^\d\d:\d\d/);
  const digits = async () => (await page.locator('body').innerText()).match(/\p{Nd}/gu)?.filter(one => !/\d/.test(one));
  expect(await digits()).toEqual([]);
  await page.goto(`${gateway.url}/live`);
  await page.locator('.legend output', { hasText: /./ }).first().waitFor();
  expect(await digits()).toEqual([]);
});

/** Where texts stand in a line, as the reader of Arabic meets them: from right to left. */
async function readingOrder(page: Page, texts: readonly string[]): Promise<string[]> {
  const places = await page.locator('main').evaluate((main, wanted) => {
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    const found: { text: string; right: number }[] = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (const text of wanted) {
        const start = node.textContent?.indexOf(text) ?? -1;
        if (start < 0 || found.some(place => place.text === text)) continue;
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, start + text.length);
        found.push({ text, right: range.getBoundingClientRect().right });
      }
    }
    return found;
  }, texts);
  return places.sort((a, b) => b.right - a.right).map(({ text }) => text);
}

test('in Arabic, what people wrote stands in the order in which it is read, and sizes are in words', async () => {
  const endpoint = { url: 'https://example.com/hooks', events: ['message.*'], description: 'For the CRM:' };
  expect(payloadOf(await gateway.mutate('createWebhookEndpoint', endpoint)).userErrors).toEqual([]);
  const template = { name: 'order_shipped', language: 'en_US', body: [] };
  const mapping = { name: 'Order is packed', statuses: ['processing'], template };
  const shop = { kind: 'WOOCOMMERCE', name: 'Mugs', mappings: [mapping] };
  expect(payloadOf(await gateway.mutate('createIntegration', shop)).userErrors).toEqual([]);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, {
    locale: 'ar-EG',
    path: '/shops',
  });
  await page.getByText('Order is packed').waitFor();
  const mapped = ['Order is packed', 'processing', 'order_shipped'];
  expect(await readingOrder(page, mapped)).toEqual(mapped);
  await page.goto(`${gateway.url}/webhooks`);
  await page.getByText('For the CRM').waitFor();
  expect(await readingOrder(page, ['For the CRM', 'message.*'])).toEqual(['For the CRM', 'message.*']);
  await page.goto(`${gateway.url}/usage`);
  await page.getByText('0 بايت').waitFor();
  expect(faults).toEqual([]);
});
