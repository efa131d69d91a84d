import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { raw } from '../graphql/transport/http.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const APP = 'https://app.example';

let gateway: TestGateway;
let open: TestGateway;
let closed: TestGateway;
beforeAll(async () => {
  [gateway, open, closed] = await Promise.all([
    startGateway({ env: { PARLEY_CORS_ORIGINS: `${APP}, https://admin.example:8443` } }),
    startGateway({ env: { PARLEY_CORS_ORIGINS: '*' } }),
    startGateway(),
  ]);
});
afterAll(async () => {
  await Promise.all([gateway, open, closed].map(one => one.stop()));
});

/** Headers with which clients wait, resume, report a fault and find created objects. */
const EXPOSED = [
  'ETag',
  'Idempotency-Replayed',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
];

const preflight = (path: string, origin: string, method: string, headers: string, of = gateway) =>
  fetch(`${of.url}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });

const call = (path: string, origin: string, of = gateway) =>
  fetch(`${of.url}${path}`, { headers: { origin, authorization: `Bearer ${of.tenant.token}` } });

const allowed = (answer: Response) => answer.headers.get('access-control-allow-origin');

describe('a page of a configured origin', () => {
  test.each([
    ['/graphql', 'POST', 'authorization,content-type'],
    ['/graphql/stream', 'PUT', 'authorization'],
    ['/graphql/stream', 'DELETE', 'authorization,x-graphql-event-stream-token'],
    ['/media/1', 'PUT', 'authorization,content-type'],
    ['/media/1', 'GET', 'authorization,range'],
    ['/api/v2/contacts', 'PATCH', 'authorization,content-type,if-match,idempotency-key'],
    ['/schema.graphql', 'GET', 'if-none-match'],
  ])('may call %s with %s: the preflight is cached for two hours and needs no token', async (path, method, headers) => {
    const answer = await preflight(path, APP, method, headers);
    expect(answer.status).toBe(204);
    expect(allowed(answer)).toBe(APP);
    expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
    expect(answer.headers.get('access-control-allow-headers')).toBe(headers);
    expect(answer.headers.get('access-control-max-age')).toBe('7200');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toMatch(/Origin/i);
  });

  test('reads answers and errors, with rate limits and entity tags, and never with credentials', async () => {
    for (const path of ['/api/v2/account', '/api/v2/contacts/999', '/schema.graphql', '/media/1']) {
      const answer = await call(path, APP);
      expect([path, allowed(answer), answer.headers.get('access-control-allow-credentials')]).toEqual([
        path,
        APP,
        null,
      ]);
      const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
    }
    const unauthorized = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { origin: APP, authorization: 'Bearer x', 'content-type': 'application/json' },
      body: '{"query":"{ viewer { scopes } }"}',
    });
    expect([unauthorized.status, allowed(unauthorized)]).toEqual([401, APP]);
  });

  test.each(['/healthz', '/readyz', '/metrics', '/network/cloud-api/webhook', '/integrations/x', '/', '/nowhere'])(
    'may not read %s: the preflight names no origin either',
    async path => {
      expect(allowed(await call(path, APP))).toBeNull();
      for (const one of [gateway, open]) {
        const answer = await preflight(path, APP, 'POST', 'content-type', one);
        const cors = [...answer.headers.keys()].filter(name => name.startsWith('access-control-'));
        expect([answer.status, cors]).toEqual([404, []]);
      }
    },
  );
});

describe('OPTIONS without preflight headers', () => {
  const ways = [
    ['/graphql', 'GET, POST, HEAD, OPTIONS'],
    ['/graphql/stream', 'GET, POST, PUT, DELETE, HEAD, OPTIONS'],
    ['/api/v2/contacts', 'GET, POST, HEAD, OPTIONS'],
    ['/media/018f0000-0000-7000-8000-000000000000', 'GET, PUT, HEAD, OPTIONS'],
    ['/media/signed/token', 'GET, HEAD, OPTIONS'],
    ['/schema.graphql', 'GET, HEAD, OPTIONS'],
  ] as const;
  test.each(ways)('of %s is answered with its methods, whatever origins are configured', async (path, allow) => {
    for (const one of [gateway, open, closed]) {
      const answer = await fetch(`${one.url}${path}`, { method: 'OPTIONS' });
      expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([204, allow, '']);
    }
  });

  test('of a path that does not exist is 404', async () => {
    for (const one of [gateway, open, closed])
      expect((await fetch(`${one.url}/api/v2/nothing`, { method: 'OPTIONS' })).status).toBe(404);
  });

  test('is the answer to a preflight if no origin is configured', async () => {
    const answer = await preflight('/graphql', APP, 'POST', 'content-type', closed);
    expect([answer.status, answer.headers.get('allow'), allowed(answer)]).toEqual([204, ways[0][1], null]);
  });

  test.each([
    ['PUT', '/graphql', ways[0][1]],
    ['PATCH', '/graphql/stream', ways[1][1]],
  ])('%s of %s is refused with the methods that are possible, in the shape of GraphQL', async (method, path, allow) => {
    const answer = await fetch(`${gateway.url}${path}`, { method });
    expect([answer.status, answer.headers.get('allow'), await answer.json()]).toEqual([
      405,
      allow,
      expect.objectContaining({
        errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'METHOD_NOT_ALLOWED' }) })],
      }),
    ]);
  });
});

test.each(['https://app.example.evil.example', 'http://app.example', 'https://admin.example', 'null'])(
  'a page of %s may not',
  async origin => {
    expect(allowed(await preflight('/graphql', origin, 'POST', 'content-type'))).toBeNull();
    expect(allowed(await call('/api/v2/account', origin))).toBeNull();
  },
);

test('every origin is allowed if * is configured', async () => {
  expect(allowed(await preflight('/graphql', 'https://anywhere.example', 'POST', 'content-type', open))).toBe('*');
  expect(allowed(await call('/api/v2/account', 'https://anywhere.example', open))).toBe('*');
});

test('no other origin is allowed by default', async () => {
  expect(allowed(await preflight('/graphql', APP, 'POST', 'content-type', closed))).toBeNull();
  expect(allowed(await call('/api/v2/account', APP, closed))).toBeNull();
});

test('a GET that any page could make a browser send is refused', async () => {
  const get = async (headers: Record<string, string>) =>
    (await fetch(`${gateway.url}/graphql?query=%7B__typename%7D`, { headers })).status;
  expect(await get({ accept: 'application/json' })).toBe(400);
  expect(await get({ accept: 'application/json', 'content-type': 'text/plain' })).toBe(400);
  for (const header of ['apollo-require-preflight', 'graphql-require-preflight', 'x-apollo-operation-name'])
    expect(await get({ accept: 'application/json', [header]: 'true' })).toBe(200);
  expect(await get({ accept: 'application/json', 'content-type': 'application/json' })).toBe(200);
});

describe('security headers', () => {
  const expected = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  test.each([
    '/graphql?query=%7B__typename%7D',
    '/api/v2/account',
    '/api/v1/tenant-1/nothing',
    '/nowhere',
    '/healthz',
    '/%ff',
    '/schema.graphql',
  ])('are in the answer of %s', async path => {
    expect(Object.fromEntries((await call(path, APP)).headers)).toMatchObject(expected);
  });

  test('are in the answer to malformed HTTP', async () => {
    const answer = await raw(gateway.url, 'NONSENSE / HTTP/1.1\r\n\r\n');
    for (const [name, value] of Object.entries(expected)) expect(answer).toContain(`${name}: ${value}`);
  });
});
