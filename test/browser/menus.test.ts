import type { Browser, Locator, Page } from 'playwright-core';
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
  for (const name of ['Ines', 'Tom', 'Somebody with a long name that a menu shows as a whole']) {
    const input = { name, email: `${name.slice(0, 4).trim()}@example.com`, role: 'AGENT' };
    expect(payloadOf(await gateway.mutate('createStaffMember', input)).userErrors).toEqual([]);
  }
  for (let index = 1; index <= 30; index += 1)
    gateway.emulator.inbound({ from: '+14155550100', text: `Question ${index}`, profileName: 'Ana' });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

async function openThread(options: { viewport?: { width: number; height: number }; locale?: string } = {}) {
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, options);
  await page.locator('.conversation-list').getByText('Ana', { exact: true }).click();
  await page.getByRole('log').getByText('Question 30', { exact: true }).waitFor();
  return { page, faults };
}

/** The items of the open menu of which another element, or the edge of the page, hides a corner. */
const hiddenItems = (page: Page): Promise<string[]> =>
  page.locator('[role=menu] [role^=menuitem]').evaluateAll(items =>
    items
      .filter(item => {
        const { left, right, top, bottom } = item.getBoundingClientRect();
        return [left + 4, right - 4].some(x =>
          [top + 4, bottom - 4].some(y => !item.contains(document.elementFromPoint(x, y))),
        );
      })
      .map(item => item.textContent ?? ''),
  );

async function expectWhole(page: Page, button: Locator): Promise<void> {
  await button.click();
  await page.getByRole('menu').waitFor();
  expect(await hiddenItems(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('menu').count()).toBe(0);
}

test.each([
  { look: 'wide', locale: 'en-GB', viewport: { width: 1440, height: 900 } },
  { look: 'narrow', locale: 'en-GB', viewport: { width: 360, height: 740 } },
  { look: 'narrow, right to left', locale: 'ar-EG', viewport: { width: 360, height: 740 } },
])('every menu of a thread is seen as a whole: $look', async ({ locale, viewport }) => {
  const { page, faults } = await openThread({ locale, viewport });
  const buttons = page.locator('.thread-head [aria-haspopup=menu], .composer [aria-haspopup=menu]');
  expect(await buttons.count()).toBeGreaterThan(1);
  for (const button of await buttons.all()) await expectWhole(page, button);
  expect(faults).toEqual([]);
});

test('the emojis of a message at the upper edge of the thread are seen, and stay at it when the thread scrolls', async () => {
  const { page, faults } = await openThread();
  const bubble = page
    .getByRole('log')
    .locator('.bubble')
    .filter({ has: page.getByText('Question 20', { exact: true }) });
  await bubble.evaluate(element => element.scrollIntoView({ block: 'start' }));
  await bubble.hover();
  const react = bubble.getByRole('button', { name: 'React' });
  await expectWhole(page, react);
  await react.click();
  const distance = async (): Promise<number> => {
    const [menu, button] = await Promise.all([page.getByRole('menu').boundingBox(), react.boundingBox()]);
    return Math.abs((menu?.y ?? 0) - (button?.y ?? 0));
  };
  const before = await distance();
  await page.getByRole('log').evaluate(element => {
    element.scrollTop -= 40;
  });
  await expect.poll(distance).toBeLessThanOrEqual(before + 40);
  expect(await hiddenItems(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a dialog gives the focus back to what opened it, whichever way it is left', async () => {
  const { page, faults } = await openThread();
  const opener = page.getByRole('button', { name: 'Ask with buttons' });
  const isFocused = () => opener.evaluate(element => element === document.activeElement);
  const leave: readonly (() => Promise<void>)[] = [
    () => page.keyboard.press('Escape'),
    () => page.getByRole('dialog').getByRole('button', { name: 'Close' }).press('Enter'),
    () => page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter'),
  ];
  for (const way of leave) {
    await opener.press('Enter');
    await page.getByRole('dialog').waitFor();
    await way();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(isFocused).toBe(true);
  }
  expect(faults).toEqual([]);
});
