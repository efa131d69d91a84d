import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium, newContext } from './chromium.ts';

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

test('the page of the REST interface opens in a browser, loads nothing from elsewhere, and tries a list with the token it is given', async () => {
  const page = await (await newContext(browser)).newPage();
  const foreign: string[] = [];
  const faults: string[] = [];
  page.on('request', request => {
    if (!request.url().startsWith(gateway.url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  page.on('pageerror', error => faults.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${gateway.url}/api/v2/docs`);

  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.locator('.auth-container input').fill(gateway.tenant.token);
  await page.locator('.auth-container button[type=submit]').click();
  await page.locator('.auth-container .btn-done').click();

  const list = page.locator('#operations-contacts-ListContacts');
  await list.locator('.opblock-summary-control').click();
  const answered = page.waitForResponse(response => response.url().includes('/api/v2/contacts'));
  await list.locator('button.execute').click();
  const response = await answered;
  // Every parameter stands empty: nothing is sent but what the document gives as usual.
  expect(decodeURIComponent(new URL(response.url()).search)).toBe('?page=1&per_page=15');
  expect(response.status()).toBe(200);
  await expect
    .poll(() => list.locator('.live-responses-table tbody .response-col_status').first().innerText())
    .toContain('200');
  await expect.poll(() => list.locator('.live-responses-table').innerText()).toContain('"success": true');
  expect(foreign).toEqual([]);
  expect(faults).toEqual([]);
});
