import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { launchChromium } from './chromium.ts';

const CREATE = 'mutation ($name: String!) { createGroup(input: { name: $name }) { id } }';

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

test('a subscription in GraphiQL gets its events over a WebSocket, under the same policy', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const sockets: string[] = [];
  const faults: string[] = [];
  page.on('websocket', socket => sockets.push(socket.url()));
  page.on('pageerror', error => faults.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') faults.push(message.text());
  });
  const query = 'subscription Watch { events(types: ["group.created"]) { type } }';
  const response = await page.goto(`${gateway.url}/graphql?query=${encodeURIComponent(query)}`);
  expect(response?.headers()['content-security-policy']).toContain("connect-src 'self'");
  await page.getByRole('button', { name: /execute query/i }).click();
  const { graphiql } = gateway.gateway.resources.config;
  const token = graphiql ? graphiql.token : undefined;
  let count = 0;
  await expect
    .poll(
      async () => {
        // One more each time: the first may come before the subscription stands.
        count += 1;
        const name = `Watched ${count}`;
        dataOf(await gateway.graphql(CREATE, { name }, token));
        return page.locator('.result-window').innerText();
      },
      { timeout: 15_000, interval: 200 },
    )
    .toContain('"group.created"');
  expect(sockets).toEqual([`${gateway.url.replace('http', 'ws')}/graphql`]);
  expect(faults).toEqual([]);
});

test('GraphiQL opens in a browser, loads nothing from elsewhere, and runs a query with the token that development puts there', async () => {
  const context = await browser.newContext();
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
    `${gateway.url}/graphql?query=${encodeURIComponent('query Who { viewer { tenant { slug } } }')}`,
  );
  expect(response?.headers()['content-security-policy']).toMatch(/script-src 'nonce-[^']+';/);
  await page.getByRole('button', { name: /execute query/i }).click();
  await expect.poll(() => page.locator('.result-window').innerText(), { timeout: 10_000 }).toContain('"graphiql"');
  expect(foreign).toEqual([]);
  expect(faults).toEqual([]);
});
