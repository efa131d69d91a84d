import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
  gateway.emulator.inbound({ from: '+14155550701', text: 'Hello', profileName: 'Vera' });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** Asks the gateway for a document that it does not have, as a page of another version does. */
async function replaceDocument(page: Page, operation: string): Promise<void> {
  await page.route('**/graphql', route => {
    const body = route.request().postDataJSON();
    if (body?.operationName !== operation) return route.continue();
    return route.continue({ postData: JSON.stringify({ ...body, documentId: `sha256:${'0'.repeat(64)}` }) });
  });
}

const outdated = (page: Page) => page.getByText('The gateway has another version than this page.');
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

test('a page whose script is gone says so, and leaves the others and what is being written', async () => {
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera', { exact: true }).click();
  const text = page.getByLabel('Message', { exact: true });
  await text.fill('Half a sen');
  await page.route('**/assets/contacts-*.js', route => route.fulfill({ status: 404 }));
  await link(page, 'Contacts').click();
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await link(page, 'Inbox').click();
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera', { exact: true }).click();
  expect(await text.inputValue()).toBe('Half a sen');
  await link(page, 'Contacts').click();
  await page.unroute('**/assets/contacts-*.js');
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor();
});

test('a page of another version than the gateway says so', async () => {
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera', { exact: true }).waitFor();
  await replaceDocument(page, 'ContactPage');
  await link(page, 'Contacts').click();
  await outdated(page).waitFor();
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.locator('.contact-row').getByText('Vera').waitFor();
  expect(await outdated(page).count()).toBe(0);
});

test('a browser stays signed in although a process of another version answered when the page was loaded', async () => {
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await link(page, 'Inbox').waitFor();
  await replaceDocument(page, 'Viewer');
  await page.reload();
  await outdated(page).waitFor();
  await page.unroute('**/graphql');
  await page.reload();
  await link(page, 'Inbox').waitFor();
});
