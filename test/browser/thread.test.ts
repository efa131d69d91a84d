import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { dropFiles } from './media.ts';

let gateway: TestGateway;
let browser: Browser;
let persons = 0;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** A page that shows the conversation of a person who wrote. */
async function openConversation(text: string) {
  persons += 1;
  const name = `Ben ${persons}`;
  const phone = `+1415556${String(1_000 + persons)}`;
  gateway.emulator.inbound({ from: phone, text, profileName: name });
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('list', { name: 'Conversations' }).getByText(name, { exact: true }).click();
  await logOf(page).getByText(text).waitFor();
  return { page, faults, phone, name };
}

const logOf = (page: Page) => page.getByRole('log').first();

test('a file that misses the thread leaves the page as it is', async () => {
  const { page, faults } = await openConversation('Where is the file?');
  const prevented = await page.getByRole('list', { name: 'Conversations' }).evaluate(element => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['a'], 'a.txt', { type: 'text/plain' }));
    return ['dragover', 'drop'].map(
      name => !element.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true })),
    );
  });
  expect(prevented).toEqual([true, true]);
  expect(await page.locator('.attachment').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('the bubble of a picture is as wide as the picture', async () => {
  const { page } = await openConversation('Is it teal?');
  await dropFiles(logOf(page), { 'wide.png': 'image/png' });
  await page.getByText('wide.png').waitFor();
  await expect.poll(() => page.locator('.attachment progress').count()).toBe(0);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const picture = logOf(page).locator('.ours .picture img');
  await expect.poll(() => picture.evaluate(image => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(300);
  const widths = await picture.evaluate(image => [
    image.getBoundingClientRect().width,
    image.closest('.bubble')?.getBoundingClientRect().width,
  ]);
  expect((widths[1] ?? 0) - (widths[0] ?? 0)).toBeLessThan(16);
});

test('a note is shown once it is written, beside a thread that can still be answered', async () => {
  const { page, faults } = await openConversation('Any discount?');
  await page.getByRole('button', { name: 'Note', exact: true }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('He has had one.');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Details' }).getByText('He has had one.').waitFor();
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await page.getByLabel('Message', { exact: true }).fill('No, sorry');
  // With the mouse: a button below the panel would not get it.
  await page.getByRole('button', { name: 'Send', exact: true }).click({ timeout: 20_000 });
  await logOf(page).getByText('No, sorry').waitFor();
  expect(faults).toEqual([]);
});

test('a failed reaction is shown after a reload and in another browser, until another one is sent', async () => {
  const { page, phone, name } = await openConversation('You are great');
  const bubbleOf = (each: Page) => logOf(each).locator('.bubble.theirs', { hasText: 'You are great' });
  const react = async (emoji: string): Promise<void> => {
    await bubbleOf(page).hover();
    await bubbleOf(page).getByRole('button', { name: 'React' }).click();
    await page.getByRole('menuitemradio', { name: emoji }).click();
  };
  gateway.emulator.setFaults({ next: [{ asyncErrorCode: 131_026, to: phone }] });
  await react('👍');
  await bubbleOf(page).getByRole('alert').getByText('👍 was not sent.').waitFor();
  await page.reload();
  await bubbleOf(page).getByRole('alert').getByText('👍 was not sent.').waitFor();
  const other = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await other.page.getByRole('list', { name: 'Conversations' }).getByText(name, { exact: true }).click();
  await bubbleOf(other.page).getByRole('alert').getByText('👍 was not sent.').waitFor();
  await react('❤️');
  for (const each of [page, other.page]) {
    await bubbleOf(each).locator('.reactions', { hasText: '❤️' }).waitFor();
    await expect.poll(() => bubbleOf(each).getByRole('alert').count()).toBe(0);
  }
});
