import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLES, type ExampleName } from '../../src/dashboard/ui/examples.ts';
import { dataOf } from '../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';
import { openDashboard } from './dashboard.ts';

let gateway: TestGateway;
let browser: Browser;
/** Has nothing at all. */
let bare: TestTenant;
/** Has the command `parley`, as an installation has it. */
let commands: string;

beforeAll(async () => {
  // Each account but those of the first two tenants has a template.
  const templates = Array.from({ length: 20 }, (_, index) => ({
    wabaId: `${2_003 + index}`,
    name: 'greeting',
    language: 'en',
    category: 'UTILITY' as const,
    components: [{ type: 'BODY', text: 'Hello!' }],
  }));
  gateway = await startGateway({ emulator: { templates }, phones: true });
  bare = await gateway.addTenant();
  browser = await launchChromium();
  commands = await mkdtemp(join(tmpdir(), 'parley-commands-'));
  await writeFile(
    join(commands, 'parley'),
    `#!/bin/sh\nexec "${process.execPath}" "${resolve('src/launch.js')}" "$@"\n`,
  );
  await chmod(join(commands, 'parley'), 0o755);
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await rm(commands, { recursive: true, force: true });
});

/** The examples that a page without data prints, by their kind. */
async function examplesOf(path: string, { token }: TestTenant): Promise<Record<string, string>> {
  const { page, faults } = await openDashboard(browser, gateway.url, token, { path });
  const examples = page.locator('.examples');
  await examples.waitFor();
  const directory = process.env['PARLEY_LOOK'];
  if (directory !== undefined) {
    await mkdir(directory, { recursive: true });
    await page.screenshot({ path: `${directory}/empty${path.replaceAll('/', '-')}.png` });
  }
  const found: Record<string, string> = {};
  if (path === '/inbox' || path === '/campaigns' || path === '/live') await examples.getByText('greeting').waitFor();
  for (const tab of await examples.getByRole('button').filter({ hasNotText: 'Copy' }).all()) {
    await tab.click();
    found[await tab.innerText()] = await examples.locator('pre').innerText();
  }
  expect(faults).toEqual([]);
  return found;
}

const run = promisify(execFile);

/** Runs an example as its reader does. */
async function works(kind: string, text: string, tenant: TestTenant): Promise<void> {
  if (kind === 'GraphQL') return expectNoError(dataOf(await gateway.graphql(text, {}, tenant.token)));
  const env = {
    PATH: `${commands}:${process.env['PATH']}`,
    TOKEN: tenant.token,
    DATABASE_URL: gateway.database.url,
    PARLEY_SECRET_KEY: gateway.secretKey,
    PARLEY_NETWORK_URL: gateway.emulator.url,
    ACCESS_TOKEN: 'access',
    APP_SECRET: 'test-app-secret',
    VERIFY_TOKEN: 'test-verify-token',
  };
  if (kind === 'Command line') {
    await run('sh', ['-c', text], { env });
    return;
  }
  expect(kind).toBe('curl');
  const { stdout } = await run('sh', ['-c', text.replace(/^curl/, `curl -s -w '\\n%{http_code}'`)], { env });
  const lines = stdout.trim().split('\n');
  expect(lines.pop()).toMatch(/^20[0-2]$/);
  const answer = JSON.parse(lines.join('\n'));
  expect(answer.errors ?? []).toEqual([]);
  expectNoError(answer.data);
}

/** No payload has a user error. */
function expectNoError(data: unknown): void {
  expect(JSON.stringify(data ?? null)).not.toMatch(/"userErrors":\[\{/);
}

async function allWork(path: string, tenant: TestTenant, kinds: readonly string[]): Promise<void> {
  const examples = await examplesOf(path, tenant);
  expect(Object.keys(examples)).toEqual(kinds);
  for (const [kind, text] of Object.entries(examples)) await works(kind, text, tenant);
}

const PAGES: readonly (readonly [path: string, example: ExampleName, kinds: readonly string[]])[] = [
  ['/contacts', 'contact', ['curl', 'GraphQL']],
  ['/templates', 'template', ['curl', 'GraphQL']],
  ['/bots', 'bot', ['curl', 'GraphQL']],
  ['/webhooks', 'webhook', ['curl', 'GraphQL']],
  ['/shops', 'shop', ['curl', 'GraphQL']],
  ['/staff', 'staff', ['curl', 'GraphQL', 'Command line']],
];
const PAGES_WITH_TEMPLATE: typeof PAGES = [
  ['/inbox', 'message', ['curl', 'GraphQL']],
  ['/live', 'message', ['curl', 'GraphQL']],
  ['/campaigns', 'campaign', ['curl', 'GraphQL', 'Command line']],
];

test('every example that a page may show is run by one of these tests', () => {
  const run = [...PAGES, ...PAGES_WITH_TEMPLATE].map(([, example]) => example);
  expect(new Set([...run, 'phone', 'channel'])).toEqual(new Set(Object.keys(EXAMPLES)));
});

test.each(PAGES)('%s without data prints examples that work as they stand', async (path, _, kinds) => {
  await allWork(path, bare, kinds);
});

test.each(PAGES_WITH_TEMPLATE)(
  '%s without data prints examples that work as they stand, with a template of the account',
  async (path, _, kinds) => {
    const tenant = await gateway.addTenant();
    dataOf(await gateway.graphql('mutation { syncTemplates(input: {}) { totalCount } }', {}, tenant.token));
    await allWork(path, tenant, kinds);
  },
);

test('/phone without a contact prints how a customer writes to this account, and then shows the phone', async () => {
  const tenant = await gateway.addTenant();
  const { page, faults } = await openDashboard(browser, gateway.url, tenant.token, { path: '/phone' });
  const example = page.locator('.examples pre').getByText(tenant.phoneNumberId);
  await works('curl', await example.innerText(), tenant);
  await page.getByRole('region', { name: 'Ana’s phone' }).waitFor();
  expect(faults).toEqual([]);
  await allWork('/phone', await gateway.addTenant(), ['curl', 'GraphQL']);
});

test('/channels without a number prints the command that connects one', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const number = { phoneNumberId: '106540352242922', wabaId: '102290129340398', accessToken: 'access' };
  const shown = { displayPhoneNumber: '+1 555 078 3881', verifiedName: 'Acme', messagesPerSecond: 80 };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
    method: 'POST',
    body: JSON.stringify({ ...number, ...shown }),
  });
  await allWork('/channels', tenant, ['Command line']);
  const { channels } = dataOf(await gateway.graphql('{ channels { nodes { displayPhoneNumber } } }', {}, tenant.token));
  expect(channels.nodes).toEqual([{ displayPhoneNumber: '+1 555 078 3881' }]);
});
