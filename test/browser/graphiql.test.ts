import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { dataOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium, newContext } from './chromium.ts';

const CREATE = 'mutation ($name: String!) { createContactGroup(input: { name: $name }) { contactGroup { id } } }';

let gateway: TestGateway;
let browser: Browser;

beforeAll(async () => {
  gateway = await startGateway({ graphiql: true });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

test('a subscription in GraphiQL gets its events with the token that development puts there, under the same policy', async () => {
  const { graphiql } = gateway.gateway.resources.config;
  const token = graphiql ? graphiql.token : undefined;
  const { page, faults } = await openSubscription(gateway);
  await page.getByRole('button', { name: /execute query/i }).click();
  await expectEvents(gateway, page, token);
  expect(faults).toEqual([]);
});

test('a subscription in GraphiQL gets its events with the token that a person types into the headers', async () => {
  const plain = await startGateway({ env: { PARLEY_GRAPHIQL: 'true' } });
  onTestFinished(() => plain.stop());
  const { page, faults } = await openSubscription(plain);
  await page.getByRole('button', { name: 'Headers' }).click();
  await page.locator('.monaco-editor[data-uri$="request-headers.json"]').click();
  // Pasted, because the editor closes brackets and quotes that are typed.
  await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${plain.tenant.token}` }));
  await page.getByRole('button', { name: /execute query/i }).click();
  await expectEvents(plain, page, plain.tenant.token);
  expect(faults).toEqual([]);
});

async function openSubscription({ url }: TestGateway) {
  const page = await (await newContext(browser)).newPage();
  const faults: string[] = [];
  page.on('pageerror', error => faults.push(error.message));
  page.on('console', message => {
    // The schema is asked for before a token is typed.
    if (message.type() === 'error' && !message.text().includes('401')) faults.push(message.text());
  });
  const query = 'subscription Watch { events(filter: { types: [GROUP_CREATED] }) { type } }';
  const response = await page.goto(`${url}/graphql?query=${encodeURIComponent(query)}`);
  expect(response?.headers()['content-security-policy']).toContain("connect-src 'self'");
  return { page, faults };
}

async function expectEvents(of: TestGateway, page: Page, token: string | undefined): Promise<void> {
  let count = 0;
  await expect
    .poll(
      async () => {
        // One more each time: the first may come before the subscription stands.
        count += 1;
        dataOf(await of.graphql(CREATE, { name: `Watched ${count}` }, token));
        return page.locator('.result-window').innerText();
      },
      { timeout: 120_000, interval: 200 },
    )
    .toContain('"GROUP_CREATED"');
}

test('GraphiQL opens in a browser, loads nothing from elsewhere, and runs a query with the token that development puts there', async () => {
  const context = await newContext(browser);
  const page = await context.newPage();
  const foreign: string[] = [];
  const faults: string[] = [];
  page.on('request', request => {
    if (!request.url().startsWith(gateway.url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  page.on('pageerror', error => faults.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') faults.push(message.text());
  });
  const response = await page.goto(
    `${gateway.url}/graphql?query=${encodeURIComponent('query Who { viewer { account { subdomain } } }')}`,
  );
  expect(response?.headers()['content-security-policy']).toMatch(/script-src 'nonce-[^']+';/);
  await page.getByRole('button', { name: /execute query/i }).click();
  await expect.poll(() => page.locator('.result-window').innerText()).toContain('"graphiql"');
  expect(foreign).toEqual([]);
  expect(faults).toEqual([]);
});
