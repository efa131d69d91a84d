import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { countWordedTimes } from './worded-times.ts';

/** An account with more of everything than one answer has. */

const TAGS = 500;
const COLLEAGUES = 200;
const GROUPS = 150;
const TOKENS = 150;

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
  const { id } = gateway.tenant;
  const numbered = (name: string, count: number, columns: string, values: string) =>
    gateway.database.query(
      `insert into ${columns} select $1::bigint, $2::text || ' ' || lpad(n::text, 3, '0')${values && `, ${values}`} from generate_series(1, $3::int) n`,
      [id, name, count],
    );
  await numbered('Tag', TAGS, 'tags (tenant_id, name, color)', `'#2F80ED'`);
  await numbered(
    'Colleague',
    COLLEAGUES,
    'staff (tenant_id, name, email, role)',
    `'c' || n || '@example.com', 'agent'`,
  );
  await numbered('Group', GROUPS, 'groups (tenant_id, name)', '');
  await numbered(
    'Token',
    TOKENS,
    'access_tokens (tenant_id, name, hash, hint, scopes, calls_per_minute)',
    `sha256(n::text::bytea), 'abcd', '{}', 60`,
  );
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const phoneOf = (person: number): string => `+1415555${String(3_000 + person)}`;
const write = (person: number, text: string): void => {
  gateway.emulator.inbound({ from: phoneOf(person), text, profileName: `Person ${person}` });
};
const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const optionsOf = (page: Page, label: string) => page.getByLabel(label, { exact: true }).locator('option');

test('each of 500 tags and 200 colleagues can be chosen, those beyond the first page too', async () => {
  write(1, 'Hello');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await listOf(page).getByText('Person 1', { exact: true }).click();
  await expect.poll(() => optionsOf(page, 'Tag').count()).toBe(1 + TAGS);
  await expect.poll(() => optionsOf(page, 'Assigned to').count()).toBe(2 + COLLEAGUES);
  await page.getByRole('button', { name: 'Details' }).click();
  await page.getByRole('button', { name: 'Add a tag' }).click();
  await page.getByRole('menuitem', { name: 'Tag 500' }).click();
  await page.getByRole('complementary', { name: 'Details' }).getByText('Tag 500').waitFor();
  await page.getByRole('button', { name: /^Assign/ }).click();
  await page.getByRole('menuitemradio', { name: 'Colleague 200' }).click();
  await listOf(page).getByText('Colleague 200', { exact: true }).waitFor();
  const { nodes } = dataOf(
    await gateway.graphql('{ conversations { nodes { assignee { name } tags { name } } } }'),
  ).conversations;
  expect(nodes).toEqual([{ assignee: { name: 'Colleague 200' }, tags: [{ name: 'Tag 500' }] }]);
  // An event has the tags of its conversation, and does not read the list of all tags again.
  await page.waitForLoadState('networkidle');
  const reads: string[] = [];
  page.on('request', request => {
    if (request.postData()?.includes('InboxTags')) reads.push(request.url());
  });
  for (const text of ['One more', 'And another']) {
    write(1, text);
    await listOf(page).getByText(text, { exact: true }).waitFor();
  }
  expect(reads).toEqual([]);
  expect(faults).toEqual([]);
});

test('a tag of a later page that somebody else has just made is offered', async () => {
  write(2, 'Hello');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await expect.poll(() => optionsOf(page, 'Tag').count()).toBe(1 + TAGS);
  payloadOf(await gateway.mutate('createTag', { name: 'Tag 999' }, 'tag { id }'));
  await page.getByLabel('Tag', { exact: true }).focus();
  await expect.poll(() => optionsOf(page, 'Tag').last().innerText()).toBe('Tag 999');
  expect(await optionsOf(page, 'Tag').count()).toBe(2 + TAGS);
});

test('the pages of staff and tokens, filters of contacts and audiences have all rows', async () => {
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path: '/staff' });
  await expect.poll(() => page.getByRole('row').count()).toBe(1 + COLLEAGUES);
  await page.getByLabel('Role of Colleague 200').selectOption('ADMIN');
  await expect.poll(() => page.getByLabel('Role of Colleague 200').inputValue()).toBe('ADMIN');
  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByRole('row', { name: 'Token 150' }).waitFor();
  await page.getByRole('row', { name: 'Token 001' }).waitFor();
  await page.goto(`${gateway.url}/campaigns/new`);
  await page.getByLabel('Group 150').check();
  await page.getByLabel('Filter').first().check();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByLabel('Condition 1', { exact: true }).selectOption({ label: 'Is in the group' });
  await page.getByLabel('Value of condition 1').selectOption('Group 150');
  expect(faults).toEqual([]);
});

test('an event renders the row of its conversation, not those beside it', async () => {
  for (let person = 10; person < 40; person += 1) write(person, 'Hello');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await expect.poll(() => listOf(page).getByRole('listitem').count()).toBeGreaterThanOrEqual(30);
  const worded = await countWordedTimes(page);
  let turn = 0;
  // The minute may render all rows at the same moment: not at every event.
  const ofOneEvent = async (): Promise<number> => {
    const before = await worded();
    turn += 1;
    write(20, `News ${turn}`);
    await listOf(page).getByText(`News ${turn}`, { exact: true }).waitFor();
    return (await worded()) - before;
  };
  await expect.poll(ofOneEvent).toBeLessThan(20);
});
