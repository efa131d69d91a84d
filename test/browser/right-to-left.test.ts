import type { Browser } from 'playwright-core';
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
