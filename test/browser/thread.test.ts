import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { PNG } from '../features/messages/content/media/files.ts';
import { payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { dropFiles } from './media.ts';

const NEW_ARRIVALS: TemplateSeed = {
  name: 'new_arrivals',
  language: 'en',
  category: 'MARKETING',
  components: [
    { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/shoes.png'] } },
    { type: 'BODY', text: 'New this week, {{1}}.', example: { body_text: [['Ana']] } },
  ],
};

let gateway: TestGateway;
let browser: Browser;
let persons = 0;

beforeAll(async () => {
  gateway = await startGateway({ templates: [NEW_ARRIVALS] });
  browser = await launchChromium();
  payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount'));
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

/** Holds the answer to a send back. @returns a function that lets the page have it, and a moment to read it */
async function holdAnswer(page: Page): Promise<() => Promise<void>> {
  const [answer, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route('**/graphql', async route => {
    const response = await route.fetch();
    const body = await response.text();
    const isSend = body.includes('"sendMessage"');
    if (isSend) await answer.promise;
    await route.fulfill({ response, body });
    if (isSend) answered.resolve();
  });
  return async () => {
    answer.resolve();
    await answered.promise;
    await page.evaluate(() => new Promise(done => setTimeout(done, 500)));
  };
}

test('an answer to a send that comes after the ticks does not take them back', async () => {
  const { page, faults } = await openConversation('Are you there?');
  const release = await holdAnswer(page);
  await page.getByLabel('Message', { exact: true }).fill('We are.');
  await page.keyboard.press('Enter');
  const ticks = logOf(page).locator('.bubble.ours', { hasText: 'We are.' }).getByRole('img');
  await expect.poll(() => ticks.getAttribute('aria-label')).toBe('Read');
  await release();
  expect(await ticks.getAttribute('aria-label')).toBe('Read');
  expect(faults).toEqual([]);
});

test('a failure stays with its reason when the answer to the send comes after it', async () => {
  const { page, faults, phone } = await openConversation('Are you still there?');
  const release = await holdAnswer(page);
  gateway.emulator.setFaults({ next: [{ asyncErrorCode: 131_026, to: phone }] });
  await page.getByLabel('Message', { exact: true }).fill('Still here.');
  await page.keyboard.press('Enter');
  const reason = logOf(page).getByRole('note');
  await reason.waitFor();
  const text = await reason.innerText();
  await release();
  expect(await reason.allInnerTexts()).toEqual([text]);
  expect(faults).toEqual([]);
});

test('a conversation is not closed over a message that comes before the page shows it', async () => {
  const { page, faults, phone, name } = await openConversation('Is that all?');
  const { query } = gateway.database;
  let isLate = false;
  await page.route('**/graphql', async route => {
    if (!isLate && route.request().postData()?.includes('"CLOSED"')) {
      isLate = true;
      gateway.emulator.inbound({ from: phone, text: 'One more thing' });
      await expect
        .poll(() => query("select from messages where body = 'One more thing'"), { timeout: 120_000 })
        .toHaveLength(1);
    }
    await route.continue();
  });
  const status = async () =>
    (
      await query<{ status: string }>(
        "select v.status from conversations v join messages m on m.conversation_id = v.id where m.body = 'One more thing'",
      )
    )[0]?.status;
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('alert').getByText(`${name} has just written: “One more thing”.`).waitFor();
  await logOf(page).getByText('One more thing').waitFor();
  expect(await status()).toBe('open');
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await expect.poll(status).toBe('closed');
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  expect(faults).toEqual([]);
});

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

test('a template with a picture takes one from the device', async () => {
  const { page, faults, phone } = await openConversation('Anything new?');
  await page.getByRole('button', { name: 'Send a template' }).click();
  const dialog = page.getByRole('dialog');
  const preview = dialog.getByRole('group', { name: 'Preview' });
  await preview.getByText('Picture', { exact: true }).waitFor();
  const upload = Promise.withResolvers<void>();
  await page.route('**/*', async route => {
    if (route.request().method() === 'PUT') await upload.promise;
    await route.continue();
  });
  const file = { name: 'shoes.png', mimeType: 'image/png', buffer: PNG };
  await dialog.getByLabel('Upload a file').setInputFiles(file);
  await dialog.getByRole('progressbar', { name: 'Uploading shoes.png' }).waitFor();
  await dialog.getByLabel('Text: 1').fill('Ben');
  await preview.getByText('New this week, Ben.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
  upload.resolve();
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  const bubble = logOf(page).locator('.bubble.ours', { hasText: 'New this week, Ben.' });
  await expect.poll(() => bubble.locator('img').evaluate(image => (image as HTMLImageElement).naturalWidth)).toBe(1);
  await expect.poll(() => gateway.emulator.sent({ to: phone }).messages.length).toBe(1);
  expect(faults).toEqual([]);
});

test('what was sent as a link is shown as one, because the page loads nothing from elsewhere', async () => {
  const { page, faults, phone } = await openConversation('Send me the picture');
  const link = 'https://pictures.example/shoes.png';
  payloadOf(
    await gateway.mutate(
      'sendMessage',
      { to: { phone }, content: { media: { kind: 'IMAGE', file: { link } } } },
      'message { id }',
    ),
  );
  const sent = logOf(page).getByRole('link', { name: link });
  await sent.waitFor();
  expect(await sent.getAttribute('href')).toBe(link);
  expect(faults).toEqual([]);
});
