import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { type DevelopmentGateway, startDevelopment } from './development.ts';

let browser: Browser;
let gateway: DevelopmentGateway;

beforeAll(async () => {
  browser = await launchChromium();
  gateway = await startDevelopment();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const threadOf = (page: Page) => page.getByRole('region', { name: 'Kofi García', exact: true }).getByRole('log');

test('a newcomer opens the printed link, sends as the business and answers as the customer, and sees a window close', async () => {
  const { link } = gateway;
  const { page, faults } = await openDashboard(browser, link.origin, undefined, { path: link.pathname + link.hash });
  await page.getByRole('list', { name: 'Conversations' }).getByText('Kofi García').first().click();
  await page.getByLabel('Message', { exact: true }).fill('Yes, in two colours.');
  await page.keyboard.press('Enter');
  await threadOf(page).getByText('Yes, in two colours.').waitFor();

  await page.getByRole('button', { name: 'Answer as the customer' }).click();
  const phone = page.getByRole('region', { name: /’s phone/ });
  await phone.getByText('Yes, in two colours.').waitFor();
  await phone.getByRole('textbox').fill('The blue one, please');
  await page.keyboard.press('Enter');
  await threadOf(page).getByText('The blue one, please').waitFor();

  // A question with buttons, of which the customer taps one.
  await page.getByRole('button', { name: 'Ask with buttons' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Question').fill('Which size?');
  await dialog.getByLabel('Button 1').fill('Small');
  await dialog.getByLabel('Button 2').fill('Large');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await phone.getByRole('button', { name: 'Large' }).click();
  await threadOf(page).locator('.choice', { hasText: 'Large' }).waitFor();

  await page.getByRole('button', { name: '25 hours later' }).click();
  await page.getByText('The 24-hour window is closed.').waitFor();
  // The answer that is written on the phone afterwards opens it again.
  await phone.getByRole('textbox').fill('Are you still there?');
  await page.keyboard.press('Enter');
  await threadOf(page).getByText('Are you still there?').waitFor();
  await expect.poll(() => page.getByText('The 24-hour window is closed.').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('without a token nobody reaches the emulated network through the gateway', async () => {
  const answer = await fetch(`${gateway.link.origin}/_emulator/inbound`, {
    method: 'POST',
    body: JSON.stringify({ from: '+14155550123', text: 'Hi' }),
  });
  expect(answer.status).toBe(401);
});
