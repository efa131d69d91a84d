import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('the first view is 250 kB of compressed scripts at most, cached for a year, under a policy that allows this origin alone', async () => {
  const page = await fetch(`${gateway.url}/inbox/7`, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self';",
  );
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const scripts = [...(await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(match => match[1]);
  expect(scripts.length).toBeGreaterThan(0);
  let bytes = 0;
  for (const path of scripts) {
    const script = await fetch(gateway.url + path, { headers: { 'accept-encoding': 'br' } });
    expect(script.headers.get('content-encoding')).toBe('br');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    bytes += Number(script.headers.get('content-length'));
    const again = await fetch(gateway.url + path, {
      headers: { 'accept-encoding': 'br', 'if-none-match': script.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  }
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(250_000);
});

test('a token signs in until the browser signs out, and a wrong one is refused in words', async () => {
  const { page } = await openDashboard(browser, gateway.url, undefined);
  await page.getByLabel('Access token').fill('ply_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Access token').fill(gateway.tenant.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('a sign-in link signs one browser in: its token is gone from the address, and revoked', async () => {
  const token = await gateway.addToken(gateway.tenant, { expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
  const { page, faults } = await openDashboard(browser, gateway.url, undefined, { path: `/#sign-in=${token}` });
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  expect(page.url()).not.toContain('ply_');
  await page.reload();
  await page.getByRole('link', { name: 'Inbox' }).waitFor();
  expect(faults).toEqual([]);
  const second = await openDashboard(browser, gateway.url, undefined, { path: `/#sign-in=${token}` });
  await second.page.getByRole('alert').waitFor();
});

test('a sign-in link of another account asks before it replaces a session, and one of the same account does not', async () => {
  const other = await gateway.addTenant();
  const { page } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  const inbox = page.getByRole('link', { name: 'Inbox' });
  const open = async (link: string): Promise<void> => {
    await inbox.waitFor();
    await page.goto('about:blank');
    await page.goto(`${gateway.url}/#sign-in=${link}`);
  };
  const stored = () => page.evaluate(() => localStorage.getItem('parley.session') ?? '');
  const link = await gateway.addToken(other, {});
  await open(link);
  await page.getByRole('heading', { name: 'Change the account?' }).waitFor();
  expect(await stored()).toContain(gateway.tenant.token);
  await page.getByRole('button', { name: 'Stay with' }).click();
  await inbox.waitFor();
  expect(await stored()).toContain(gateway.tenant.token);
  await open(link);
  await page.getByRole('button', { name: 'Change to' }).click();
  await inbox.waitFor();
  await expect.poll(stored).not.toContain(gateway.tenant.token);
  const before = await stored();
  await open(await gateway.addToken(other, {}));
  await inbox.waitFor();
  await expect.poll(stored).not.toBe(before);
});

test('what a session may not do is not offered', async () => {
  const scopes = ['conversations:read', 'messages:read', 'contacts:read', 'channels:read'];
  gateway.emulator.inbound({ from: '+14155550177', text: 'Hello', profileName: 'Vera' });
  const { page, faults } = await openDashboard(
    browser,
    gateway.url,
    await gateway.addToken(gateway.tenant, { scopes }),
  );
  await page.getByRole('list', { name: 'Conversations' }).getByText('Vera').click();
  await page.getByRole('log').getByText('Hello').waitFor();
  expect(await page.getByRole('button', { name: 'Assign' }).count()).toBe(0);
  expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0);
  expect(faults).toEqual([]);
});

test('each language has each text, and Arabic is written from right to left', async () => {
  const keysOf = async (code: string): Promise<string[]> =>
    Object.keys(JSON.parse(await readFile(`src/dashboard/texts/${code}.json`, 'utf8')));
  const english = await keysOf('en');
  expect(await keysOf('de')).toEqual(english);
  expect(await keysOf('ar')).toEqual(english);
  const { page, faults } = await openDashboard(browser, gateway.url, gateway.tenant.token);
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitemradio', { name: 'العربية' }).click();
  await page.getByRole('link', { name: 'صندوق الوارد' }).waitFor();
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  expect(faults).toEqual([]);
});
