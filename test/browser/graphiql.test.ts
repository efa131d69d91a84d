import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway({ graphiql: true });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

test('GraphiQL opens in a browser, loads nothing from elsewhere, and runs a query with the token that development puts there', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const foreign: string[] = [];
  const faults: string[] = [];
  page.on('request', request => {
    if (!request.url().startsWith(gateway.url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  page.on('pageerror', error => faults.push(error.message));
  await page.goto(`${gateway.url}/graphql?query=${encodeURIComponent('query Who { viewer { tenant { slug } } }')}`);
  await page.getByRole('button', { name: /execute query/i }).click();
  await expect.poll(() => page.locator('.result-window').innerText(), { timeout: 10_000 }).toContain('"graphiql"');
  expect(foreign).toEqual([]);
  expect(faults).toEqual([]);
});
