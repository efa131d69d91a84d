import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { type OpenedPage, openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;
let persons = 0;

beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'strict' } } });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const logOf = (page: Page) => page.getByRole('log');
const textOf = (page: Page) => page.getByLabel('Message', { exact: true });
const headOf = (page: Page) => page.locator('.thread-head').getByRole('status');

/** A person who wrote, and agents who have the conversation open. */
async function open(...agents: string[]) {
  persons += 1;
  const name = `Ana ${persons}`;
  gateway.emulator.inbound({ from: `+1415555${2_000 + persons}`, text: 'Is it available?', profileName: name });
  const opened: OpenedPage[] = [];
  for (const agent of agents) {
    const input = { name: agent, email: `${agent}-${persons}@example.com`, role: 'AGENT' };
    const { staffMember } = payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }'));
    const one = await openDashboard(browser, gateway.url, gateway.tenant.token, {
      staffId: staffMember.id,
      timezoneId: 'UTC',
    });
    await listOf(one.page).getByText(name, { exact: true }).click();
    await logOf(one.page).getByText('Is it available?').waitFor();
    opened.push(one);
  }
  return { pages: opened.map(({ page }) => page), faults: () => opened.flatMap(one => one.faults), name };
}

test('agents see who has the conversation open, who types, and who has left', async () => {
  const { pages, faults } = await open('Ines', 'Tom');
  const [ines, tom] = pages as [Page, Page];
  await headOf(tom).getByText('Ines is here, too').waitFor();
  await headOf(ines).getByText('Tom is here, too').waitFor();
  // Typing is shown while keys are pressed: a single one may be forgotten on a slow machine.
  await eventually(async () => {
    await textOf(ines).pressSequentially('a');
    await headOf(tom).getByText('Ines is writing …').waitFor({ timeout: 3_000 });
    await tom.getByText('Ines is writing an answer.').waitFor({ timeout: 3_000 });
  });
  await textOf(ines).fill('');
  await headOf(tom).getByText('Ines is here, too').waitFor();
  const beside = await logOf(tom).boundingBox();
  await ines.close();
  await expect.poll(() => headOf(tom).innerText()).toBe('');
  // What is about to be pressed in the thread does not move when colleagues come and go.
  expect(await logOf(tom).boundingBox()).toEqual(beside);
  expect(faults()).toEqual([]);
});

test('an answer is held back if a colleague was quicker, with what they wrote', async () => {
  const { pages, faults } = await open('Ines', 'Tom');
  const [ines, tom] = pages as [Page, Page];
  await textOf(tom).fill('Yes, in blue.');
  await textOf(ines).fill('Sorry, it is sold.');
  await tom.keyboard.press('Enter');
  await ines.getByText('Tom has answered since you began:').waitFor();
  await ines.keyboard.press('Enter');
  const dialog = ines.getByRole('dialog', { name: 'Tom was quicker' });
  await dialog.getByText('Yes, in blue.').waitFor();
  await dialog.getByRole('button', { name: 'Back to my draft' }).click();
  await expect.poll(() => textOf(ines).inputValue()).toBe('Sorry, it is sold.');
  expect(await logOf(tom).getByText('Sorry, it is sold.').count()).toBe(0);
  await textOf(ines).focus();
  await ines.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Send mine, too' }).click();
  await logOf(tom).getByText('Sorry, it is sold.').waitFor();
  await expect.poll(() => textOf(ines).inputValue()).toBe('');
  // What is on the screen when a draft is begun is known.
  await textOf(tom).fill('Really?');
  await tom.keyboard.press('Enter');
  await logOf(ines).getByText('Really?').waitFor();
  expect(faults()).toEqual([]);
});

test('a draft left for another conversation is held back like an open draft', async () => {
  const { pages, faults, name } = await open('Ines', 'Tom');
  const [ines, tom] = pages as [Page, Page];
  const second = await open();
  await textOf(ines).fill('Sorry, it is sold.');
  await listOf(ines).getByText(second.name, { exact: true }).click();
  await logOf(ines).getByText('Is it available?').waitFor();
  await textOf(tom).fill('Yes, in blue.');
  await textOf(tom).press('Enter');
  await logOf(tom).getByText('Yes, in blue.').waitFor();
  await ines.reload();
  await listOf(ines).getByText(name, { exact: true }).click();
  await ines.getByText('Tom has answered since you began:').waitFor();
  await textOf(ines).press('Enter');
  const dialog = ines.getByRole('dialog', { name: 'Tom was quicker' });
  await dialog.getByText('Yes, in blue.').waitFor();
  // Neither sent nor lost while the question stands.
  await ines.reload();
  await expect.poll(() => textOf(ines).inputValue()).toBe('Sorry, it is sold.');
  expect(await logOf(tom).getByText('Sorry, it is sold.').count()).toBe(0);
  expect(faults()).toEqual([]);
});

test('files that were held back stay in the composer with their text', async () => {
  const { pages, faults } = await open('Ines', 'Tom');
  const [ines, tom] = pages as [Page, Page];
  const data = await ines.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['%PDF-1.4'], 'sizes.pdf', { type: 'application/pdf' }));
    return transfer;
  });
  await ines.locator('.composer').dispatchEvent('drop', { dataTransfer: data });
  await expect.poll(() => ines.locator('.attachment').count()).toBe(1);
  await expect.poll(() => ines.locator('.attachment progress').count()).toBe(0);
  await textOf(ines).fill('All sizes');
  await textOf(tom).fill('Yes');
  await tom.keyboard.press('Enter');
  await ines.getByText('Tom has answered since you began:').waitFor();
  await ines.keyboard.press('Enter');
  await ines.getByRole('dialog').getByRole('button', { name: 'Back to my draft' }).click();
  await ines.locator('.attachment', { hasText: 'sizes.pdf' }).waitFor();
  await expect.poll(() => textOf(ines).inputValue()).toBe('All sizes');
  expect(faults()).toEqual([]);
});

test('a message is scheduled, moved and cancelled in its thread', async () => {
  const { pages, faults } = await open('Ines', 'Tom');
  const [ines, tom] = pages as [Page, Page];
  await textOf(ines).fill('Good morning');
  await ines.getByRole('button', { name: 'Send later' }).click();
  const dialog = ines.getByRole('dialog', { name: 'Send later' });
  await dialog.getByRole('button', { name: 'In an hour' }).click();
  expect(await dialog.getByText('The 24-hour window closes before then.').count()).toBe(0);
  await dialog.getByRole('button', { name: /^Tomorrow/ }).click();
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  const bubble = logOf(tom).locator('.bubble.ours', { hasText: 'Good morning' });
  await bubble.getByText(/Will be sent: tomorrow, 09:00/).waitFor();
  await bubble.getByRole('button', { name: 'Change the time' }).click();
  const change = tom.getByRole('dialog', { name: 'Change the time' });
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  await change.getByLabel('Date and time').fill(`${day}T10:30`);
  await change.getByRole('button', { name: 'Save the time' }).click();
  const there = logOf(ines).locator('.bubble.ours', { hasText: 'Good morning' });
  await there.getByText(/Will be sent: .*10:30/).waitFor();
  const { messages } = dataOf(await gateway.graphql('{ messages(first: 1) { nodes { status scheduledAt } } }'));
  expect(messages.nodes).toEqual([{ status: 'SCHEDULED', scheduledAt: `${day}T10:30:00.000Z` }]);
  await there.getByRole('button', { name: 'Do not send' }).click();
  await bubble.getByText('Cancelled').waitFor();
  expect(faults()).toEqual([]);
});

test('a message is quoted and reacted to', async () => {
  const { pages, faults, name } = await open('Ines', 'Tom');
  const [ines, tom] = pages as [Page, Page];
  const asked = logOf(ines).locator('.bubble.theirs', { hasText: 'Is it available?' });
  await asked.hover();
  await asked.getByRole('button', { name: 'React' }).click();
  await ines.getByRole('menuitemradio', { name: '👍' }).click();
  await logOf(tom).locator('.bubble.theirs .reactions', { hasText: '👍' }).waitFor();
  await asked.hover();
  await asked.getByRole('button', { name: 'Reply to this message' }).click();
  await ines.keyboard.type('Of course');
  await ines.keyboard.press('Enter');
  const answer = logOf(tom).locator('.bubble.ours', { hasText: 'Of course' });
  await answer.locator('.quote', { hasText: 'Is it available?' }).waitFor();
  await expect.poll(() => ines.locator('.composer-quote').count()).toBe(0);
  await listOf(tom).getByText(name, { exact: true }).waitFor();
  expect(faults()).toEqual([]);
});

test('a colleague who was added to the account can be assigned in a page that was open before, and one who left cannot', async () => {
  const { pages, faults, name } = await open('Ines');
  const [ines] = pages as [Page];
  const assign = ines.getByRole('button', { name: /^Assign/ });
  const input = { name: 'Newcomer', email: 'newcomer@example.com', role: 'AGENT' };
  const { staffMember } = payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }'));
  await assign.click();
  await ines.getByRole('menuitemradio', { name: 'Newcomer' }).click();
  await listOf(ines)
    .getByRole('listitem')
    .filter({ hasText: name })
    .locator('.assignee')
    .getByText('Newcomer')
    .waitFor();
  const filter = ines.getByLabel('Assigned to');
  await filter.selectOption('Newcomer');
  await expect.poll(() => listOf(ines).getByRole('listitem').count()).toBe(1);
  await filter.selectOption('');
  payloadOf(await gateway.mutate('deleteStaffMember', { id: staffMember.id }, 'deletedId'));
  await assign.click();
  await expect.poll(() => ines.getByRole('menuitemradio', { name: 'Newcomer' }).count()).toBe(0);
  expect(faults()).toEqual([]);
});
