import { afterAll, beforeAll, expect, test } from 'vitest';
import { isTrustedHost } from '../../../src/graphql/transport/graphiql.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { raw } from './http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ graphiql: true, env: { PARLEY_ALLOWED_HOSTS: 'parley.local, dev.example' } });
});
afterAll(() => gateway.stop());

const page = (headers: string): Promise<string> =>
  raw(gateway.url, `GET /graphql HTTP/1.1\r\n${headers}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
const TOKEN = /Bearer \w{8}/;

test.each([
  ['the address with its port', 'Host: 127.0.0.1:4000'],
  ['localhost', 'Host: localhost:1'],
  ['localhost in capitals', 'Host: LOCALHOST'],
  ['the loopback address of IPv6', 'Host: [::1]:4000'],
  ['a configured name', 'Host: parley.local:4000'],
  ['a configured name, with its origin', 'Host: dev.example\r\nOrigin: http://dev.example'],
])('Host is %s: GraphiQL contains the development token', async (_name, headers) => {
  const answer = await page(headers);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toMatch(TOKEN);
});

test.each([
  ['a foreign name', 'Host: evil.example:4000'],
  ['a foreign name with ours as its prefix', 'Host: localhost.evil.example'],
  ['a foreign name with ours as its suffix', 'Host: evil-localhost'],
  ['a foreign address', 'Host: 10.0.0.7:4000'],
  ['a subdomain of ours', 'Host: x.parley.local'],
  ['user information before our address', 'Host: evil@127.0.0.1'],
  ['an empty name', 'Host: '],
  ['our name with a foreign Origin', 'Host: localhost\r\nOrigin: http://evil.example'],
  ['our name with an opaque Origin', 'Host: localhost\r\nOrigin: null'],
  ['our name only in X-Forwarded-Host', 'Host: evil.example\r\nX-Forwarded-Host: localhost'],
])('Host is %s: GraphiQL contains no token', async (_name, headers) => {
  expect(await page(headers)).not.toMatch(TOKEN);
});

test('GraphiQL runs only its own script, is not cached, and cannot be framed', async () => {
  const [one, two] = await Promise.all([page('Host: localhost'), page('Host: localhost')]);
  const policyOf = (answer: string) => /^content-security-policy: (.*)\r$/im.exec(answer)?.[1] ?? '';
  const nonceOf = (answer: string) => /script-src 'nonce-([^']+)'/.exec(policyOf(answer))?.[1];
  expect(policyOf(one)).toMatch(/^default-src 'none'; script-src 'nonce-[^' ]{20,}'; /);
  expect(policyOf(one)).toContain("frame-ancestors 'none'");
  expect(policyOf(one)).not.toMatch(/script-src[^;]*unsafe/);
  expect(one).toContain(`<script nonce="${nonceOf(one)}">`);
  expect(nonceOf(one)).not.toBe(nonceOf(two));
  expect(one).toMatch(/^cache-control: no-store\r$/im);
});

test('a request without a Host header is not trusted', () => {
  expect(isTrustedHost({}, ['127.0.0.1'])).toBe(false);
  expect(isTrustedHost({ host: 'gateway.internal' }, ['gateway.internal'])).toBe(true);
});
