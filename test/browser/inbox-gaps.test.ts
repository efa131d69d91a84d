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
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const logOf = (page: Page) => page.getByRole('log');
const rowOf = (page: Page, name: string) => listOf(page).getByText(name, { exact: true });

const phoneOf = (person: number): string => `+1415555${String(2_000 + person)}`;

function write(person: number, text: string): void {
  gateway.emulator.inbound({ from: phoneOf(person), text, profileName: `Person ${person}` });
}

test('a conversation stays in a list of several pages when others become newer', async () => {
  for (let person = 1; person <= 45; person += 1) write(person, 'Hello');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 45').waitFor();
  await page.locator('.list-end').scrollIntoViewIfNeeded();
  await rowOf(page, 'Person 1').waitFor();
  const count = () => listOf(page).getByRole('listitem').count();
  expect(await count()).toBe(45);
  await rowOf(page, 'Person 45').scrollIntoViewIfNeeded();
  for (const person of [1, 2, 3]) {
    write(person, 'Once more');
    await expect.poll(() => listOf(page).locator('.conversation-name').first().innerText()).toBe(`Person ${person}`);
  }
  expect(await count()).toBe(45);
  // One that leaves the list is not kept, wherever it stands.
  for (const name of ['Person 16', 'Person 5', 'Person 44']) {
    await rowOf(page, name).click();
    await logOf(page).getByText('Hello').waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => rowOf(page, name).count()).toBe(0);
  }
  expect(await count()).toBe(42);
  expect(faults).toEqual([]);
});

test('a thread that is opened again has no hole between its older messages and the latest', async () => {
  write(101, 'Other chat');
  for (let turn = 1; turn <= 45; turn += 1) write(100, `Turn ${turn}`);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 100').click();
  await logOf(page).getByText('Turn 45', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Older messages' }).click();
  await logOf(page).getByText('Turn 1', { exact: true }).waitFor();
  await rowOf(page, 'Person 101').click();
  await logOf(page).getByText('Other chat').waitFor();
  for (let turn = 46; turn <= 50; turn += 1) write(100, `Turn ${turn}`);
  await listOf(page).getByText('Turn 50', { exact: true }).waitFor();
  await rowOf(page, 'Person 100').click();
  await logOf(page).getByText('Turn 50', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const texts = await logOf(page).locator('.message-text').allInnerTexts();
  const turns = texts.map(text => Number(text.replace('Turn ', '')));
  expect(turns).toEqual(Array.from({ length: turns.length }, (_, index) => 51 - turns.length + index));
  expect(faults).toEqual([]);
});
