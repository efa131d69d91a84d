import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

const stored = (page: Page) => page.evaluate(() => localStorage.getItem('parley.session'));

/** Answers of the gateway to what a page asks while it cannot serve. */
const busy = (route: Route) =>
  route.fulfill({
    status: 503,
    contentType: 'application/graphql-response+json',
    headers: { 'retry-after': '0' },
    body: JSON.stringify({ errors: [{ message: 'Overloaded.', extensions: { code: 'SERVICE_UNAVAILABLE' } }] }),
  });

test('a browser stays signed in although the gateway could not serve when the page was loaded', async () => {
  const { page } = await openDashboard(browser, gateway.url, undefined);
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  await page.route('**/graphql', busy);
  await page.reload();
  await page.getByRole('alert').waitFor();
  expect(await stored(page)).toContain(gateway.tenant.token);
  await page.unroute('**/graphql');
  await page.reload();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
});
