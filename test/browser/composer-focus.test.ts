import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

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

const logOf = (page: Page) => page.getByRole('log');
const draftOf = (page: Page) => page.locator('.composer-input');
const hasFocus = (locator: ReturnType<typeof draftOf>): Promise<boolean> =>
  locator.evaluate(element => element === document.activeElement);

async function openConversation(): Promise<Page> {
  persons += 1;
  const name = `Dana ${persons}`;
  gateway.emulator.inbound({ from: `+1415557${String(3_000 + persons)}`, text: 'Hello', profileName: name });
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('list', { name: 'Conversations' }).getByText(name, { exact: true }).click();
  await logOf(page).getByText('Hello').waitFor();
  return page;
}

/** Answers the latest conversation as a person of the account. */
async function answerAsColleague(body: string): Promise<void> {
  const person = { name: 'Ines', email: 'ines@example.com', role: 'AGENT' };
  const { id } = payloadOf(await gateway.mutate('createStaffMember', person, 'staffMember { id }')).staffMember;
  const session = { staffMember: { id }, origins: [], documentsOnly: false };
  const { token } = payloadOf(await gateway.mutate('createStaffSession', session, 'token'));
  const { nodes } = dataOf(await gateway.graphql('{ conversations(first: 1) { nodes { id } } }')).conversations;
  const input = { to: { conversationId: nodes[0].id }, content: { text: { body } } };
  payloadOf(await gateway.mutate('sendMessage', input, 'message { id }', token));
}

test('what is removed from an answer by a key leaves the focus in its text', async () => {
  const page = await openConversation();
  const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('9.90') });
  await page.locator('.composer input[type=file]').setInputFiles([file('one.txt'), file('two.txt')]);
  for (const name of ['one.txt', 'two.txt']) {
    await page.getByRole('button', { name: `Remove ${name}` }).press('Enter');
    await expect.poll(() => page.locator('.attachment', { hasText: name }).count()).toBe(0);
    expect(await hasFocus(draftOf(page))).toBe(true);
  }
  await logOf(page).getByRole('article').hover();
  await logOf(page).getByRole('button', { name: 'Reply to this message' }).click();
  await page.getByRole('button', { name: 'Do not quote' }).press('Enter');
  await expect.poll(() => page.locator('.composer-quote').count()).toBe(0);
  expect(await hasFocus(draftOf(page))).toBe(true);
  // An answer of a colleague that came meanwhile.
  await draftOf(page).fill('Half a sen');
  await answerAsColleague('I was quicker');
  const seen = page.getByRole('button', { name: 'Seen', exact: true });
  await seen.press('Enter');
  await expect.poll(() => seen.count()).toBe(0);
  expect(await hasFocus(draftOf(page))).toBe(true);
});
