import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

const HOUR = 3_600_000;

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

test.each([-30, 30])('a computer whose clock is %d hours off shows the window of 24 hours as it is', async hours => {
  const name = `Una ${hours}`;
  gateway.emulator.inbound({ from: `+14155557${100 + hours}`, text: 'Hello', profileName: name });
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.clock.setSystemTime(Date.now() + hours * HOUR);
  await page.reload();
  const row = page.getByRole('list', { name: 'Conversations' }).getByRole('link', { name });
  await row.getByText(/^2[34] hr$/).waitFor();
  await row.click();
  await page.getByRole('log').getByText('Hello').waitFor();
  await page.getByText(/^2[34] hr left$/).waitFor();
  await page
    .getByRole('log')
    .getByText(/^today$/i)
    .waitFor();
  await page.getByLabel('Message', { exact: true }).fill('Good day');
  await page.keyboard.press('Enter');
  await page.getByRole('log').getByText('Good day').waitFor();
  const before = Date.now();
  await page.getByRole('button', { name: 'Status' }).click();
  await page.getByRole('menuitem', { name: 'Snooze for 4' }).click();
  await page.getByText('Snoozed until').waitFor();
  const answer = await gateway.graphql('{ conversations(first: 1) { nodes { snoozedUntil } } }');
  const until = Date.parse(dataOf(answer).conversations.nodes[0].snoozedUntil);
  expect(Math.abs(until - before - 4 * HOUR)).toBeLessThan(60_000);
});
