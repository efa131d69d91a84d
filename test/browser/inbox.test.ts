import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';

let gateway: TestGateway;
let browser: Browser;
let persons = 0;

beforeAll(async () => {
  gateway = await startGateway({
    emulator: { faults: { window: 'strict' } },
    templates: [
      {
        name: 'order_shipped',
        language: 'en_US',
        category: 'UTILITY',
        components: [
          {
            type: 'BODY',
            text: 'Hi {{1}}, your order {{2}} is on its way.',
            example: { body_text: [['Ana', '4711']] },
          },
        ],
      },
    ],
  });
  browser = await launchChromium();
  await gateway.mutate('syncTemplates', {}, 'totalCount');
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** A person who wrote, and the page that shows the conversation. */
async function openConversation(text: string, name = `Ana ${persons + 1}`) {
  persons += 1;
  const phone = `+1415555${String(1_000 + persons)}`;
  gateway.emulator.inbound({ from: phone, text, profileName: name });
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await listOf(page).getByText(name, { exact: true }).click();
  await logOf(page).getByText(text).waitFor();
  return { page, faults, phone, name };
}

const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const logOf = (page: Page) => page.getByRole('log');

test('a message that arrives is shown at once, is answered with the keyboard, and its ticks follow the person', async () => {
  const { page, faults, phone, name } = await openConversation('Is it still available?');
  await page.keyboard.press('r');
  await page.keyboard.type('Yes, it is *here*.');
  await page.keyboard.press('Enter');
  await logOf(page)
    .locator('.bubble.ours', { hasText: 'Yes, it is here.' })
    .getByRole('img', { name: 'Read' })
    .waitFor();
  gateway.emulator.inbound({ from: phone, text: 'Then I take two.', profileName: name });
  await logOf(page).getByText('Then I take two.').waitFor();
  // It is on the screen, so it is read.
  await expect.poll(() => listOf(page).locator('.badge').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('somebody who writes for the first time appears in the list without a reload', async () => {
  const { page } = await openConversation('Hello');
  gateway.emulator.inbound({ from: '+14155559999', text: 'I am new', profileName: 'Newcomer' });
  await listOf(page).getByText('Newcomer').waitFor();
  await expect.poll(() => listOf(page).locator('.conversation-name').first().innerText()).toBe('Newcomer');
});

test('outside the window a template is sent from its form, as its preview showed it', async () => {
  const { page, faults, phone } = await openConversation('Where is it?');
  await fetch(`${gateway.emulator.url}/_emulator/windows`, {
    method: 'POST',
    body: JSON.stringify({ phone, open: false, phoneNumberId: gateway.tenant.phoneNumberId }),
  });
  // The gateway believes that it is open: the network refuses, and the page says what to do.
  await page.getByLabel('Message', { exact: true }).fill('Here');
  await page.keyboard.press('Enter');
  const failure = logOf(page).getByRole('note');
  await failure.getByText('Send a template: it may be sent at any time.').waitFor();
  await page.getByRole('button', { name: 'Send a template' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Text: 1').fill('Ana');
  await dialog.getByLabel('Text: 2').fill('9001');
  await dialog.getByRole('group', { name: 'Preview' }).getByText('Hi Ana, your order 9001 is on its way.').waitFor();
  await dialog.getByRole('button', { name: 'Send' }).click();
  await logOf(page).getByText('Hi Ana, your order 9001 is on its way.').waitFor();
  expect(faults).toEqual([]);
});

test('a dropped picture is uploaded, sent with its caption, and shown', async () => {
  const { page, faults } = await openConversation('What does it look like?');
  const data = await page.evaluateHandle(base64 => {
    const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], 'shoe.png', { type: 'image/png' }));
    return transfer;
  }, PNG);
  await page.locator('.composer').dispatchEvent('drop', { dataTransfer: data });
  await page.getByText('shoe.png').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('Like this');
  await expect.poll(() => page.locator('.attachment progress').count()).toBe(0);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const bubble = logOf(page).locator('.bubble.ours', { hasText: 'Like this' });
  await bubble.locator('img[alt="Like this"]').waitFor();
  await expect
    .poll(() => bubble.locator('img[alt="Like this"]').evaluate(image => (image as HTMLImageElement).naturalWidth))
    .toBe(1);
  expect(faults).toEqual([]);
});

test('notes, tags, closing and the filters of the address', async () => {
  const { page, faults, name } = await openConversation('I want my money back');
  await page.keyboard.press('n');
  await page.keyboard.type('Angry, be kind');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Details' }).click();
  await page.getByText('Angry, be kind').waitFor();
  await page.getByRole('button', { name: 'Add a tag' }).click();
  await page.getByRole('menuitem', { name: 'New tag …' }).click();
  await page.keyboard.type('refund');
  await page.keyboard.press('Enter');
  await listOf(page).getByText('refund').waitFor();
  await page.getByRole('complementary', { name: 'Details' }).getByRole('button', { name: 'Close' }).click();
  await page.keyboard.press('e');
  await expect.poll(() => listOf(page).getByText(name, { exact: true }).count()).toBe(0);
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'Closed' }).click();
  await listOf(page).getByText(name, { exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('status')).toBe('closed');
  await page.reload();
  await listOf(page).getByText(name, { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test('a prepared answer is found by its shortcut', async () => {
  const made = await gateway.mutate(
    'createCannedReply',
    { shortcut: 'hours', title: 'Opening hours', content: { text: { body: 'We are open from 9 to 17.' } } },
    'cannedReply { id }',
  );
  expect(payloadOf(made).userErrors).toEqual([]);
  const { page } = await openConversation('When are you open?');
  await page.keyboard.press('r');
  await page.keyboard.type('/ho');
  await page.getByRole('list', { name: 'Prepared answers' }).getByText('Opening hours').waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('We are open from 9 to 17.');
  await page.keyboard.press('Enter');
  await logOf(page).getByText('We are open from 9 to 17.').waitFor();
});

test('two agents see who takes a conversation, in whose name a message is sent, and what a viewer may not do', async () => {
  const { name, faults } = await openConversation('Who answers me?');
  const open = async (staffName: string, role: string) => {
    const input = { name: staffName, email: `${staffName.toLowerCase()}@example.com`, role };
    const member = payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }')).staffMember;
    const opened = await openDashboard(browser, gateway.url, gateway.tenant.token, { staffId: member.id });
    await listOf(opened.page).getByText(name, { exact: true }).click();
    await logOf(opened.page).getByText('Who answers me?').waitFor();
    return opened;
  };
  const ines = await open('Ines', 'AGENT');
  const tom = await open('Tom', 'AGENT');
  const vera = await open('Vera', 'VIEWER');
  await ines.page.keyboard.press('a');
  await tom.page.getByText('Ines takes care of this conversation.').waitFor();
  await ines.page.keyboard.press('r');
  await ines.page.keyboard.type('I do.');
  await ines.page.keyboard.press('Enter');
  await logOf(tom.page).locator('.bubble.ours', { hasText: 'I do.' }).getByText('Ines').waitFor();
  await logOf(vera.page).getByText('I do.').waitFor();
  expect(await vera.page.getByLabel('Message', { exact: true }).count()).toBe(0);
  expect(await vera.page.getByRole('button', { name: 'Assign' }).count()).toBe(0);
  expect([faults, ines.faults, tom.faults, vera.faults]).toEqual([[], [], [], []]);
});
