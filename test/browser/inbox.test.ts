import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { violationsOf } from './axe.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';

let gateway: TestGateway;
let browser: Browser;
const LOOK = process.env['PARLEY_LOOK'];
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

/** Drops a picture of one pixel on the composer. */
async function dropFile(page: Page, name: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([base64, filename]) => {
      const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], filename, { type: 'image/png' }));
      return transfer;
    },
    [PNG, name] as const,
  );
  await page.locator('.composer').dispatchEvent('drop', { dataTransfer });
}

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
  await dropFile(page, 'shoe.png');
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

test('a draft and its files stay with their conversation, through a reload too, until they are sent', async () => {
  const { page, faults, name } = await openConversation('Do you have it in red?');
  const other = 'Bela of the other chat';
  gateway.emulator.inbound({ from: '+14155558888', text: 'And in green?', profileName: other });
  await listOf(page).getByText(other, { exact: true }).waitFor();
  const text = page.getByLabel('Message', { exact: true });
  await dropFile(page, 'shoe.png');
  await page.locator('.attachment', { hasText: 'shoe.png' }).waitFor();
  await expect.poll(() => page.locator('.attachment progress').count()).toBe(0);
  await text.fill('Yes, in two');
  await listOf(page).getByText(other, { exact: true }).click();
  await logOf(page).getByText('And in green?').waitFor();
  expect([await text.inputValue(), await page.locator('.attachment').count()]).toEqual(['', 0]);
  await listOf(page).getByRole('link', { name }).getByText('Yes, in two').waitFor();
  // A note stays a note.
  await page.keyboard.press('n');
  await page.keyboard.type('Not for the customer');
  await listOf(page).getByText(name, { exact: true }).click();
  await expect.poll(() => text.inputValue()).toBe('Yes, in two');
  await page.reload();
  await expect.poll(() => text.inputValue()).toBe('Yes, in two');
  await page.locator('.attachment', { hasText: 'shoe.png' }).waitFor();
  await text.fill('Yes, in two shades');
  await text.press('Enter');
  await logOf(page).locator('.bubble.ours', { hasText: 'Yes, in two shades' }).locator('img').waitFor();
  await listOf(page).getByText(other, { exact: true }).click();
  await expect.poll(() => page.getByLabel('Note', { exact: true }).inputValue()).toBe('Not for the customer');
  await page.reload();
  await expect.poll(() => page.getByLabel('Note', { exact: true }).inputValue()).toBe('Not for the customer');
  await listOf(page).getByText(name, { exact: true }).click();
  await logOf(page).getByText('Yes, in two shades').waitFor();
  expect([await text.inputValue(), await page.locator('.attachment').count()]).toEqual(['', 0]);
  expect(faults).toEqual([]);
});

test('a prepared answer that is not a text is shown before it is sent', async () => {
  const interactive = { body: 'Shall we call you?', buttons: [{ replyId: 'yes', title: 'Yes, call me' }] };
  const input = { shortcut: 'call', title: 'Offer a call', content: { interactive } };
  expect(payloadOf(await gateway.mutate('createCannedReply', input, 'cannedReply { id }')).userErrors).toEqual([]);
  const values = { name: 'order_shipped', language: 'en_US', body: ['@{contact_first_name|you}', '4711'] };
  const shipped = { shortcut: 'shipped', title: 'Order shipped', content: { template: values } };
  expect(payloadOf(await gateway.mutate('createCannedReply', shipped, 'cannedReply { id }')).userErrors).toEqual([]);
  const { page, faults } = await openConversation('This is complicated');
  const choose = async (typed: string, title: string) => {
    await page.getByLabel('Message', { exact: true }).fill(typed);
    await page.getByRole('list', { name: 'Prepared answers' }).getByText(title).waitFor();
    await page.keyboard.press('Enter');
    return page.getByRole('dialog', { name: title });
  };
  const dialog = await choose('/call', 'Offer a call');
  await dialog.getByText('Shall we call you?').waitFor();
  await dialog.getByText('Yes, call me').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const template = await choose('/ship', 'Order shipped');
  await template.getByText('your order 4711 is on its way.').waitFor();
  expect(await logOf(page).locator('.bubble.ours').count()).toBe(0);
  await template.getByRole('button', { name: 'Cancel' }).click();
  await (await choose('/call', 'Offer a call')).getByRole('button', { name: 'Send' }).click();
  await logOf(page).locator('.bubble.ours', { hasText: 'Yes, call me' }).waitFor();
  expect(await logOf(page).locator('.bubble.ours').count()).toBe(1);
  expect(faults).toEqual([]);
});

test('files that a note or a closed window cannot have are refused in words', async () => {
  const { page, faults } = await openConversation('Look at this');
  await page.keyboard.press('n');
  await dropFile(page, 'shoe.png');
  await page.getByRole('alert').getByText('A note has no files.').waitFor();
  expect(await page.locator('.attachment').count()).toBe(0);
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  await dropFile(page, 'shoe.png');
  await page.locator('.attachment', { hasText: 'shoe.png' }).waitFor();
  // A file of the answer is none of the note.
  await page.getByRole('button', { name: 'Note', exact: true }).click();
  await expect.poll(() => page.locator('.attachment').count()).toBe(0);
  // Somebody who never wrote: only templates may be sent, and the conversation is closed.
  const input = {
    to: { phone: '+14155557777' },
    contact: { firstName: 'Silent' },
    content: { template: { name: 'order_shipped', language: 'en_US', body: ['Ana', '1'] } },
  };
  expect(payloadOf(await gateway.mutate('sendMessage', input, 'message { id }')).userErrors).toEqual([]);
  await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'All' }).click();
  await listOf(page).getByText('Silent', { exact: true }).click();
  await page.getByText('Until the person writes again').waitFor();
  await dropFile(page, 'shoe.png');
  await page.getByRole('alert').getByText('The files were not attached').waitFor();
  expect(await page.locator('.attachment').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a failed reaction shows its error at the message', async () => {
  const { page, faults, phone } = await openConversation('You are great');
  const asked = logOf(page).locator('.bubble.theirs', { hasText: 'You are great' });
  const react = async (emoji: string): Promise<void> => {
    await asked.hover();
    await asked.getByRole('button', { name: 'React' }).click();
    await page.getByRole('menuitemradio', { name: emoji }).click();
  };
  gateway.emulator.setFaults({ next: [{ asyncErrorCode: 131_026, to: phone }] });
  await react('👍');
  await asked.getByRole('alert').getByText('👍 was not sent.').waitFor();
  await asked.getByText('Reach the person in another way.').waitFor();
  await react('❤️');
  await asked.locator('.reactions', { hasText: '❤️' }).waitFor();
  expect(await asked.getByRole('alert').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a search finds messages by their text, and leads to their place in a long thread', async () => {
  const { page, faults, phone, name } = await openConversation('Is the marzipan cake still there?');
  for (let turn = 1; turn <= 90; turn += 1) gateway.emulator.inbound({ from: phone, text: `And cake number ${turn}` });
  await logOf(page).getByText('And cake number 90').waitFor();
  await page.getByRole('searchbox').fill('MARZIPAN');
  const found = page.getByRole('region', { name: 'Messages' });
  await found.getByText('Is the marzipan cake still there?').click();
  const sought = logOf(page).locator('.sought', { hasText: 'Is the marzipan cake still there?' });
  await sought.waitFor();
  await expect.poll(() => sought.evaluate(element => element.getBoundingClientRect().top)).toBeGreaterThan(0);
  expect(new URL(page.url()).searchParams.get('q')).toBe('MARZIPAN');
  expect(await violationsOf(page)).toEqual([]);
  if (LOOK !== undefined) await page.screenshot({ path: `${LOOK}/found.png` });
  await page.getByRole('searchbox').fill('no such word');
  await page.getByText('No conversation matches these filters.').waitFor();
  await page.getByRole('searchbox').fill(name);
  await listOf(page).getByText(name, { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test('a snoozed conversation says until when, and is back with the next message', async () => {
  const { page, faults, phone, name } = await openConversation('Call me tomorrow');
  await page.getByRole('button', { name: 'Change the status' }).click();
  await page.getByRole('menuitem', { name: 'Snooze for 24 hours' }).click();
  await page.getByText(/Snoozed until tomorrow, \d\d:\d\d/).waitFor();
  await expect.poll(() => listOf(page).getByText(name, { exact: true }).count()).toBe(0);
  gateway.emulator.inbound({ from: phone, text: 'Today, please', profileName: name });
  await listOf(page).getByText(name, { exact: true }).waitFor();
  await expect.poll(() => page.getByText('Snoozed until').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('with several channels the list says to which one a person wrote', async () => {
  const number = {
    phoneNumberId: '77001',
    wabaId: '77002',
    displayPhoneNumber: '+1 555 077 0001',
    verifiedName: 'Flowers',
    accessToken: 'token-of-flowers',
  };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(number) });
  const { phoneNumberId, wabaId, accessToken } = number;
  const credentials = { phoneNumberId, wabaId, accessToken, appSecret: 'app-secret-1', verifyToken: 'verify-1' };
  const { channel } = payloadOf(
    await gateway.mutate('connectChannel', { name: 'Flower shop', ...credentials }, 'channel { id }'),
  );
  const { page, faults, name } = await openConversation('Which shop is this?');
  const row = listOf(page).getByRole('link', { name });
  await row.locator('.conversation-channel').getByText(gateway.tenant.slug).waitFor();
  await page.getByRole('combobox', { name: 'Channel' }).selectOption({ label: 'Flower shop' });
  await expect.poll(() => listOf(page).getByText(name, { exact: true }).count()).toBe(0);
  expect(new URL(page.url()).searchParams.get('channel')).toBe(channel.id);
  expect(faults).toEqual([]);
});

test('a question is asked with a list, and a link is sent as a button', async () => {
  const { page, faults } = await openConversation('Which sizes are there?');
  const dialog = page.getByRole('dialog');
  const open = async (kind: string): Promise<void> => {
    await page.getByRole('button', { name: 'Ask with buttons' }).click();
    await dialog.getByRole('button', { name: kind, exact: true }).click();
  };
  await open('List');
  await dialog.getByLabel('Question').fill('Which one?');
  await dialog.getByLabel('Button that opens the list').fill('Sizes');
  await dialog.getByLabel('Row 1').fill('Small');
  await dialog.getByLabel('Row 2').fill('Large');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  const list = logOf(page).locator('.bubble.ours', { hasText: 'Which one?' });
  await list.getByText('Sizes').click();
  await list.getByText('Large').waitFor();
  await open('Link');
  await dialog.getByLabel('Question').fill('All about sizes:');
  await dialog.getByLabel('Text of the button').fill('Size chart');
  await dialog.getByLabel('Address').fill('https://example.com/sizes');
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  const link = logOf(page).locator('.bubble.ours', { hasText: 'All about sizes:' });
  await link.getByText('Size chart').waitFor();
  for (const bubble of [list, link]) await bubble.getByRole('img', { name: 'Read' }).waitFor();
  expect(faults).toEqual([]);
});
