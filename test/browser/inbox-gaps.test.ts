import type { Browser, Page, Route, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';
import { countWordedTimes } from './worded-times.ts';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

const listOf = (page: Page) => page.getByRole('list', { name: 'Conversations' });
const logOf = (page: Page) => page.getByRole('log');
const rowOf = (page: Page, name: string) => listOf(page).getByText(name, { exact: true });
const isAbout = (route: Route, operation: string): boolean =>
  route.request().postDataJSON()?.operationName === operation;

const phoneOf = (person: number): string => `+1415555${String(2_000 + person)}`;

function write(person: number, text: string): void {
  gateway.emulator.inbound({ from: phoneOf(person), text, profileName: `Person ${person}` });
}

/** The id of a person's contact. */
async function contactOf(person: number): Promise<string> {
  const document = 'query ($phone: String!) { contactByIdentifier(identifier: { phone: $phone }) { id } }';
  return dataOf(await gateway.graphql(document, { phone: phoneOf(person) })).contactByIdentifier.id;
}

test('a conversation stays in a list of several pages when others become newer', async () => {
  for (let person = 1; person <= 45; person += 1) write(person, 'Hello');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 45').waitFor();
  await page.locator('.list-end').scrollIntoViewIfNeeded();
  await rowOf(page, 'Person 1').waitFor();
  const count = () => listOf(page).getByRole('listitem').count();
  expect(await count()).toBe(45);
  await rowOf(page, 'Person 45').scrollIntoViewIfNeeded();
  for (const person of [1, 2, 3]) {
    write(person, 'Once more');
    await expect.poll(() => listOf(page).locator('.conversation-name').first().innerText()).toBe(`Person ${person}`);
  }
  expect(await count()).toBe(45);
  // One that leaves the list is not kept, wherever it stands.
  for (const name of ['Person 16', 'Person 5', 'Person 44']) {
    await rowOf(page, name).click();
    await logOf(page).getByText('Hello').waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => rowOf(page, name).count()).toBe(0);
  }
  expect(await count()).toBe(42);
  expect(faults).toEqual([]);
});

test('a thread that is opened again has no hole between its older messages and the latest', async () => {
  write(101, 'Other chat');
  for (let turn = 1; turn <= 45; turn += 1) write(100, `Turn ${turn}`);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 100').click();
  await logOf(page).getByText('Turn 45', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Older messages' }).click();
  await logOf(page).getByText('Turn 1', { exact: true }).waitFor();
  await rowOf(page, 'Person 101').click();
  await logOf(page).getByText('Other chat').waitFor();
  for (let turn = 46; turn <= 50; turn += 1) write(100, `Turn ${turn}`);
  await listOf(page).getByText('Turn 50', { exact: true }).waitFor();
  await rowOf(page, 'Person 100').click();
  await logOf(page).getByText('Turn 50', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const texts = await logOf(page).locator('.message-text').allInnerTexts();
  const turns = texts.map(text => Number(text.replace('Turn ', '')));
  expect(turns).toEqual(Array.from({ length: turns.length }, (_, index) => 51 - turns.length + index));
  expect(faults).toEqual([]);
});

test('an open conversation that a merge makes part of another one goes on as that one', async () => {
  for (const person of [140, 141]) write(person, `Hello from ${person}`);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 141').click();
  await logOf(page).getByText('Hello from 141').waitFor();
  const [survivor, former] = await Promise.all([contactOf(140), contactOf(141)]);
  const merge = { id: survivor, fromIds: [former] };
  payloadOf(await gateway.mutate('mergeContacts', merge, 'contact { id }'));
  await logOf(page).getByText('Hello from 140').waitFor();
  await expect.poll(() => rowOf(page, 'Person 141').count()).toBe(0);
  write(141, 'Is anybody there?');
  await logOf(page).getByText('Is anybody there?').waitFor();
  expect(faults).toEqual([]);
});

test('a person who is erased leaves the list and the thread that others have open', async () => {
  write(130, 'Forget me');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 130').click();
  await logOf(page).getByText('Forget me').waitFor();
  payloadOf(await gateway.mutate('deleteContact', { id: await contactOf(130) }, 'deletedId'));
  await expect.poll(() => page.getByText('Forget me').count()).toBe(0);
  await expect.poll(() => rowOf(page, 'Person 130').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('a conversation beyond the first page leaves the list when it is merged or deleted, and stays away', async () => {
  for (let person = 301; person <= 345; person += 1) write(person, 'Hello');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const readAll = async (): Promise<void> => {
    await rowOf(page, 'Person 345').waitFor();
    await page.locator('.list-end').scrollIntoViewIfNeeded();
    await rowOf(page, 'Person 302').waitFor();
  };
  await readAll();
  await rowOf(page, 'Person 301').waitFor();
  const [deleted, survivor, former] = await Promise.all([301, 302, 303].map(contactOf));
  payloadOf(await gateway.mutate('deleteContact', { id: deleted }, 'deletedId'));
  payloadOf(await gateway.mutate('mergeContacts', { id: survivor, fromIds: [former] }, 'contact { id }'));
  await expect.poll(() => rowOf(page, 'Person 301').count()).toBe(0);
  await expect.poll(() => rowOf(page, 'Person 303').count()).toBe(0);
  await page.getByRole('link', { name: 'Channels' }).click();
  await page.getByRole('link', { name: 'Inbox' }).click();
  await readAll();
  expect(
    await listOf(page)
      .getByText(/^Person 30[1-3]$/)
      .allInnerTexts(),
  ).toEqual(['Person 302']);
  expect(faults).toEqual([]);
});

test('what happens between the first list and the start of the stream is shown', async () => {
  write(110, 'First of all');
  const { page } = await openDashboard(browser, gateway.url, undefined);
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route('**/graphql', async route => {
    if (isAbout(route, 'InboxStart')) await held;
    await route.continue();
  });
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await rowOf(page, 'Person 110').click();
  await logOf(page).getByText('First of all').waitFor();
  write(110, 'Second of all');
  write(111, 'Third of all');
  const answer = await gateway.graphql('{ conversations(first: 1) { nodes { lastMessage { previewText } } } }');
  await expect
    .poll(async () => (await gateway.graphql('{ conversations(first: 1) { nodes { contact { displayName } } } }')).data)
    .toMatchObject({ conversations: { nodes: [{ contact: { displayName: 'Person 111' } }] } });
  expect(answer.errors).toBeUndefined();
  release();
  await rowOf(page, 'Person 111').waitFor();
  await logOf(page).getByText('Second of all').waitFor();
});

test('an empty inbox shows the same while it is read again', async () => {
  const { token } = await gateway.addTenant();
  const { page } = await openDashboard(browser, gateway.url, undefined);
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let reads = 0;
  await page.route('**/graphql', async route => {
    if (isAbout(route, 'Conversations')) reads += 1;
    if (isAbout(route, 'Conversations') && reads > 1) await held;
    await route.continue();
  });
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const examples = page.locator('.examples');
  await examples.getByRole('button', { name: 'GraphQL' }).click();
  // The start of the stream reads the list again.
  await expect.poll(() => reads).toBeGreaterThan(1);
  expect(await examples.locator('pre').allInnerTexts()).toEqual([expect.stringContaining('mutation')]);
  release();
  await page.waitForLoadState('networkidle');
  expect(await examples.locator('pre').allInnerTexts()).toEqual([expect.stringContaining('mutation')]);
});

test('the inbox is live although the start of its stream failed once', async () => {
  write(120, 'Are you there?');
  let refusals = 0;
  const { page } = await openDashboard(browser, gateway.url, undefined);
  await page.route('**/graphql', async route => {
    if (!isAbout(route, 'InboxStart') || refusals >= 5) return route.continue();
    refusals += 1;
    await route.abort();
  });
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await rowOf(page, 'Person 120').waitFor();
  await expect.poll(() => refusals).toBe(5);
  write(121, 'And I?');
  await rowOf(page, 'Person 121').waitFor();
});

test.each(['SERVICE_UNAVAILABLE', 'CURSOR_EXPIRED'])(
  'the inbox is live again after its stream ended with %s',
  async code => {
    const person = code === 'CURSOR_EXPIRED' ? 130 : 132;
    write(person, 'Before');
    const { page } = await openDashboard(browser, gateway.url, undefined);
    let socket: WebSocketRoute | undefined;
    let streamId: string | undefined;
    await page.routeWebSocket(/\/graphql/, client => {
      socket = client;
      const server = client.connectToServer();
      client.onMessage(message => {
        const { id, payload } = JSON.parse(String(message));
        if (payload?.operationName === 'InboxEvents') streamId = id;
        server.send(message);
      });
    });
    await page.getByLabel('Access token').fill(gateway.tenant.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await rowOf(page, `Person ${person}`).click();
    await logOf(page).getByText('Before').waitFor();
    await expect.poll(() => streamId).toBeDefined();
    const ended = streamId;
    socket?.send(JSON.stringify({ id: ended, type: 'error', payload: [{ message: 'Over.', extensions: { code } }] }));
    write(person, 'Meanwhile');
    write(person + 1, 'New here');
    await logOf(page).getByText('Meanwhile').waitFor();
    await rowOf(page, `Person ${person + 1}`).waitFor();
    await expect.poll(() => streamId).not.toBe(ended);
    write(person, 'Afterwards');
    await logOf(page).getByText('Afterwards').waitFor();
  },
);

test('the list and an open thread stay when they cannot be read again, and are read once they can', async () => {
  write(135, 'Before');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 135').click();
  await logOf(page).getByText('Before').waitFor();
  const composer = page.getByLabel('Message', { exact: true });
  await composer.fill('Half a');
  const refused = { Conversations: 0, Thread: 0 };
  await page.route('**/graphql', route => {
    const name = (['Conversations', 'Thread'] as const).find(each => isAbout(route, each));
    if (name === undefined) return route.continue();
    refused[name] += 1;
    const errors = [{ message: 'Overloaded.', extensions: { code: 'SERVICE_UNAVAILABLE' } }];
    return route.fulfill({
      status: 503,
      contentType: 'application/graphql-response+json',
      headers: { 'retry-after': '0' },
      body: JSON.stringify({ errors }),
    });
  });
  // Somebody new is in no page of the list: it is read again, as the thread is when the stream begins anew.
  write(136, 'New here');
  await page.evaluate(() => window.dispatchEvent(new Event('parley:stream-started')));
  // The client repeats a request three times: more than four are those of a second attempt, after the first has failed.
  await expect.poll(() => Math.min(...Object.values(refused))).toBeGreaterThan(4);
  await rowOf(page, 'Person 135').waitFor();
  await composer.pressSequentially(' sentence');
  expect(await composer.inputValue()).toBe('Half a sentence');
  await page.unroute('**/graphql');
  await rowOf(page, 'Person 136').waitFor();
});

test('a message that arrives while its thread is being read is shown', async () => {
  write(140, 'One');
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 140').waitFor();
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let isHeld = false;
  await page.route('**/graphql', async route => {
    if (!isAbout(route, 'Thread') || isHeld) return route.continue();
    isHeld = true;
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await rowOf(page, 'Person 140').click();
  await expect.poll(() => isHeld).toBe(true);
  write(140, 'Two');
  await listOf(page).getByText('Two', { exact: true }).waitFor();
  release();
  await logOf(page).getByText('One', { exact: true }).waitFor();
  await logOf(page).getByText('Two', { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test('a search keeps the space before a word that is yet to be typed', async () => {
  write(150, 'Find me');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const search = page.getByRole('searchbox');
  await search.pressSequentially('Person ');
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('Person');
  await search.pressSequentially('150');
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('Person 150');
  await rowOf(page, 'Person 150').waitFor();
});

test('the list is as wide as a small screen, however long the name of a colleague is', async () => {
  const input = { name: 'Wolfeschlegelsteinhausenbergerdorff '.repeat(5), email: 'long@example.com', role: 'AGENT' };
  expect(payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }')).userErrors).toEqual([]);
  const viewport = { width: 320, height: 640 };
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { viewport });
  await page.locator('option', { hasText: 'Wolfe' }).waitFor({ state: 'attached' });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  const field = await page.getByRole('searchbox').boundingBox();
  expect((field?.x ?? 0) + (field?.width ?? 0)).toBeLessThanOrEqual(320);
});

test('a key in the composer renders no message anew, however many there are', async () => {
  for (let turn = 1; turn <= 40; turn += 1) write(160, `Turn ${turn}`);
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 160').click();
  await expect.poll(() => logOf(page).getByRole('article').count()).toBe(40);
  const worded = await countWordedTimes(page);
  const composer = page.getByLabel('Message', { exact: true });
  await composer.pressSequentially('a');
  // The minute, or an event, may render the list beside it at the same moment: not at every key.
  const ofOneKey = async (): Promise<number> => {
    const before = await worded();
    await composer.pressSequentially('b');
    return (await worded()) - before;
  };
  await expect.poll(ofOneKey).toBeLessThan(40);
});

test('a busy account has each open inbox read its list every two seconds at most', async () => {
  write(170, 'Hello');
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await rowOf(page, 'Person 170').waitFor();
  let reads = 0;
  page.on('request', request => {
    if (request.url().endsWith('/graphql') && request.postDataJSON()?.operationName === 'Conversations') reads += 1;
  });
  const start = performance.now();
  for (let turn = 1; turn <= 40; turn += 1) {
    write(170, `News ${turn}`);
    await listOf(page).getByText(`News ${turn}`, { exact: true }).waitFor();
    await page.evaluate(() => new Promise(done => setTimeout(done, 100)));
  }
  expect(reads).toBeLessThanOrEqual(2 + (performance.now() - start) / 2_000);
  await rowOf(page, 'Person 170').waitFor();
});
