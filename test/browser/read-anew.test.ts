import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HELLO_WORLD } from '../../src/emulator/template-store.ts';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

/** What changes while a page is open, and is read again where somebody relies on it. */

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway({ templates: [HELLO_WORLD] });
  browser = await launchChromium();
  payloadOf(await gateway.mutate('syncTemplates', {}, 'totalCount'));
  gateway.emulator.inbound({ from: '+14155550801', text: 'Where is my invoice?', profileName: 'Vera' });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const open = (path: string) => openDashboard(browser, gateway.url, gateway.tenant.token, { path });
const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' });

async function openConversation(): Promise<Page> {
  const { page } = await open('/inbox');
  await listOf(page).getByText('Vera', { exact: true }).click();
  await page.getByRole('log').getByText('Where is my invoice?').first().waitFor();
  return page;
}

test('the start of a campaign names the people of now, not those of when its page was opened', async () => {
  const person = (index: number) => ({
    phone: `+1415555081${index}`,
    firstName: `P${index}`,
    groupNames: ['Regulars'],
  });
  payloadOf(await gateway.mutate('createContacts', { contacts: [person(1), person(2)] }, 'summary { succeeded }'));
  const { contactGroups } = dataOf(await gateway.graphql('{ contactGroups { nodes { id } } }'));
  const input = {
    name: 'News',
    template: { name: 'hello_world', language: 'en_US' },
    audience: { groupIds: [contactGroups.nodes[0].id] },
  };
  const { campaign } = payloadOf(await gateway.mutate('createCampaign', input, 'campaign { databaseId }'));
  const { page } = await open(`/campaigns/${campaign.databaseId}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByText('2 people get the message.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  payloadOf(await gateway.mutate('createContact', person(3), 'contact { id }'));
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await dialog.getByText('3 people get the message.').waitFor();
});

test('a search that is repeated finds the messages that came since', async () => {
  const { page } = await open('/inbox');
  const search = page.getByRole('searchbox');
  const found = page.getByRole('region', { name: 'Messages' }).getByRole('listitem');
  await search.fill('invoice');
  await expect.poll(() => found.count()).toBe(1);
  await search.fill('');
  await expect.poll(() => found.count()).toBe(0);
  gateway.emulator.inbound({ from: '+14155550802', text: 'My invoice is wrong', profileName: 'Wim' });
  await listOf(page).getByText('My invoice is wrong').waitFor();
  await search.fill('invoice');
  await expect.poll(() => found.count()).toBe(2);
});

test('a prepared answer is offered with the words that it has now, and a tag that was just made', async () => {
  const reply = { shortcut: 'hours', title: 'Hours', content: { text: { body: 'From 9 to 17.' } } };
  const { cannedReply } = payloadOf(await gateway.mutate('createCannedReply', reply, 'cannedReply { id }'));
  const page = await openConversation();
  const text = page.getByLabel('Message', { exact: true });
  const offered = page.getByRole('list', { name: 'Prepared answers' }).getByRole('button');
  await text.fill('/ho');
  await offered.filter({ hasText: 'Hours' }).waitFor();
  await text.fill('');
  const changed = { id: cannedReply.id, title: 'Opening hours', content: { text: { body: 'From 8 to 12.' } } };
  payloadOf(await gateway.mutate('updateCannedReply', changed, 'cannedReply { id }'));
  await text.fill('/ho');
  await offered.filter({ hasText: 'Opening hours' }).click();
  await expect.poll(() => text.inputValue()).toBe('From 8 to 12.');

  await page.getByRole('button', { name: 'Details' }).click();
  payloadOf(await gateway.mutate('createTag', { name: 'Urgent' }, 'tag { id }'));
  await page.getByRole('button', { name: 'Add a tag' }).click();
  await page.getByRole('menuitem', { name: 'Urgent' }).click();
  await eventually(async () =>
    expect(
      dataOf(await gateway.graphql('{ conversations(filter: { status: { eq: OPEN } }) { nodes { tags { name } } } }'))
        .conversations.nodes,
    ).toContainEqual({ tags: [{ name: 'Urgent' }] }),
  );
});
