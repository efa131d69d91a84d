import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=';

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

/** A page that shows the conversation of a person who wrote. */
async function openConversation(text: string): Promise<Page> {
  persons += 1;
  const name = `Cleo ${persons}`;
  gateway.emulator.inbound({ from: `+1415557${String(1_000 + persons)}`, text, profileName: name });
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('list', { name: 'Conversations' }).getByText(name, { exact: true }).click();
  await page.getByRole('log').getByText(text).waitFor();
  return page;
}

/** Holds what a page asks with an operation. @returns functions that wait for it, let it through, or answer it with an error */
async function hold(page: Page, operation: string) {
  const [asked, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  await page.route('**/graphql', async route => {
    if (route.request().postDataJSON()?.operationName !== operation) return route.continue();
    asked.resolve();
    if (await decided.promise) return route.continue();
    const errors = [{ message: 'It cannot be done.', extensions: { code: 'INTERNAL_ERROR' } }];
    await route.fulfill({ contentType: 'application/graphql-response+json', body: JSON.stringify({ errors }) });
  });
  return { asked: asked.promise, allow: () => decided.resolve(true), refuse: () => decided.resolve(false) };
}

const draftOf = (page: Page) => page.locator('.composer-input');

test('a note is written once, however often Enter is pressed, and what is typed meanwhile stays', async () => {
  const page = await openConversation('Note me');
  const held = await hold(page, 'CreateNote');
  await page.keyboard.press('n');
  await draftOf(page).pressSequentially('Be kind');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await held.asked;
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await draftOf(page).pressSequentially('Dear customer');
  await page.keyboard.press('Enter');
  held.allow();
  await page.getByRole('complementary', { name: 'Details' }).getByText('Be kind').waitFor();
  expect(await draftOf(page).inputValue()).toBe('Dear customer');
  const { notes } = dataOf(
    await gateway.graphql('{ conversations(first: 1) { nodes { notes { nodes { body } } } } }', {}),
  ).conversations.nodes[0];
  expect(notes.nodes).toEqual([{ body: 'Be kind' }]);
});

test('a note that is refused goes to nobody: it is a note again, with what was typed meanwhile', async () => {
  const page = await openConversation('Note me, too');
  const held = await hold(page, 'CreateNote');
  await page.keyboard.press('n');
  await draftOf(page).pressSequentially('A difficult customer');
  await page.keyboard.press('Enter');
  await held.asked;
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  held.refuse();
  await page.getByText('It cannot be done.').waitFor();
  expect(await page.getByLabel('Note', { exact: true }).inputValue()).toBe('A difficult customer');
});

test('an answer that is refused stands before what was typed after it', async () => {
  const page = await openConversation('Answer me');
  const held = await hold(page, 'SendMessage');
  await draftOf(page).pressSequentially('The first answer');
  await page.keyboard.press('Enter');
  await held.asked;
  await draftOf(page).pressSequentially('and more');
  held.refuse();
  await page.getByText('It cannot be done.').waitFor();
  expect(await draftOf(page).inputValue()).toBe('The first answer\nand more');
});

test('a message that is quoted while the answer to another is on its way stays quoted', async () => {
  const page = await openConversation('What is the first question?');
  gateway.emulator.inbound({
    from: `+1415557${String(1_000 + persons)}`,
    text: 'And the second?',
    profileName: 'Cleo',
  });
  const bubble = (text: string) => page.getByRole('log').getByRole('article').filter({ hasText: text });
  const quote = async (text: string): Promise<void> => {
    await bubble(text).hover();
    await bubble(text).getByRole('button', { name: 'Reply to this message' }).click();
    await page.locator('.composer-quote').getByText(text).waitFor();
  };
  const held = await hold(page, 'SendMessage');
  await quote('What is the first question?');
  await draftOf(page).fill('This one');
  await draftOf(page).press('Enter');
  await held.asked;
  await quote('And the second?');
  await draftOf(page).fill('This, too');
  held.allow();
  await expect.poll(() => page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(true);
  await draftOf(page).press('Enter');
  await bubble('This, too').locator('.quote').getByText('And the second?').waitFor();
});

test('an answer that the gateway accepted, although the page did not learn it, is sent once, also after a reload', async () => {
  const page = await openConversation('Answer me once');
  await page.route('**/graphql', async route => {
    if (route.request().postDataJSON()?.operationName !== 'SendMessage') return route.continue();
    await route.fetch();
    await route.abort();
  });
  const send = async (): Promise<void> => {
    await draftOf(page).press('Enter');
    await page.locator('.composer').getByRole('alert').waitFor();
    await expect.poll(() => draftOf(page).inputValue()).toBe('Only once');
  };
  await draftOf(page).fill('Only once');
  await send();
  await page.reload();
  await page.getByRole('log').getByText('Only once').waitFor();
  await send();
  await page.unrouteAll();
  const answered = page.waitForResponse(each => each.request().postDataJSON()?.operationName === 'SendMessage');
  await draftOf(page).press('Enter');
  await answered;
  // What is written later is another message, although its words are the same.
  await draftOf(page).fill('Only once');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const texts = async (): Promise<unknown> =>
    dataOf(await gateway.graphql('{ messages(first: 3) { nodes { previewText } } }')).messages.nodes.map(
      ({ previewText }: { previewText: string }) => previewText,
    );
  await expect.poll(texts).toEqual(['Only once', 'Only once', 'Answer me once']);
});

test('an answer on its way is a draft again in a page that is loaded meanwhile, and is sent once', async () => {
  const page = await openConversation('Answer me slowly');
  const accepted = Promise.withResolvers<void>();
  await page.route('**/graphql', async route => {
    if (route.request().postDataJSON()?.operationName !== 'SendMessage') return route.continue();
    await route.fetch();
    accepted.resolve();
  });
  await draftOf(page).fill('On its way');
  await draftOf(page).press('Enter');
  await accepted.promise;
  await page.getByRole('log').getByText('On its way').waitFor();
  await draftOf(page).fill('and this');
  // Without its route the request on its way would go on, and might be answered before the page goes.
  await page.reload();
  await page.unrouteAll();
  await expect.poll(() => draftOf(page).inputValue()).toBe('On its way\nand this');
  await draftOf(page).fill('On its way');
  const answered = page.waitForResponse(each => each.request().postDataJSON()?.operationName === 'SendMessage');
  await draftOf(page).press('Enter');
  expect(await (await answered).json()).toMatchObject({ extensions: { idempotencyReplayed: true } });
  await page.reload();
  await page.getByRole('log').getByText('On its way').waitFor();
  expect(await draftOf(page).inputValue()).toBe('');
});

/** Lets the gateway write notes, and the page not learn it. @param onWritten called once one is written */
async function loseNotes(page: Page, isAborted: boolean, onWritten = (): void => undefined): Promise<void> {
  await page.route('**/graphql', async route => {
    if (route.request().postDataJSON()?.operationName !== 'CreateNote') return route.continue();
    await route.fetch();
    onWritten();
    if (isAborted) await route.abort();
  });
}

const notesOf = async (): Promise<unknown> =>
  dataOf(await gateway.graphql('{ conversations(first: 1) { nodes { notes { nodes { body } } } } }', {})).conversations
    .nodes[0].notes.nodes;

test('a note on its way is a note again in a page that is loaded meanwhile, with what was typed after it, and is written once', async () => {
  const page = await openConversation('Note me slowly');
  const written = Promise.withResolvers<void>();
  await loseNotes(page, false, written.resolve);
  await page.keyboard.press('n');
  await draftOf(page).fill('Pays late');
  await draftOf(page).press('Enter');
  await written.promise;
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await draftOf(page).fill('Dear customer');
  await page.reload();
  await page.unrouteAll();
  await expect.poll(() => page.getByLabel('Note', { exact: true }).inputValue()).toBe('Pays late\nDear customer');
  await draftOf(page).fill('Pays late');
  await draftOf(page).press('Enter');
  await page.getByRole('complementary', { name: 'Details' }).getByText('Pays late').waitFor();
  await expect.poll(() => draftOf(page).inputValue()).toBe('');
  expect(await notesOf()).toEqual([{ body: 'Pays late' }]);
});

test('a note that the gateway accepted, although the page did not learn it, is written once', async () => {
  const page = await openConversation('Note me once');
  await loseNotes(page, true);
  await page.keyboard.press('n');
  await draftOf(page).fill('Only once');
  await draftOf(page).press('Enter');
  await page.locator('.composer').getByRole('alert').waitFor();
  await page.unrouteAll();
  const answered = page.waitForResponse(each => each.request().postDataJSON()?.operationName === 'CreateNote');
  await draftOf(page).press('Enter');
  await answered;
  expect(await notesOf()).toEqual([{ body: 'Only once' }]);
});

test('an answer on its way holds the next one back, also in a thread that was left, and a reload loses neither', async () => {
  await openConversation('Another one');
  const other = `Cleo ${persons}`;
  const page = await openConversation('Answer me twice');
  const conversations = page.getByRole('list', { name: 'Conversations' });
  const held = await hold(page, 'SendMessage');
  await draftOf(page).fill('The first');
  await draftOf(page).press('Enter');
  await held.asked;
  await conversations.getByText(other, { exact: true }).click();
  await page.getByRole('log').getByText('Another one').waitFor();
  await conversations.getByText(`Cleo ${persons}`, { exact: true }).click();
  await page.getByRole('log').getByText('Answer me twice').waitFor();
  await draftOf(page).fill('The second');
  await draftOf(page).press('Enter');
  await page.reload();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await expect.poll(() => draftOf(page).inputValue()).toBe('The first\nThe second');
});

test('the picture of a file is freed once the file is removed or sent, or its writer signs out', async () => {
  const page = await openConversation('Show me');
  await page.evaluate(() => {
    const held = new Set<string>();
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = file => {
      const url = createObjectURL(file);
      document.documentElement.dataset['held'] = String(held.add(url).size);
      return url;
    };
    URL.revokeObjectURL = url => {
      held.delete(url);
      document.documentElement.dataset['held'] = String(held.size);
      revokeObjectURL(url);
    };
  });
  const held = () => page.locator('html').getAttribute('data-held');
  const buffer = Buffer.from(PNG, 'base64');
  const add = (...names: string[]) =>
    page
      .locator('.composer input[type=file]')
      .setInputFiles(names.map(name => ({ name, mimeType: 'image/png', buffer })));
  await add('one.png', 'two.png', 'three.png');
  await page.getByRole('button', { name: 'Remove two.png' }).click();
  expect(await held()).toBe('2');
  await expect.poll(() => page.locator('.attachment progress').count()).toBe(0);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(held).toBe('0');
  await add('four.png');
  expect(await held()).toBe('1');
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect.poll(held).toBe('0');
});

test('an answer is not sent without a file that could not be uploaded, until its writer removes it', async () => {
  const page = await openConversation('Where is it?');
  await page.route(
    () => true,
    route =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 413, body: '{"error":{"message":"Too large."}}' })
        : route.continue(),
  );
  const file = { name: 'map.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') };
  await page.locator('.composer input[type=file]').setInputFiles(file);
  await page.getByText('Too large.').waitFor();
  await draftOf(page).fill('See the map');
  await draftOf(page).press('Enter');
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
  expect(await draftOf(page).inputValue()).toBe('See the map');
  await page.getByRole('button', { name: 'Remove map.png' }).click();
  await draftOf(page).press('Enter');
  await page.getByRole('log').getByText('See the map').waitFor();
});

test('messages that cannot be read are asked for once, and the page says so', async () => {
  const page = await openConversation('Turn 0');
  const from = `+1415557${String(1_000 + persons)}`;
  for (let turn = 1; turn <= 45; turn += 1) gateway.emulator.inbound({ from, text: `Turn ${turn}` });
  await page.getByRole('log').getByText('Turn 45', { exact: true }).waitFor();
  const asked = { before: 0, around: 0 };
  await page.route('**/graphql', async route => {
    const { operationName, variables } = route.request().postDataJSON() ?? {};
    const side = (['before', 'around'] as const).find(name => variables?.[name] !== undefined);
    if (operationName !== 'Thread' || side === undefined) return route.continue();
    asked[side] += 1;
    const errors = [{ message: `Nothing ${side} can be read.`, extensions: { code: 'INTERNAL_ERROR' } }];
    await route.fulfill({ contentType: 'application/graphql-response+json', body: JSON.stringify({ errors }) });
  });
  const address = new URL(page.url());
  address.searchParams.set('message', 'no-such-message');
  await page.goto(address.href);
  const alert = page.getByRole('log').getByRole('alert');
  await alert.getByText('Nothing around can be read.').waitFor();
  const older = page.getByRole('button', { name: 'Older messages' });
  await older.click();
  await alert.getByText('Nothing before can be read.').waitFor();
  expect(asked).toEqual({ before: 1, around: 1 });
  await page.unrouteAll();
  await older.click();
  await page.getByRole('log').getByText('Turn 0', { exact: true }).waitFor();
  expect(await alert.count()).toBe(0);
});

test('what is typed into a contact stays when it changes, and overwrites nothing that somebody else wrote there', async () => {
  const input = { phone: '+14155579001', firstName: 'Dora', company: 'Acme' };
  const { contact } = payloadOf(await gateway.mutate('createContact', input, 'contact { databaseId }'));
  const change = async (fields: object) => {
    const answer = await gateway.mutate('updateContact', { id: contact.databaseId, ...fields }, 'contact { id }');
    expect(payloadOf(answer).userErrors).toEqual([]);
  };
  const path = `/contacts/${contact.databaseId}`;
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token, { path });
  const saved = page.getByText('Saved', { exact: true });
  const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByLabel('Last name').fill('Diaz');
  await change({ company: 'Acme Ltd' });
  // The page reads the contact again.
  await page.getByRole('button', { name: 'Add to a group' }).click();
  await page.getByLabel('Find or create a group').fill('Regulars');
  await page.getByRole('button', { name: 'Regulars' }).click();
  await expect.poll(() => page.getByLabel('Company').inputValue()).toBe('Acme Ltd');
  expect(await page.getByLabel('Last name').inputValue()).toBe('Diaz');
  await save();
  await saved.waitFor();
  await page.getByLabel('First name').fill('Dorothea');
  expect(await saved.count()).toBe(0);
  await change({ firstName: 'Dorothy' });
  await page.getByRole('button', { name: 'Remove from Regulars' }).click();
  await page.getByRole('heading', { name: 'Dorothy Diaz' }).waitFor();
  await save();
  await page.locator('.panel form').getByRole('alert').waitFor();
  expect(await page.getByLabel('First name').inputValue()).toBe('Dorothea');
  const { contact: stored } = dataOf(
    await gateway.graphql('query ($id: ID!) { contact(id: $id) { firstName lastName company } }', {
      id: contact.databaseId,
    }),
  );
  expect(stored).toEqual({ firstName: 'Dorothy', lastName: 'Diaz', company: 'Acme Ltd' });
});
