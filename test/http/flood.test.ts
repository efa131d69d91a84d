import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateToken } from '../../src/features/tenancy/tokens/token.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** The load that a client without a valid token can cause on the database, and its effect on other clients at the same address. */

let gateway: TestGateway;
beforeAll(async () => {
  // Every test uses another client address.
  gateway = await startGateway({ role: 'gateway', env: { PARLEY_TRUST_PROXY: 'true' } });
});
afterAll(() => gateway.stop());

interface Seen {
  readonly status: number;
  readonly code: string | undefined;
  readonly headers: Headers;
}

async function call(address: string, token: string | undefined, path = '/graphql'): Promise<Seen> {
  const isGraphQL = path === '/graphql';
  const response = await fetch(`${gateway.url}${path}`, {
    method: isGraphQL || path.startsWith('/integrations') ? 'POST' : 'GET',
    headers: {
      'x-forwarded-for': address,
      ...(isGraphQL && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(isGraphQL && { body: '{"query":"{ viewer { callsPerMinute } }"}' }),
  });
  const body = (await response.json()) as {
    errors?: { extensions: { code: string } }[];
    error?: { code: string };
  };
  return {
    status: response.status,
    code: body.errors?.[0]?.extensions.code ?? body.error?.code,
    headers: response.headers,
  };
}

const lookUps = (): number => gateway.statements.filter(text => text.includes('from access_tokens t')).length;
const flood = (address: string, count: number, path?: string): Promise<Seen[]> =>
  Promise.all(Array.from({ length: count }, () => call(address, generateToken(), path)));

test.each([
  ['GraphQL', '/graphql', '203.0.113.1'],
  ['REST', '/api/v2/contacts', '203.0.113.2'],
])(
  'a flood of invented tokens on %s is refused, and reaches the database as often as its address may call',
  async (_name, path, address) => {
    const before = lookUps();
    const startedAt = performance.now();
    const seen = await flood(address, 400, path);
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(seen.filter(({ status, code }) => status === 401 && code === 'UNAUTHORIZED')).toHaveLength(60);
    expect(seen.filter(({ status, code }) => status === 429 && code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(340);
    // And one a second for all that came after.
    expect(lookUps() - before).toBeLessThanOrEqual(60 + Math.ceil(seconds) + 1);
    // From another address an invalid token is still reported as such.
    expect((await call(`${address}9`, generateToken(), path)).status).toBe(401);
  },
);

test('behind a proxy, a client does not choose the address that its requests are charged to', async () => {
  const paths = ['/graphql', `/integrations/${'x'.repeat(32)}`];
  for (const path of paths) {
    const seen = await Promise.all(
      Array.from({ length: 61 }, (_, index) => call(`198.51.100.${index}, 203.0.113.7`, generateToken(), path)),
    );
    expect(seen.filter(({ status }) => status === 429)).toHaveLength(1);
  }
});

test('all addresses of a network of IPv6 share one limit', async () => {
  const seen = await Promise.all(
    Array.from({ length: 61 }, (_, index) => call(`2001:db8:5::${index.toString(16)}`, generateToken())),
  );
  expect(seen.filter(({ status }) => status === 429)).toHaveLength(1);
  expect((await call('2001:db8:5:1::1', generateToken())).status).toBe(401);
});

test('malformed tokens cause no statement', async () => {
  const before = lookUps();
  for (const token of ['x', generateToken().slice(0, -1), generateToken().replace(/.$/, '_')])
    expect((await call('203.0.113.3', token)).status).toBe(401);
  expect(lookUps()).toBe(before);
});

test('a valid token is accepted from a flooding address, verified before or not', async () => {
  const address = '203.0.113.4';
  const [known, fresh] = [await gateway.addToken(gateway.tenant, {}), await gateway.addToken(gateway.tenant, {})];
  await call(address, known);
  await flood(address, 100);
  const more = flood(address, 200);
  const answers = await Promise.all([call(address, known), call(address, fresh), call(address, known)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await more;
  // Seen once, it waits for no statement of others any more, and costs its address nothing.
  const before = lookUps();
  for (let count = 0; count < 10; count += 1)
    expect((await call(address, fresh)).headers.get('ratelimit')).toMatch(/^"token";r=\d+;t=\d+, "tenant"/);
  expect(lookUps() - before).toBeLessThan(10);
});

test('valid tokens cost their address nothing, however many are new', async () => {
  const address = '203.0.113.5';
  const tokens = await Promise.all(Array.from({ length: 40 }, () => gateway.addToken(gateway.tenant, {})));
  for (const token of tokens) expect((await call(address, token)).status).toBe(200);
  expect((await call(address, undefined)).headers.get('ratelimit')).toMatch(/^"address";r=59;/);
});

test('a revoked token is charged to its address again', async () => {
  const address = '203.0.113.6';
  const token = await gateway.addToken(gateway.tenant, {});
  expect((await call(address, token)).status).toBe(200);
  await gateway.database.query(
    'update access_tokens set revoked_at = now() where id = (select max(id) from access_tokens)',
  );
  gateway.gateway.resources.tokens.forgetAll();
  const refused = await call(address, token);
  expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([401, '59']);
});
