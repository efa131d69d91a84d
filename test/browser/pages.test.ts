import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;
let receiver: Server;

beforeAll(async () => {
  receiver = createServer((_request, response) => response.end('thank you'));
  await new Promise<void>(done => receiver.listen(0, '127.0.0.1', done));
  gateway = await startGateway({
    env: { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' },
  });
  browser = await launchChromium();
  await gateway.mutate(
    'createContacts',
    {
      contacts: Array.from({ length: 250 }, (_, index) => ({
        phone: `+1415556${1_000 + index}`,
        firstName: `Person ${index}`,
      })),
    },
    'summary { succeeded }',
  );
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
  receiver.close();
});

const open = (path: string) => openDashboard(browser, gateway.url, gateway.tenant.token, { path });

test('contacts are drawn as they come into view, found by their address, and edited with the fault at its field', async () => {
  const { page, faults } = await open('/contacts?order=name');
  await page.getByText('250 contacts', { exact: true }).waitFor();
  expect(await page.locator('.contact-row').count()).toBeLessThan(60);
  // To the end, page by page.
  await expect
    .poll(async () => {
      await page.locator('.rows').evaluate(element => element.scrollTo(0, element.scrollHeight));
      return page.locator('.contact-row').last().innerText();
    })
    .toContain('Person 99');
  await page.getByLabel('Search contacts').fill('Person 123');
  await page.locator('.contact-row').getByText('Person 123').click();
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('Person 123');
  const panel = page.getByRole('complementary', { name: 'Person 123' });
  await panel.getByLabel('Email').fill('nonsense');
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.locator('.field', { hasText: 'Email' }).locator('.field-error').waitFor();
  expect(await panel.getByLabel('Email').getAttribute('aria-invalid')).toBe('true');
  await panel.getByLabel('Email').fill('person@example.com');
  await panel.getByRole('button', { name: 'Save' }).click();
  await page.locator('.contact-row').getByText('person@example.com').waitFor();
  expect(faults).toEqual([]);
});

test('two contacts are merged after a preview, and one is erased with a receipt', async () => {
  const { page, faults } = await open('/contacts?q=Person%2020');
  await page.getByLabel('Select Person 201').check();
  await page.getByLabel('Select Person 202').check();
  await page.getByRole('button', { name: 'Merge 2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click();
  const panel = page.getByRole('complementary', { name: /Person 20[12]/ });
  await panel.getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
  await page.getByText('The person is erased. This is the receipt.').waitFor();
  expect(faults).toEqual([]);
});

test('a search of contacts ends when the page is opened anew from the navigation', async () => {
  const { page, faults } = await open('/contacts');
  const field = page.getByLabel('Search contacts');
  await field.fill('Person 123 ');
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('Person 123');
  await page.locator('.contact-row').getByText('Person 123').waitFor();
  // The blank is not taken away from somebody who goes on typing.
  expect(await field.inputValue()).toBe('Person 123 ');
  await page.getByRole('navigation').getByRole('link', { name: 'Contacts' }).click();
  await expect.poll(() => field.inputValue()).toBe('');
  await page.getByText(/^2\d\d contacts$/).waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(faults).toEqual([]);
});

test('an address of a contact that does not exist says so, and can be closed', async () => {
  const { page, faults } = await open('/contacts/999999');
  const panel = page.getByRole('complementary');
  await panel.getByText('There is no such contact.').waitFor();
  await panel.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => panel.count()).toBe(0);
  expect(faults).toEqual([]);
});

test('the preview of a merge names what the contacts refer to', async () => {
  const status = async (name: string): Promise<string> =>
    payloadOf(await gateway.mutate('createContactStatus', { name }, 'contactStatus { id }')).contactStatus.id;
  for (const [name, country] of [
    ['Hot', 'PT'],
    ['Cold', 'DE'],
  ] as const) {
    const input = {
      firstName: `Twin ${name}`,
      phone: `+1415558${name.length}000`,
      statusId: await status(name),
      country,
    };
    expect(payloadOf(await gateway.mutate('createContact', input)).userErrors).toEqual([]);
  }
  const { page, faults } = await open('/contacts?q=Twin&order=oldest');
  await page.getByLabel('Select Twin Hot').check();
  await page.getByLabel('Select Twin Cold').check();
  await page.getByRole('button', { name: 'Merge 2' }).click();
  const cells = async (name: string): Promise<string[]> =>
    page
      .getByRole('dialog')
      .getByRole('row', { name: new RegExp(`^${name} `) })
      .getByRole('cell')
      .allInnerTexts();
  await expect.poll(() => cells('Status')).toEqual(['Status', 'Hot', 'Cold']);
  expect(await cells('Country')).toEqual(['Country', 'Portugal', 'Germany']);
  expect(await cells('Type')).toEqual(['Type', 'Lead', '']);
  expect(faults).toEqual([]);
});

test('a template is written with its preview, and a bot that is created answers its test', async () => {
  const { page, faults } = await open('/templates');
  await page.getByRole('button', { name: 'New template' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('back_in_stock');
  await dialog.getByLabel('Text', { exact: true }).fill('Hi {{1}}, it is back.');
  await dialog.getByLabel('Example for {{1}}').fill('Ana');
  await dialog.getByRole('group', { name: 'Preview' }).getByText('Hi Ana, it is back.').waitFor();
  await dialog.getByRole('button', { name: 'Submit for review' }).click();
  await page.getByRole('heading', { name: 'back_in_stock' }).waitFor();

  await page.getByRole('link', { name: 'Bots' }).click();
  await page.getByRole('button', { name: 'New bot' }).click();
  await dialog.getByLabel('Name').fill('Hours');
  await dialog.getByLabel('Keywords, separated by commas').fill('open, hours');
  await dialog.getByLabel('Reply').fill('We are open from 9 to 17.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Hours/ }).waitFor();
  await page.getByLabel('What would be answered to …').fill('Are you open?');
  await page.locator('.bot-answer').getByText('We are open from 9 to 17.').waitFor();
  expect(faults).toEqual([]);
});

test('a webhook is created, tested, shown with its body, and delivered again', async () => {
  const { page, faults } = await open('/webhooks');
  await page.getByRole('button', { name: 'New endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('button', { name: 'webhook.test' }).click();
  await dialog.getByText('"type": "webhook.test"').waitFor();
  await dialog.getByRole('button', { name: 'Deliver again' }).click();
  // The dialog follows until the second attempt is over, and so does the list behind it.
  await dialog.getByText(/^2\. /).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('row', { name: /webhook\.test Delivered \d+ 2 / }).waitFor();
  expect(faults).toEqual([]);
});

test('a token is created and shown once, and works', async () => {
  const { page, faults } = await open('/tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Till');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const token = await dialog.getByText(/^ply_\w+$/).innerText();
  expect(dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token)).viewer.scopes).toEqual([
    'CONTACTS_READ',
    'MESSAGES_READ',
    'MESSAGES_SEND',
  ]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('row', { name: /Till/ }).getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect.poll(() => page.getByRole('row', { name: /Till/ }).count()).toBe(0);
  expect(faults).toEqual([]);
});

test('the live view shows events as they happen, until it is paused', async () => {
  const { page, faults } = await open('/live');
  await page.getByText('Waiting for the next event.').waitFor();
  const events = page.getByRole('list', { name: 'Events' });
  await expect
    .poll(async () => {
      gateway.emulator.inbound({ from: '+14155550188', text: 'Hello', profileName: 'Lena' });
      return events.getByText('message.received').count();
    })
    .toBeGreaterThan(0);
  await page.getByLabel('Filter events by type').fill('contact.created');
  await events.getByText('contact.created').first().waitFor();
  expect(await events.getByText('message.received').count()).toBe(0);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(faults).toEqual([]);
});

test('a number is connected with its faults at their fields, disconnected, and connected again', async () => {
  const number = { phoneNumberId: '106540352242922', wabaId: '102290129340398', accessToken: 'access' };
  const shown = { displayPhoneNumber: '+1 555 078 3881', verifiedName: 'Acme', messagesPerSecond: 80 };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
    method: 'POST',
    body: JSON.stringify({ ...number, ...shown }),
  });
  const { page, faults } = await open('/channels');
  const dialog = page.getByRole('dialog');
  const fill = async (phoneNumberId: string): Promise<void> => {
    await page.getByRole('button', { name: 'Connect a number' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Shop');
    await dialog.getByLabel('Id of the phone number').fill(phoneNumberId);
    await dialog.getByLabel('Id of the business account').fill(number.wabaId);
    await dialog.getByLabel('Access token').fill(number.accessToken);
    await dialog.getByLabel('App secret').fill('test-app-secret');
    await dialog.getByLabel('Verify token').fill('test-verify-token');
    await dialog.getByRole('button', { name: 'Connect' }).click();
  };
  await fill('not a number');
  await dialog.locator('.field', { hasText: 'Id of the phone number' }).locator('.field-error').waitFor();
  expect(await dialog.getByLabel('Access token').getAttribute('type')).toBe('password');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await fill(number.phoneNumberId);
  await dialog.getByText('+1 555 078 3881 is connected.').waitFor();
  await dialog.getByText(`${gateway.url}/network/cloud-api/webhook`).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const card = page.getByRole('article').filter({ hasText: '+1 555 078 3881' });
  await card.getByRole('button', { name: 'Disconnect' }).click();
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await card.getByText('Disconnected', { exact: true }).waitFor();
  await card.getByText('0 messages in the queue were cancelled').waitFor();
  // What the network said about it is no longer so.
  expect(await card.getByText(/^(Can send|Quality)/).count()).toBe(0);
  await fill(number.phoneNumberId);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await card.getByText('Active', { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test('why a channel is paused is said in the language of the page', async () => {
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, {
    path: '/channels',
    locale: 'de-DE',
  });
  const card = page.getByRole('article').first();
  await card.getByRole('button', { name: 'Anhalten' }).click();
  await card.getByText('Von diesem Konto angehalten.').waitFor();
  await card.getByRole('button', { name: 'Fortsetzen' }).click();
  await card.getByText('Aktiv', { exact: true }).waitFor();
  expect(faults).toEqual([]);
});
