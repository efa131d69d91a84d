import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { type DevelopmentGateway, startDevelopment } from './development.ts';

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

async function graphql(query: string, variables: object = {}) {
  const response = await fetch(`${gateway.link.origin}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as { data: Record<string, { nodes: Record<string, unknown>[] }> };
}

const send = (phone: string, text: string) =>
  graphql(
    'mutation ($phone: String!, $text: String!) { sendMessage(input: { to: { phone: $phone }, content: { text: { body: $text } } }) { userErrors { message } } }',
    { phone, text },
  );

const deviceOf = (page: Page, name: string) => page.getByRole('region', { name: `${name}’s phone` });

async function choose(page: Page, name: string, item: string): Promise<void> {
  await deviceOf(page, name)
    .getByRole('button', { name: `More on the phone of ${name}` })
    .click();
  await page.getByRole('menu').getByText(item, { exact: true }).click();
}

async function write(page: Page, name: string, text: string): Promise<void> {
  const field = deviceOf(page, name).getByRole('textbox');
  await field.fill(text);
  await field.press('Enter');
  await deviceOf(page, name).getByText(text).waitFor();
}

test('two phones at once: offline and back, blocked, in a group, with a voice message and another number', async () => {
  const [ANA, BEN] = ['+14155550161', '+14155550162'];
  const path = `/phone?p=${encodeURIComponent(ANA)}&p=${encodeURIComponent(BEN)}`;
  const { page, faults } = await openDashboard(browser, gateway.link.origin, gateway.token, { path });
  await write(page, ANA, 'Hello from Ana');
  await write(page, BEN, 'Hello from Ben');

  // Offline: the message waits, and arrives when the phone is back.
  await choose(page, ANA, 'Offline');
  await deviceOf(page, ANA).getByText('Offline: messages wait').waitFor();
  await send(ANA, 'Are you there?');
  await send(BEN, 'And you?');
  await deviceOf(page, BEN).getByText('And you?').waitFor();
  expect(await deviceOf(page, ANA).getByText('Are you there?').count()).toBe(0);
  expect(await deviceOf(page, ANA).getByRole('textbox').isDisabled()).toBe(true);
  await choose(page, ANA, 'Offline');
  await deviceOf(page, ANA).getByText('Are you there?').waitFor();

  // Blocked: what is sent meanwhile does not arrive later either.
  await choose(page, BEN, 'Block the business');
  await deviceOf(page, BEN).getByText('The business is blocked').waitFor();
  await send(BEN, 'Lost');
  await expect
    .poll(
      async () => {
        const { data } = await graphql(
          '{ messages(first: 20, filter: { status: { eq: SENT } }) { nodes { previewText } } }',
        );
        return data['messages']?.nodes.map(node => node['previewText']);
      },
      { timeout: 60_000 },
    )
    .toContain('Lost');
  await choose(page, BEN, 'Block the business');
  await send(BEN, 'Welcome back');
  await deviceOf(page, BEN).getByText('Welcome back').waitFor();
  expect(await deviceOf(page, BEN).getByText('Lost').count()).toBe(0);

  // A group chat of both, beside the chat with the business.
  for (const name of [ANA, BEN]) {
    await choose(page, name, 'Join a group');
    await page.getByRole('dialog').getByLabel('Name of the group').fill('Running club');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await deviceOf(page, name).getByText('Running club').waitFor();
  }
  await write(page, ANA, 'Who runs today?');
  await deviceOf(page, BEN).getByText('Who runs today?').waitFor();
  await expect
    .poll(
      async () => {
        const { data } = await graphql('{ groupChats(first: 5) { nodes { subject } } }');
        return JSON.stringify(data);
      },
      { timeout: 60_000 },
    )
    .toContain('Running club');

  // Another number, the same chat; a voice message, of a tone where there is no microphone.
  await choose(page, BEN, 'Change the number');
  await page.getByRole('dialog').getByLabel('New number').fill('+14155550163');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  const moved = page.getByRole('region').filter({ hasText: '+14155550163' });
  await moved.getByText('Welcome back').waitFor();
  await moved.getByRole('button', { name: 'Record a voice message' }).click();
  await moved.getByLabel('Voice message', { exact: true }).waitFor();
  expect(faults).toEqual([]);
}, 180_000);

test('a message that is edited, deleted, quoted or reacted to looks on the phone as it does on a real one', async () => {
  const CARL = '+14155550171';
  const path = `/phone?p=${encodeURIComponent(CARL)}`;
  const { page, faults } = await openDashboard(browser, gateway.link.origin, gateway.token, { path });
  await write(page, CARL, 'Two blew ones');
  await write(page, CARL, 'Forget this');
  const phone = deviceOf(page, CARL);
  const first = phone.locator('.bubble.ours').first();
  await first.hover();
  await first.getByRole('button', { name: 'Edit the message' }).click();
  const field = phone.getByRole('textbox');
  expect(await field.inputValue()).toBe('Two blew ones');
  await field.fill('Two blue ones');
  await field.press('Enter');
  await first.getByText('Two blue ones').waitFor();
  await first.getByText('edited').waitFor();
  const second = phone.locator('.bubble.ours').nth(1);
  await second.hover();
  await second.getByRole('button', { name: 'Delete for everyone' }).click();
  await second.getByText('You deleted this message.').waitFor();
  expect(await phone.getByText('Forget this').count()).toBe(0);

  await send(CARL, 'They are on their way');
  const theirs = phone.locator('.bubble.theirs', { hasText: 'They are on their way' });
  await theirs.hover();
  await theirs.getByRole('button', { name: 'React with 👍' }).click();
  await theirs.locator('.reactions', { hasText: '👍' }).waitFor();
  await theirs.hover();
  await theirs.getByRole('button', { name: 'Quote in the answer' }).click();
  await write(page, CARL, 'Thank you');
  await phone.locator('.bubble.ours .quote', { hasText: 'They are on their way' }).waitFor();
  // An edit, a deletion and a reaction are no messages of their own.
  expect(await phone.locator('.bubble').count()).toBe(4);
  expect(faults).toEqual([]);
});

test('the header of a template is filled on the phone', async () => {
  const DORA = '+14155550191';
  const template = {
    name: 'order_ready',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['4711'] } },
      { type: 'BODY', text: 'It can be fetched.' },
    ],
  };
  await graphql('mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { template { id } } }', {
    input: template,
  });
  await expect
    .poll(
      async () => {
        const { data } = await graphql(
          '{ templates(first: 50, filter: { status: { eq: APPROVED } }) { nodes { name } } }',
        );
        return data['templates']?.nodes.map(({ name }) => name);
      },
      { timeout: 60_000 },
    )
    .toContain('order_ready');
  const input = {
    to: { phone: DORA },
    content: { template: { name: 'order_ready', language: 'en_US', header: { text: '9001' } } },
  };
  await graphql('mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id } } }', { input });
  const path = `/phone?p=${encodeURIComponent(DORA)}`;
  const { page, faults } = await openDashboard(browser, gateway.link.origin, gateway.token, { path });
  await deviceOf(page, DORA).getByText('Order 9001').waitFor();
  expect(faults).toEqual([]);
});

test('on a narrow screen a whole phone stands above the navigation, and the next one is beside it', async () => {
  const people = ['+14155550181', '+14155550182'];
  const path = `/phone?${people.map(phone => `p=${encodeURIComponent(phone)}`).join('&')}`;
  const viewport = { width: 380, height: 844 };
  const { page, faults } = await openDashboard(browser, gateway.link.origin, gateway.token, { path, viewport });
  await write(page, people[0] as string, 'Hello');
  const boxOf = async (locator: ReturnType<Page['locator']>) => {
    const box = await locator.boundingBox();
    if (!box) throw new Error('It is not shown.');
    return box;
  };
  const { y: navigation } = await boxOf(page.getByRole('navigation'));
  const first = await boxOf(deviceOf(page, people[0] as string));
  const second = await boxOf(deviceOf(page, people[1] as string));
  expect(first.y + first.height).toBeLessThanOrEqual(navigation);
  expect([first.x >= 0, first.x + first.width <= viewport.width]).toEqual([true, true]);
  expect([second.y, second.x > first.x]).toEqual([first.y, true]);
  await deviceOf(page, people[1] as string).scrollIntoViewIfNeeded();
  await write(page, people[1] as string, 'Hello, too');
  expect(faults).toEqual([]);
});
