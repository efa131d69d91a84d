import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/core/scopes.ts';
import { raw } from '../graphql/transport/http.ts';
import { startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, TIMESTAMP, UUID } from './client.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;

beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_BODY_LIMIT: '4096' } });
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = restOf(gateway, tenant);
});
afterAll(() => gateway.stop());

const problem = { accept: 'application/problem+json' };

describe('an answer', () => {
  it('has its request id in header, body and log', async () => {
    const { headers, body } = await rest('GET', '/groups');
    expect(body.meta).toMatchObject({
      request_id: expect.stringMatching(UUID),
      timestamp: expect.stringMatching(TIMESTAMP),
    });
    expect(headers.get('x-request-id')).toBe(body.meta.request_id);
    expect(gateway.logs.some(line => line['requestId'] === body.meta.request_id)).toBe(true);
  });

  it('is JSON in UTF-8, with the remaining rate limit', async () => {
    const { headers } = await rest('GET', '/groups');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    expect(headers.get('ratelimit-policy')).toContain('"token"');
  });
});

describe('a caller', () => {
  it('needs a valid token, before the body is read', async () => {
    for (const authorization of ['', 'Bearer nonsense', 'Basic YTpi']) {
      const { status, headers, body } = await rest('POST', '/contacts', '{', { authorization });
      expect(headers.get('www-authenticate')).toBe('Bearer');
      expect([authorization, status, body.error.code]).toEqual([authorization, 401, 'UNAUTHORIZED']);
      expect(body).toMatchObject({ success: false, meta: { request_id: expect.stringMatching(UUID) } });
    }
  });

  it.each([
    ['GET', '/contacts', 'contacts:read', undefined],
    ['POST', '/contacts', 'contacts:write', { phone: '+4915112345678' }],
    ['GET', '/contacts/1', 'contacts:read', undefined],
    ['PATCH', '/contacts/1', 'contacts:write', {}],
    ['DELETE', '/contacts/1', 'contacts:delete', undefined],
    ['POST', '/contacts/batch', 'contacts:write', { contacts: [{ phone: '+4915112345678' }] }],
    ['DELETE', '/contacts/batch', 'contacts:delete', { ids: [1] }],
    ['GET', '/groups', 'groups:read', undefined],
    ['POST', '/groups', 'groups:write', { name: 'x' }],
    ['GET', '/groups/1', 'groups:read', undefined],
    ['PATCH', '/groups/1', 'groups:write', {}],
    ['DELETE', '/groups/1', 'groups:delete', undefined],
    ['POST', '/groups/1/contacts', 'groups:write', { contact_ids: [1] }],
    ['DELETE', '/groups/1/contacts', 'groups:write', { contact_ids: [1] }],
    ['GET', '/sources', 'sources:read', undefined],
    ['POST', '/sources', 'sources:write', { name: 'x' }],
    ['DELETE', '/sources/1', 'sources:delete', undefined],
    ['GET', '/statuses', 'statuses:read', undefined],
    ['PATCH', '/statuses/1', 'statuses:write', {}],
    ['DELETE', '/statuses/1', 'statuses:delete', undefined],
    ['POST', '/messages/text', 'messages:send', { phone: '+4915112345678', message: 'x' }],
    ['GET', '/messages', 'messages:read', undefined],
    ['GET', '/messages/018f0000-0000-7000-8000-000000000000', 'messages:read', undefined],
    ['GET', '/bots', 'bots:read', undefined],
    ['POST', '/bots', 'bots:write messages:send', { name: 'x', trigger: 'any', reply: { text: { text: 'x' } } }],
    ['GET', '/bots/9', 'bots:read', undefined],
    ['PATCH', '/bots/9', 'bots:write messages:send', {}],
    ['DELETE', '/bots/9', 'bots:write', undefined],
    ['GET', '/webhooks', 'webhooks:read', undefined],
    ['POST', '/webhooks', 'webhooks:write groups:read', { url: 'https://example.com/', events: ['group.*'] }],
    ['GET', '/webhooks/9', 'webhooks:read', undefined],
    ['PATCH', '/webhooks/9', 'webhooks:write', {}],
    ['DELETE', '/webhooks/9', 'webhooks:write', undefined],
    ['POST', '/webhooks/9/test', 'webhooks:write', undefined],
    ['GET', '/webhooks/9/deliveries', 'webhooks:read', undefined],
    ['POST', '/webhooks/9/deliveries/018f0000-0000-7000-8000-000000000000/replay', 'webhooks:write', undefined],
    ['GET', '/templates', 'templates:read', undefined],
    ['GET', '/auth/templates', 'templates:read', undefined],
    ['GET', '/account/usage', 'account:read', undefined],
  ])('needs for %s %s the scope %s, and no other', async (method, path, words, body) => {
    const scopes = words.split(' ');
    const call = async (scopes: string[]) => {
      const token = await gateway.addToken(tenant, { scopes });
      return rest(method, path, body, { authorization: `Bearer ${token}` });
    };
    for (const scope of scopes) {
      const { status, body: refusal } = await call(SCOPES.filter(other => other !== scope));
      expect([status, refusal.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
      expect(refusal.error.details.required).toContain(scope);
    }
    const alone = await call(scopes);
    expect([200, 201, 404, 422]).toContain(alone.status);
  });

  it('gets the missing scope', async () => {
    const token = await gateway.addToken(tenant, { scopes: ['account:read'] });
    const { body } = await rest('GET', '/contacts', undefined, { authorization: `Bearer ${token}` });
    expect(body.error.details).toEqual({ required: ['contacts:read'], granted: ['account:read'] });
  });

  it('gets a retry time once the rate limit is exceeded', async () => {
    const token = await gateway.addToken(tenant, { callsPerMinute: 1 });
    const headers = { authorization: `Bearer ${token}` };
    expect((await rest('GET', '/groups', undefined, headers)).status).toBe(200);
    const limited = await rest('GET', '/groups', undefined, headers);
    expect(limited.status).toBe(429);
    expect(limited.body.error).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { retry_after: expect.any(Number) },
    });
    expect(Number(limited.headers.get('retry-after'))).toBe(limited.body.error.details.retry_after);
    expect(limited.headers.get('x-ratelimit-reset')).toMatch(/^\d+$/);
  });
});

describe('an address', () => {
  it('is 404 in the envelope if unknown', async () => {
    for (const path of ['/nope', '/contacts/1/nope', '']) {
      const { status, body } = await rest('GET', path);
      expect([path, status, body.success, body.error.code]).toEqual([path, 404, false, 'NOT_FOUND']);
    }
  });

  it.each([
    ['PUT', '/contacts', 'GET, POST, HEAD, OPTIONS'],
    ['DELETE', '/contacts', 'GET, POST, HEAD, OPTIONS'],
    ['PUT', '/contacts/1', 'GET, PATCH, DELETE, HEAD, OPTIONS'],
    ['GET', '/contacts/batch', 'POST, DELETE, OPTIONS'],
    ['HEAD', '/contacts/batch', 'POST, DELETE, OPTIONS'],
    ['PATCH', '/groups/1/contacts', 'POST, DELETE, OPTIONS'],
    ['GET', '/messages/text', 'POST, OPTIONS'],
    ['POST', '/messages', 'GET, HEAD, OPTIONS'],
  ])('refuses %s %s and lists the allowed methods', async (method, path, allow) => {
    const answer = await rest(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(answer.body.error.code).toBe('METHOD_NOT_ALLOWED');
  });

  it('answers OPTIONS with its methods, and HEAD as GET without a body', async () => {
    const options = await rest('OPTIONS', '/contacts/1', undefined, { authorization: '' });
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([
      204,
      'GET, PATCH, DELETE, HEAD, OPTIONS',
      '',
    ]);
    const [get, head] = [await rest('GET', '/statuses'), await rest('HEAD', '/statuses')];
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      get.headers.get('content-length'),
    ]);
  });
});

describe('a body', () => {
  it.each(['{', 'phone=1', '{"phone":}', '\ufffe'])('%j, which is not JSON, is 400', async text => {
    const { status, body } = await rest('POST', '/contacts', text);
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('in another encoding than UTF-8 is 400, and a byte order mark is accepted', async () => {
    const post = (body: Buffer) =>
      fetch(`${gateway.url}/api/v2/sources`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json; charset=latin1' },
        body: new Uint8Array(body),
      });
    const latin = await post(Buffer.from('{"name":"Zoë"}', 'latin1'));
    expect([latin.status, ((await latin.json()) as { error: object }).error]).toEqual([
      400,
      { code: 'BAD_REQUEST', message: 'The body is not in UTF-8.' },
    ]);
    const marked = await post(Buffer.from('\ufeff{"name":"Zoë"}'));
    expect([marked.status, ((await marked.json()) as { data: object }).data]).toMatchObject([201, { name: 'Zoë' }]);
  });

  it('that is not an object is 422', async () => {
    for (const text of ['[]', '"x"', '5', 'null', 'true']) {
      for (const [method, path] of [
        ['POST', '/contacts'],
        ['PATCH', '/contacts/1'],
        ['POST', '/contacts/batch'],
        ['POST', '/messages/text'],
      ] as const) {
        const { status, body } = await rest(method, path, text);
        expect([method, path, text, status]).toEqual([method, path, text, 422]);
        expect(Object.keys(body.error.details)).toEqual(['body']);
      }
    }
  });

  it('that is empty lacks its required fields', async () => {
    const { status, body } = await rest('POST', '/contacts', '');
    expect([status, body.error.details]).toEqual([422, { phone: ['Is required.'] }]);
  });

  it('of another type is 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
    ]) {
      const { status, body } = await rest('POST', '/contacts', 'phone=1', { 'content-type': type });
      expect([type, status, body.error.code]).toEqual([type, 415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    expect(
      (await rest('POST', '/contacts', { phone: newPhone() }, { 'content-type': 'application/vnd.api+json' })).status,
    ).toBe(201);
  });

  it('that is too large is 413', async () => {
    const { status, body } = await rest('POST', '/contacts', { phone: 'x'.repeat(5_000) });
    expect([status, body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('of a GET is ignored', async () => {
    const status = await new Promise(resolve => {
      const headers = { authorization: `Bearer ${tenant.token}`, 'content-type': 'text/nonsense', 'content-length': 7 };
      request(`${gateway.url}/api/v2/groups`, { method: 'GET', headers }, response => {
        response.resume();
        resolve(response.statusCode);
      }).end('{"page"');
    });
    expect(status).toBe(200);
  });

  it('of any types never causes an internal error', async () => {
    const values = [null, true, 0, -1, 1.5, 1e300, '', ' ', 'x', '\\u0000', [], [null], {}, [[1]], { id: 1 }];
    const fields = [
      'phone',
      'firstname',
      'type',
      'email',
      'source_id',
      'status_id',
      'assigned_id',
      'groups',
      'country_id',
      'is_opted_out',
      'message',
      'contact',
      'contact_id',
      'contacts',
      'options',
      'ids',
      'contact_ids',
      'name',
      'color',
    ];
    const { id } = (await rest('POST', '/contacts', { phone: newPhone() })).body.data;
    const routes = [
      ['POST', '/contacts'],
      ['PATCH', `/contacts/${id}`],
      ['POST', '/groups'],
      ['PATCH', '/statuses/1'],
      ['POST', '/groups/1/contacts'],
      ['POST', '/contacts/batch'],
      ['POST', '/messages/text'],
    ] as const;
    const calls = routes.flatMap(([method, path]) =>
      values.map(value => ({ method, path, body: Object.fromEntries(fields.map(field => [field, value])) })),
    );
    for (const { method, path, body } of calls) {
      const answer = await rest(method, path, body);
      expect([method, path, JSON.stringify(body).slice(0, 40), answer.status < 500]).toEqual([
        method,
        path,
        JSON.stringify(body).slice(0, 40),
        true,
      ]);
    }
  });
});

describe('a malformed HTTP request', () => {
  const at = async (line: string, more = '') => {
    const reply = await raw(gateway.url, `${line} HTTP/1.1\r\nHost: x\r\n${more}\r\n`);
    const [head = '', text = ''] = reply.split('\r\n\r\n', 2);
    return { head, body: JSON.parse(text) };
  };

  it('is answered in the format of its address, with a request id, and the connection is closed', async () => {
    const two = await at('BREW /api/v2/contacts');
    expect(two.head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(two.head).toMatch(/\r\nconnection: close$/);
    expect(two.body).toEqual({
      success: false,
      error: { code: 'BAD_REQUEST', message: 'Unknown HTTP method.' },
      meta: { request_id: expect.stringMatching(UUID), timestamp: expect.stringMatching(TIMESTAMP) },
    });
    expect(two.head).toContain(`\r\nx-request-id: ${two.body.meta.request_id}\r\n`);
    expect(gateway.logs.some(line => line['requestId'] === two.body.meta.request_id)).toBe(true);

    const one = await at(`BREW /api/v1/${tenant.slug}/contacts`);
    expect(one.head).toContain('\r\ndeprecation: @1767225600\r\n');
    expect(one.head).toContain('\r\nlink: </api/v2>; rel="successor-version"\r\n');
    expect(one.body).toEqual({ status: 'error', message: 'Bad request', errors: 'Unknown HTTP method.' });
  });

  it('can have headers that are too large or malformed', async () => {
    const large = await at('GET /api/v2/contacts', `X-Large: ${'x'.repeat(20_000)}\r\n`);
    expect(large.head).toMatch(/^HTTP\/1\.1 431 /);
    expect(large.body.error).toEqual({ code: 'BAD_REQUEST', message: 'The request headers are too large.' });
    const broken = await at('GET /api/v2/contacts', 'no header\r\n');
    expect(broken.body.error).toEqual({
      code: 'BAD_REQUEST',
      message: 'Malformed HTTP request.',
    });
  });
});

describe('problem details (RFC 9457)', () => {
  it('replace the envelope on request', async () => {
    const { status, headers, body } = await rest('POST', '/contacts?x=1', { email: 'x' }, problem);
    expect(status).toBe(422);
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(body).toEqual({
      type: 'urn:parley:error:validation_error',
      title: 'Validation error',
      status: 422,
      detail: 'phone: Is required. (and 1 more)',
      instance: '/api/v2/contacts',
      code: 'VALIDATION_ERROR',
      errors: { phone: ['Is required.'], email: ['Must be an e-mail address.'] },
      request_id: headers.get('x-request-id'),
    });
  });

  it('cover every kind of error', async () => {
    const answers = [
      await rest('GET', '/contacts', undefined, { ...problem, authorization: 'Bearer x' }),
      await rest('GET', '/contacts/0', undefined, problem),
      await rest('GET', '/nope', undefined, problem),
      await rest('PUT', '/contacts', undefined, problem),
      await rest('POST', '/contacts', '{', problem),
      await rest('GET', '/contacts/%zz', undefined, problem),
      await rest('POST', '/contacts', 'x', { ...problem, 'content-type': 'text/plain' }),
      await rest('POST', '/contacts', { phone: 'x'.repeat(5_000) }, problem),
      await rest('POST', '/nope', { phone: 'x' }, problem),
      await rest('OPTIONS', '/nope', undefined, problem),
    ];
    expect(answers.map(({ body }) => [body.status, body.code])).toEqual([
      [401, 'UNAUTHORIZED'],
      [404, 'NOT_FOUND'],
      [404, 'NOT_FOUND'],
      [405, 'METHOD_NOT_ALLOWED'],
      [400, 'BAD_REQUEST'],
      [400, 'BAD_REQUEST'],
      [415, 'UNSUPPORTED_MEDIA_TYPE'],
      [413, 'PAYLOAD_TOO_LARGE'],
      [404, 'NOT_FOUND'],
      [404, 'NOT_FOUND'],
    ]);
    for (const { headers } of answers) expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('do not change successes', async () => {
    const { headers, body } = await rest('GET', '/groups', undefined, problem);
    expect([headers.get('content-type'), body.success]).toEqual(['application/json; charset=utf-8', true]);
  });
});

describe('an internal error', () => {
  it('shows only the request id', async () => {
    const small = await startGateway();
    const call = restOf(small, small.tenant);
    expect((await call('GET', '/groups')).status).toBe(200);
    await small.database.query(`alter table groups rename to gone`);
    const broken = await call('GET', '/groups');
    expect([broken.status, broken.body.error]).toEqual([
      500,
      {
        code: 'INTERNAL_ERROR',
        message: 'Something went wrong on our side.',
        details: { request_id: broken.body.meta.request_id },
      },
    ]);
    await small.stop();
  });
});
