import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { bearerToken } from '../../src/http/authenticate.ts';
import {
  createMemoryRateLimits,
  type QuotaState,
  rateLimitHeaders,
  resetSeconds,
} from '../../src/platform/rate-limits.ts';
import { startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

interface Seen {
  readonly status: number;
  readonly policy: Record<string, { q: number; w: number }>;
  readonly state: Record<string, { r: number; t: number }>;
  readonly old: {
    readonly limit: number;
    readonly remaining: number;
    readonly reset: string | null;
    readonly retryAfter: string | null;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly body: any;
}

/** `"token";r=42;t=17, "tenant";r=…` as an object. */
function structured(header: string | null): Record<string, Record<string, number>> {
  return Object.fromEntries(
    (header ?? '').split(', ').map(item => {
      const [name = '', ...parameters] = item.split(';');
      return [
        name.slice(1, -1),
        Object.fromEntries(parameters.map(parameter => [parameter.split('=')[0], Number(parameter.split('=')[1])])),
      ];
    }),
  );
}

async function call(token: string | undefined, path = '/graphql'): Promise<Seen> {
  const graphql = path === '/graphql';
  const response = await fetch(`${gateway.url}${path}`, {
    method: graphql ? 'POST' : 'GET',
    headers: {
      ...(graphql && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(graphql && { body: '{"query":"{ viewer { callsPerMinute } }"}' }),
  });
  const { headers } = response;
  return {
    status: response.status,
    policy: structured(headers.get('ratelimit-policy')) as Seen['policy'],
    state: structured(headers.get('ratelimit')) as Seen['state'],
    old: {
      limit: Number(headers.get('x-ratelimit-limit')),
      remaining: Number(headers.get('x-ratelimit-remaining')),
      reset: headers.get('x-ratelimit-reset'),
      retryAfter: headers.get('retry-after'),
    },
    body: await response.json(),
  };
}

async function calls(count: number, token: string | undefined, path?: string): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (let n = 0; n < count; n += 1) seen.push(await call(token, path));
  return seen;
}

describe('the limit of a token', () => {
  // The minute of these calls does not end, however slow the machine is.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  test('lets 60 calls a minute through and refuses the 61st, with headers that agree with one another', async () => {
    const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 60 });
    const seen = await calls(60, token);
    for (const [index, { status, policy, state, old }] of seen.entries()) {
      expect(status).toBe(200);
      expect(policy).toEqual({ token: { q: 60, w: 60 }, tenant: { q: 6_000, w: 60 } });
      expect(state['token']?.r).toBe(59 - index);
      expect(old).toEqual({ limit: 60, remaining: 59 - index, reset: null, retryAfter: null });
      expect(state['token']?.t).toBeGreaterThanOrEqual(1);
      expect(state['token']?.t).toBeLessThanOrEqual(60);
    }
    const refused = await call(token);
    expect([refused.status, refused.state['token']?.r, refused.old.limit, refused.old.remaining]).toEqual([
      429, 0, 60, 0,
    ]);
    const seconds = Number(refused.old.retryAfter);
    expect(seconds).toBe(refused.state['token']?.t);
    expect(Math.abs(Number(refused.old.reset) - (Date.now() / 1_000 + seconds))).toBeLessThanOrEqual(2);
    expect(refused.body.errors).toEqual([
      expect.objectContaining({
        extensions: { code: 'RATE_LIMIT_EXCEEDED', details: { retry_after: seconds, limit: 60 } },
      }),
    ]);
  });

  test('is reported by REST in the same headers, also on errors, and is reset with its window', async () => {
    const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 60 });
    const seen = await calls(57, token, '/api/v2/contacts');
    const odd = [
      await call(token, '/api/v2/contacts?sort=nothing'),
      await call(token, '/api/v2/contacts/0'),
      await call(token, '/api/v2/contacts?per_page=1000'),
    ];
    expect(odd.map(({ status }) => status)).toEqual([422, 404, 422]);
    for (const [index, { policy, state, old }] of [...seen, ...odd].entries()) {
      expect(policy).toEqual({ token: { q: 60, w: 60 }, tenant: { q: 6_000, w: 60 } });
      expect(state['token']?.r).toBe(59 - index);
      expect(old).toEqual({ limit: 60, remaining: 59 - index, reset: null, retryAfter: null });
    }
    const refused = await call(token, '/api/v2/contacts');
    expect([refused.status, refused.old.limit, refused.old.remaining, refused.state['token']?.r]).toEqual([
      429, 60, 0, 0,
    ]);
    const seconds = Number(refused.old.retryAfter);
    expect(refused.body.error).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { retry_after: seconds, limit: 60 },
    });
    expect(seconds).toBe(refused.state['token']?.t);
    vi.setSystemTime(Date.now() + seconds * 1_000);
    expect(Math.abs(Number(refused.old.reset) - Date.now() / 1_000)).toBeLessThanOrEqual(2);
    expect(await call(token, '/api/v2/contacts')).toMatchObject({
      status: 200,
      state: { token: { r: 59, t: 60 } },
      old: { limit: 60, remaining: 59, retryAfter: null, reset: null },
    });
  });

  test('defaults to 60 and never exceeds the plan', async () => {
    const name = `plan-600-${Math.random()}`;
    await gateway.database.query('insert into plans (name, calls_per_minute) values ($1, 600)', [name]);
    const tenant = await gateway.addTenant({ plan: name, channel: false });
    const token = await gateway.addToken(tenant, { callsPerMinute: 600 });
    // As when the plan was a larger one, once.
    await gateway.database.query('update access_tokens set calls_per_minute = 1000 where tenant_id = $1', [tenant.id]);
    const seen = await call(token);
    expect(seen.policy).toEqual({ token: { q: 600, w: 60 }, tenant: { q: 600, w: 60 } });
    expect([seen.old.limit, seen.old.remaining, seen.body.data.viewer.callsPerMinute]).toEqual([600, 599, 600]);
    const made = await gateway.graphql(
      'mutation { createAccessToken(input: { name: "plain", scopes: [CONTACTS_READ] }) { token } }',
    );
    expect((await call(made.data.createAccessToken.token)).policy).toMatchObject({ token: { q: 60, w: 60 } });
  });

  test('is shared by GraphQL and REST', async () => {
    const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 4 });
    expect((await calls(2, token)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await calls(3, token, '/api/v2/contacts')).map(({ status }) => status)).toEqual([200, 200, 429]);
    expect((await call(token)).status).toBe(429);
  });

  test('is exact for concurrent calls', async () => {
    const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 10 });
    const statuses = (await Promise.all(Array.from({ length: 30 }, () => call(token)))).map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(10);
    expect(statuses.filter(status => status === 429)).toHaveLength(20);
  });
});

describe('the limit of a tenant', () => {
  const limited = async (callsPerMinute: number): Promise<TestTenant> => {
    const name = `plan-${callsPerMinute}-${Math.random()}`;
    await gateway.database.query('insert into plans (name, calls_per_minute) values ($1, $2)', [name, callsPerMinute]);
    return gateway.addTenant({ plan: name, channel: false });
  };

  test('is shared by its tokens and separate from other tenants', async () => {
    const tenant = await limited(10);
    const [a, b] = [
      await gateway.addToken(tenant, { callsPerMinute: 8 }),
      await gateway.addToken(tenant, { callsPerMinute: 8 }),
    ];
    expect((await calls(6, a)).at(-1)?.state).toMatchObject({ token: { r: 2 }, tenant: { r: 4 } });
    const rest = await calls(5, b);
    expect(rest.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(rest.at(-1)).toMatchObject({
      policy: { token: { q: 8 }, tenant: { q: 10 } },
      // Nothing was left of the tenant: the refused call costs the token nothing.
      state: { token: { r: 4 }, tenant: { r: 0 } },
      old: { limit: 10, remaining: 0 },
    });
    expect((await call(gateway.tenant.token)).status).toBe(200);
  });

  test('is not charged for calls refused by the limit of a token', async () => {
    const tenant = await limited(10);
    const [greedy, modest] = [
      await gateway.addToken(tenant, { callsPerMinute: 2 }),
      await gateway.addToken(tenant, { callsPerMinute: 10 }),
    ];
    const seen = await calls(20, greedy);
    expect(seen.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(seen.at(-1)?.state).toMatchObject({ token: { r: 0 }, tenant: { r: 8 } });
    expect((await calls(8, modest)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await call(modest)).status).toBe(429);
  });
});

test('requests without a valid token are limited to 60 per minute per IP address and cost no tenant anything', async () => {
  const before = (await call(gateway.tenant.token)).state['tenant']?.r ?? 0;
  const seen = [...(await calls(40, undefined)), ...(await calls(40, 'x'))];
  expect(seen.filter(({ body }) => body.errors[0].extensions.code === 'UNAUTHORIZED')).toHaveLength(60);
  expect(seen.filter(({ body }) => body.errors[0].extensions.code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(20);
  expect(seen.at(-1)).toMatchObject({
    status: 429,
    policy: { address: { q: 60, w: 60 } },
    state: { address: { r: 0 } },
  });
  const after = await call(gateway.tenant.token);
  expect([after.status, after.state['tenant']?.r]).toEqual([200, before - 1]);
});

describe('the headers of any state of quotas', () => {
  const state = fc
    .record({
      name: fc.constantFrom('token', 'tenant', 'address'),
      key: fc.string(),
      limit: fc.integer({ min: 1, max: 10_000 }),
      used: fc.integer({ min: 0, max: 12_000 }),
      resetMs: fc.integer({ min: 1, max: 60_000 }),
    })
    .map(
      ({ used, ...quota }): QuotaState => ({
        ...quota,
        remaining: Math.max(0, quota.limit - used),
        exceeded: used > quota.limit,
      }),
    );

  test('name every quota, the tightest in the X- headers, and Retry-After exactly when one is exceeded', () => {
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 3 }), fc.nat(2 ** 42), (states, now) => {
        const headers = rateLimitHeaders(states, now);
        expect(headers['RateLimit-Policy']?.split(', ')).toEqual(
          states.map(({ name, limit }) => `"${name}";q=${limit};w=60`),
        );
        expect(headers['RateLimit']?.split(', ')).toEqual(
          states.map(one => `"${one.name}";r=${one.remaining};t=${resetSeconds(one)}`),
        );
        const exceeded = states.find(one => one.exceeded);
        expect(Number(headers['X-RateLimit-Remaining'])).toBe(Math.min(...states.map(one => one.remaining)));
        expect([headers['Retry-After'], headers['X-RateLimit-Reset']].map(value => value !== undefined)).toEqual([
          exceeded !== undefined,
          exceeded !== undefined,
        ]);
        if (!exceeded) return;
        // A client that waits for Retry-After is not too early.
        expect(Number(headers['Retry-After']) * 1_000).toBeGreaterThanOrEqual(exceeded.resetMs);
        expect(Number(headers['X-RateLimit-Reset']) * 1_000).toBeGreaterThanOrEqual(now + exceeded.resetMs);
      }),
    );
  });

  test('quotas are charged in order, up to the first that is exceeded', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 15 }),
        async (maxima, times) => {
          const limits = createMemoryRateLimits();
          const used = maxima.map(() => 0);
          for (let n = 0; n < times; n += 1) {
            const states = await limits.consume(
              maxima.map((limit, index) => ({ name: `q${index}`, key: 'k', limit })),
              1,
            );
            let refused = false;
            for (const [index, limit] of maxima.entries()) {
              if (!refused) used[index] = (used[index] ?? 0) + 1;
              const exceeded: boolean = !refused && (used[index] ?? 0) > limit;
              refused ||= exceeded;
              expect(states[index]).toMatchObject({ exceeded, remaining: Math.max(0, limit - (used[index] ?? 0)) });
            }
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

test('a bearer token is read with any case of the scheme, and from no other header value', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'abcXYZ019_-.~+/='), minLength: 1 }),
      fc.constantFrom('Bearer', 'bearer', 'BEARER'),
      fc.constantFrom(' ', '   '),
      (token, scheme, space) => bearerToken(scheme + space + token) === token,
    ),
  );
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'Basic abc',
    'Bearerabc',
    'Token abc',
    ' Bearer abc',
  ])
    expect(bearerToken(header), header).toBeUndefined();
});
