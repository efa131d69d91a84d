import { afterAll, beforeAll, expect, test } from 'vitest';
import { raw } from '../graphql/transport/http.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** What curl --http2 and Java's HttpClient send with their first request to an http: address. */
const H2C = 'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA';

const ask = (method: string, path: string, upgrade: string, body = ''): Promise<string> =>
  raw(
    gateway.url,
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.tenant.token}\r\n${upgrade}\r\n${
      body && `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    }\r\n${body}`,
  );

test.each([
  ['REST v2, a list', 'GET', '/api/v2/contacts', '', 200, '"success":true'],
  ['REST v2, a creation', 'POST', '/api/v2/groups', '{"name":"One"}', 201, '"name":"One"'],
  ['REST v1', 'GET', '/api/v1/tenant-1/contacts', '', 200, '"status":"success"'],
  ['GraphQL', 'POST', '/graphql', '{"query":"{ viewer { account { subdomain } } }"}', 200, '"tenant-1"'],
  ['health', 'GET', '/healthz', '', 200, '"ok"'],
  ['an unknown path', 'GET', '/nowhere', '', 404, 'NOT_FOUND'],
])(
  '%s: an offer to upgrade to h2c is ignored, and the request is answered',
  async (_name, method, path, body, status, text) => {
    const answer = await ask(method, path, H2C, body);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(text);
  },
);

test('a WebSocket upgrade at another path or method is ignored as well', async () => {
  const upgrade =
    'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
  expect(await ask('GET', '/api/v2/contacts', upgrade)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask('POST', '/graphql', upgrade, '{"query":"{ viewer { scopes } }"}')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask('GET', '/elsewhere', upgrade)).toMatch(/^HTTP\/1\.1 404 /);
});
