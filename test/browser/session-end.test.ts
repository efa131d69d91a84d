import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

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

const signIn = (page: Page) => page.getByRole('heading', { name: 'Sign in' });
const stored = (page: Page) => page.evaluate(() => localStorage.getItem('parley.session'));

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await signIn(page).waitFor();
}

/** Answers of the gateway to what a page asks while it cannot serve. */
const busy = (route: Route) =>
  route.fulfill({
    status: 503,
    contentType: 'application/graphql-response+json',
    headers: { 'retry-after': '0' },
    body: JSON.stringify({ errors: [{ message: 'Overloaded.', extensions: { code: 'SERVICE_UNAVAILABLE' } }] }),
  });

test('a browser stays signed in although the gateway could not serve when the page was loaded', async () => {
  const { page } = await openDashboard(browser, gateway.url, undefined);
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  await page.route('**/graphql', busy);
  await page.reload();
  await page.getByRole('alert').waitFor();
  expect(await stored(page)).toContain(gateway.tenant.token);
  await page.unroute('**/graphql');
  await page.reload();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
});

test('signing out ends the other tabs of the browser, too', async () => {
  const { page } = await openDashboard(browser, gateway.url, undefined);
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  const other = await page.context().newPage();
  await other.goto(gateway.url);
  await other.getByRole('link', { name: 'Inbox' }).waitFor();
  await other.evaluate(() => localStorage.setItem('parley.testPhone', '+14155550600'));
  await signOut(page);
  await signIn(other).waitFor();
  expect(new URL(page.url()).pathname).toBe('/');
  expect(await page.evaluate(() => Object.keys(localStorage).filter(key => key !== 'parley.theme'))).toEqual([]);
});

test('what an upload tells after signing out brings no draft back', async () => {
  gateway.emulator.inbound({ from: '+14155550611', text: 'Show me', profileName: 'Uma' });
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('list', { name: 'Conversations' }).getByText('Uma', { exact: true }).click();
  await page.getByRole('log').getByText('Show me').waitFor();
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let isAnswered = false;
  await page.route('**/graphql', async route => {
    if (!route.request().postData()?.includes('ParleyCreateUpload')) return route.continue();
    await held;
    await route.continue();
    isAnswered = true;
  });
  await page.getByLabel('Message', { exact: true }).fill('A secret of mine');
  const file = { name: 'shoe.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgo', 'base64') };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.locator('.attachment', { hasText: 'shoe.png' }).waitFor();
  await signOut(page);
  const uploaded = page.waitForResponse(
    response => response.request().postData()?.includes('ParleyCreateUpload') ?? false,
  );
  release();
  await uploaded;
  await expect.poll(() => isAnswered).toBe(true);
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('A secret of mine');
});

test('a page whose token is revoked shows the sign-in form, not what it had loaded', async () => {
  gateway.emulator.inbound({ from: '+14155550612', text: 'My secret', profileName: 'Vito' });
  const token = await gateway.addToken(gateway.tenant, {});
  const { page } = await openDashboard(browser, gateway.url, token);
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vito', { exact: true }).click();
  await page.getByRole('log').getByText('My secret').waitFor();
  const answer = await gateway.graphql('{ accessTokens(first: 100) { nodes { id hint } } }');
  const nodes: { id: string; hint: string }[] = dataOf(answer).accessTokens.nodes;
  const id = nodes.find(({ hint }) => token.endsWith(hint))?.id;
  expect(payloadOf(await gateway.mutate('revokeAccessToken', { id }, '')).userErrors).toEqual([]);
  await signIn(page).waitFor();
  await page.getByRole('alert').waitFor();
  expect(await page.getByText('My secret').count()).toBe(0);
});

test('what is being written when the token ends is there after a sign-in with another token of the account, not of another one', async () => {
  gateway.emulator.inbound({ from: '+14155550614', text: 'Any news?', profileName: 'Xaver' });
  const signInWith = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Access token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Inbox' }).waitFor();
  };
  const revoke = async (token: string): Promise<void> => {
    const { accessTokens } = dataOf(await gateway.graphql('{ accessTokens(first: 100) { nodes { id hint } } }'));
    const nodes: { id: string; hint: string }[] = accessTokens.nodes;
    const id = nodes.find(({ hint }) => token.endsWith(hint))?.id;
    expect(payloadOf(await gateway.mutate('revokeAccessToken', { id }, '')).userErrors).toEqual([]);
  };
  const token = await gateway.addToken(gateway.tenant, {});
  const { page } = await openDashboard(browser, gateway.url, undefined);
  await signInWith(page, token);
  const row = page.getByRole('list', { name: 'Conversations' }).getByText('Xaver', { exact: true });
  await row.click();
  const composer = page.getByLabel('Message', { exact: true });
  await composer.fill('Half a sen');
  await revoke(token);
  await signIn(page).waitFor();
  await signInWith(page, await gateway.addToken(gateway.tenant, {}));
  await row.click();
  expect(await composer.inputValue()).toBe('Half a sen');
  const other = await gateway.addTenant();
  await page.evaluate(each => {
    localStorage.setItem('parley.session', JSON.stringify({ token: each }));
    sessionStorage.removeItem('parley.session');
  }, other.token);
  await page.goto(gateway.url);
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  expect(await page.getByText('Half a sen').count()).toBe(0);
});

test('a page whose socket alone is refused asks once whether it is signed in, and says what was refused', async () => {
  gateway.emulator.inbound({ from: '+14155550613', text: 'Still here', profileName: 'Wim' });
  const { page } = await openDashboard(browser, gateway.url, undefined);
  let opened = 0;
  page.on('request', request => {
    if (request.postData()?.includes('"Viewer"')) opened += 1;
  });
  await page.routeWebSocket(/\/graphql/, socket => void socket.close({ code: 4403, reason: 'Forbidden' }));
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect.poll(() => opened).toBe(2);
  await page.getByRole('list', { name: 'Conversations' }).getByText('Wim', { exact: true }).click();
  await page.getByRole('log').getByText('Still here').waitFor();
  await page.getByRole('main').getByRole('alert').first().waitFor();
  // The words stand over the page: they take no column of it.
  expect((await page.getByRole('list', { name: 'Conversations' }).boundingBox())?.x).toBeLessThan(400);
  expect(opened).toBe(2);
});

test('signing out revokes the token that a link gave to the browser, also of who acts as a person, and no other', async () => {
  const input = { name: 'Xenia', email: 'xenia@example.com', role: 'ADMIN' };
  payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }'));
  const isAccepted = async (token: string) =>
    (await gateway.graphql('{ viewer { scopes } }', {}, token)).errors === undefined;
  const link = await gateway.addToken(gateway.tenant, {});
  const { page } = await openDashboard(browser, gateway.url, undefined, { path: `/#sign-in=${link}` });
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitemradio', { name: 'Xenia' }).click();
  await page.getByRole('button', { name: 'Your account: Xenia' }).waitFor();
  const { token }: { token: string } = JSON.parse((await stored(page)) ?? '');
  expect(await isAccepted(token)).toBe(true);
  await signOut(page);
  await expect.poll(() => isAccepted(token)).toBe(false);
  const typed = await gateway.addToken(gateway.tenant, {});
  await page.getByLabel('Access token').fill(typed);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const revoked: string[] = [];
  page.on('request', request => {
    if (request.postData()?.includes('RevokeDashboardToken')) revoked.push(request.url());
  });
  await signOut(page);
  await page.waitForLoadState('networkidle');
  expect(revoked).toEqual([]);
  expect(await isAccepted(typed)).toBe(true);
});

const account = (page: Page, name: string) => page.getByRole('button', { name: `Your account: ${name}` });

async function actAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitemradio', { name }).click();
  await account(page, name).waitFor();
}

test('two tabs act as different people, also after a reload', async () => {
  for (const name of ['Yara', 'Zoe']) {
    const input = { name, email: `${name.toLowerCase()}@example.com`, role: 'AGENT' };
    payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }'));
  }
  const { page: first } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const second = await first.context().newPage();
  await actAs(first, 'Yara');
  await second.goto(gateway.url);
  await account(second, 'Yara').waitFor();
  await actAs(second, 'Zoe');
  await first.reload();
  await account(first, 'Yara').waitFor();
  await second.reload();
  await account(second, 'Zoe').waitFor();
});

test('the end of a removed person leaves other tabs of the browser signed in, also after a reload', async () => {
  const ids = await Promise.all(
    ['Adam', 'Berta'].map(async name => {
      const input = { name, email: `${name.toLowerCase()}@example.com`, role: 'AGENT' };
      return payloadOf(await gateway.mutate('createStaffMember', input, 'staffMember { id }')).staffMember.id;
    }),
  );
  const { page: staying } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const removed = await staying.context().newPage();
  await actAs(staying, 'Adam');
  await removed.goto(gateway.url);
  await actAs(removed, 'Berta');
  await gateway.mutate('deleteStaffMember', { id: ids[1] }, 'deletedId');
  await signIn(removed).waitFor();
  await expect.poll(() => stored(removed)).toContain(ids[0]);
  await account(staying, 'Adam').waitFor();
  await staying.reload();
  await account(staying, 'Adam').waitFor();
});
