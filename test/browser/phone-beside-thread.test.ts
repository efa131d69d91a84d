import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { type DevelopmentGateway, startDevelopment } from './development.ts';
import { dropFiles, play } from './media.ts';

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

async function post(path: string, body: object): Promise<{ readonly data?: Record<string, { userErrors: object[] }> }> {
  const response = await fetch(gateway.link.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response.json();
}

/** Opens the conversation of a person who wrote. */
async function openConversation(name: string) {
  const opened = await openDashboard(browser, gateway.link.origin, gateway.token);
  await opened.page.getByRole('list', { name: 'Conversations' }).getByText(name, { exact: true }).click();
  return opened;
}

const logOf = (page: Page) => page.getByRole('log').first();
const phoneOf = (page: Page) => page.getByRole('region', { name: /’s phone/ });

test('the demo tenant has a campaign, conversations, an endpoint and tags', async () => {
  const query =
    '{ campaigns { totalCount } conversations { totalCount } webhookEndpoints { totalCount } tags { totalCount } }';
  // It is filled after its link is printed.
  await expect
    .poll(async () => Object.values((await post('/graphql', { query })).data ?? {}).map(isFilled))
    .toEqual([true, true, true, true]);
});

const isFilled = (list: unknown): boolean => (list as { readonly totalCount: number }).totalCount > 0;

test('a video and a voice message are dropped on the thread, and play in it and on the phone', async () => {
  const { page, faults } = await openConversation('Kofi García');
  await dropFiles(logOf(page), { 'clip.mp4': 'video/mp4', 'voice.ogg': 'audio/ogg' });
  await page.getByText('voice.ogg').waitFor();
  await expect.poll(() => page.locator('.attachment progress').count()).toBe(0);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('button', { name: 'Answer as the customer' }).click();
  for (const place of [logOf(page), phoneOf(page)])
    for (const kind of ['video', 'audio']) expect(await play(place.locator(kind))).toBeCloseTo(1, 1);

  await phoneOf(page).locator('input[type=file]').setInputFiles('test/browser/media/voice.ogg');
  expect(await play(logOf(page).locator('.theirs audio'))).toBeCloseTo(1, 1);
  expect(faults).toEqual([]);
});

test('the phone beside a thread writes to the number of its conversation, and to another one when it is chosen', async () => {
  const number = { phoneNumberId: '77101', wabaId: '77102', accessToken: 'token-of-flowers' };
  await post('/_emulator/numbers', { ...number, displayPhoneNumber: '+1 555 077 1001', verifiedName: 'Flowers' });
  const connected = await post('/graphql', {
    query: 'mutation ($input: ConnectChannelInput!) { connectChannel(input: $input) { userErrors { message path } } }',
    variables: {
      input: {
        ...number,
        name: 'Flowers',
        appSecret: 'emulated-app-secret',
        verifyToken: 'emulated-verify-token',
      },
    },
  });
  expect(connected.data?.['connectChannel']?.userErrors).toEqual([]);
  const roses = { type: 'text', from: '+14155567001', text: 'Roses?', profileName: 'Rose', phoneNumberId: '77101' };
  await post('/_emulator/inbound', roses);

  const { page, faults } = await openConversation('Rose');
  await page.getByRole('button', { name: 'Answer as the customer' }).click();
  await phoneOf(page).getByText('Flowers').waitFor();
  await phoneOf(page).getByText('Roses?').waitFor();
  await phoneOf(page).getByRole('textbox').fill('Red ones');
  await page.keyboard.press('Enter');
  await logOf(page).getByText('Red ones').waitFor();

  await phoneOf(page)
    .getByRole('button', { name: /^More on the phone/ })
    .click();
  const items = page
    .getByRole('menuitemradio', { name: /\+1/ })
    .or(page.getByRole('menuitemcheckbox', { name: /\+1/ }));
  expect(await items.count()).toBe(2);
  await items.first().click();
  await phoneOf(page).getByText('Parley Demo').waitFor();
  await expect.poll(() => phoneOf(page).getByText('Roses?').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('the window that a day later has closed is closed in another browser, too', async () => {
  const { page } = await openConversation('Farah Dubois');
  const other = await openConversation('Farah Dubois');
  await other.page.getByLabel('Message', { exact: true }).fill('Is it still open?');
  await page.getByRole('button', { name: 'Answer as the customer' }).click();
  await page.getByRole('button', { name: '25 hours later' }).click();
  await other.page.getByText('The 24-hour window is closed.').waitFor();
});
