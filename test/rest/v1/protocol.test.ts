import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { SCOPES } from '../../../src/core/scopes.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { legacyOf, type Rest } from '../client.ts';
import { openApi } from '../contract.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;

beforeAll(async () => {
  gateway = await startGateway();
  gateway.emulator.setFaults({ window: 'open' });
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = legacyOf(gateway, tenant);
});
afterAll(() => gateway.stop());

const raw = (path: string, method = 'GET', token = tenant.token) =>
  fetch(`${gateway.url}${path}`, { method, headers: token === '' ? {} : { authorization: `Bearer ${token}` } });
const statusAndBody = async (response: Response) => [response.status, await response.json()];

describe('the tenant of the path', () => {
  it('is not revealed without a token: known and unknown tenants look the same', async () => {
    for (const token of ['', 'ply_nothing']) {
      const [here, nowhere] = [
        await statusAndBody(await raw(`/api/v1/${tenant.slug}/contacts`, 'GET', token)),
        await statusAndBody(await raw('/api/v1/nobody/contacts', 'GET', token)),
      ];
      expect(here[0]).toBe(401);
      expect(nowhere).toEqual(here);
    }
  });

  it('must be the token’s: another tenant is 401, an unknown one 400', async () => {
    const invalid = await statusAndBody(await raw(`/api/v1/${tenant.slug}/contacts`, 'GET', 'ply_nothing'));
    const other = await raw(`/api/v1/${gateway.tenant.slug}/contacts`);
    expect(other.headers.get('www-authenticate')).toBe('Bearer');
    expect(await statusAndBody(other)).toEqual(invalid);
    for (const slug of [
      'nobody',
      'docs',
      tenant.slug.toUpperCase(),
      `${tenant.slug}%20`,
      'a%00b',
      '%F0%9F%8D%95',
      String(tenant.id),
    ]) {
      const [status, body] = await statusAndBody(await raw(`/api/v1/${slug}/contacts`));
      expect([slug, status, body]).toEqual([
        slug,
        400,
        { status: 'error', message: 'Bad request', errors: expect.any(String) },
      ]);
    }
  });

  it('is checked before the body is read', async () => {
    const phone = newPhone();
    const answer = await legacyOf(gateway, { slug: gateway.tenant.slug, token: tenant.token })('POST', '/contacts', {
      phone,
    });
    expect(answer.status).toBe(401);
    const rows = await gateway.database.query('select id from contacts where phone = $1', [phone]);
    expect(rows).toEqual([]);
  });
});

describe('scopes', () => {
  const operations = Object.entries(openApi('v1').paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replace('{id}', '1'),
      operation: operation as typeof operation & { security: { bearer: string[] }[] },
    })),
  );
  it.each(operations)(
    '$method $path needs the one that the document names, and no other',
    async ({ method, path, operation }) => {
      const scope = operation.security[0]?.bearer[0] ?? '';
      const call = async (scopes: string[]) => {
        const token = await gateway.addToken(tenant, { scopes });
        const body =
          method === 'GET' || method === 'DELETE'
            ? undefined
            : operation.requestBody?.content['application/json']?.example;
        return rest(method, path, body, { authorization: `Bearer ${token}` });
      };
      // A group that is missing would need groups:write as well.
      for (const name of path === '/contacts' && method === 'POST' ? ['VIP', 'Newsletter'] : [])
        await rest('POST', '/groups', { name });
      const without = await call(SCOPES.filter(other => other !== scope));
      expect([without.status, without.body]).toEqual([
        403,
        { status: 'error', message: 'Insufficient scope', errors: expect.stringContaining(scope) },
      ]);
      expect([200, 201, 404, 422]).toContain((await call([scope])).status);
    },
  );
});

describe('the successor', () => {
  it('is announced on every answer', async () => {
    const created = await rest('POST', '/groups', { name: 'One' });
    const { id } = created.body.data;
    const { slug } = tenant;
    const links: [string, string, string][] = [
      ['GET', `/api/v1/${slug}/groups/${id}?x=1`, `/api/v2/groups/${id}`],
      ['HEAD', `/api/v1/${slug}/groups`, '/api/v2/groups'],
      ['OPTIONS', `/api/v1/${slug}/groups/${id}`, `/api/v2/groups/${id}`],
      ['PATCH', `/api/v1/${slug}/groups/${id}`, `/api/v2/groups/${id}`],
      ['GET', `/api/v1/${slug}/groups/%22%3E`, '/api/v2/groups/%22%3E'],
      ['POST', `/api/v1/${slug}/messages/authentication`, '/api/v2/auth/send-otp'],
      ['GET', `/api/v1/${slug}/nothing`, '/api/v2'],
      ['POST', `/api/v1/${slug}/nothing/more`, '/api/v2'],
      ['GET', `/api/v1/${slug}`, '/api/v2'],
      ['GET', '/api/v1', '/api/v2'],
      ['GET', '/api/v1/', '/api/v2'],
      ['GET', '/api/v1?x', '/api/v2'],
      ['GET', '/api/v1/%zz', '/api/v2'],
      ['GET', '/api/v1/nobody/contacts', '/api/v2/contacts'],
      ['GET', '/api/v1/openapi.json', '/api/v2/openapi.json'],
      ['GET', '/api/v1/docs', '/api/v2/docs'],
    ];
    for (const [method, path, link] of links) {
      const { headers, status } = await raw(path, method);
      expect([path, headers.get('deprecation'), headers.get('link'), headers.get('sunset')]).toEqual([
        path,
        '@1767225600',
        `<${link}>; rel="successor-version"`,
        null,
      ]);
      expect(status).toBeLessThan(500);
    }
    const again = await raw(`/api/v1/${slug}/groups/${id}`);
    const cached = await fetch(again.url, {
      headers: { authorization: `Bearer ${tenant.token}`, 'if-none-match': again.headers.get('etag') ?? '' },
    });
    expect([cached.status, cached.headers.get('deprecation')]).toEqual([304, '@1767225600']);
  });

  it('is announced only by version 1', async () => {
    for (const path of ['/api/v2/groups', '/api/v2/nothing', '/api/v10', '/api/v1x', '/nothing', '/api/v2/%zz']) {
      const { headers } = await raw(path);
      expect([path, headers.get('deprecation'), headers.get('link')]).toEqual([path, null, null]);
    }
  });

  it('has an end date if configured, and only a valid date', () => {
    const env = { DATABASE_URL: 'postgres://localhost/x' };
    const ms = (text: string) => loadConfig({ ...env, PARLEY_V1_SUNSET: text }).v1SunsetMs;
    expect(loadConfig(env).v1SunsetMs).toBeUndefined();
    expect(ms('2027-12-31')).toBe(Date.UTC(2027, 11, 31));
    expect(ms('2027-12-31T23:59:59+02:00')).toBe(Date.UTC(2027, 11, 31, 21, 59, 59));
    for (const text of ['tomorrow', '31.12.2027', '2027-02-30']) expect(() => ms(text)).toThrow('PARLEY_V1_SUNSET');
  });
});

describe('a body', () => {
  const VALUES = [null, true, 7, 'x', '', [], [null], ['x'], [{}], {}, 'a\0', ['a\0'], ['\ud800'], [{ title: '\0' }]];

  // One field at a time, because what is wrong with another one would hide what becomes of it.
  it.each([
    [
      'PUT',
      '/contacts',
      ['firstname', 'groups', 'is_opted_out', 'is_enabled', 'country_id', 'source_id', 'type', 'zip'],
    ],
    ['POST', '/messages/send', ['message_body', 'message_type', 'header', 'buttons']],
    ['POST', '/messages/media', ['media_type', 'media_url', 'media_file', 'caption']],
    ['POST', '/messages/template', ['template_name', 'template_language', 'field_1', 'button_0', 'auto_generate_otp']],
    ['PUT', '/statuses', ['name', 'color']],
  ])('with any value in a field never causes an internal error: %s %s', async (method, path, fields) => {
    const { id } = (await rest('POST', '/contacts', { phone: newPhone() })).body.data;
    const status = (await rest('POST', '/statuses', { name: `Any ${path}` })).body.data.id;
    const whole = {
      ...{ firstname: 'A', phone: newPhone(), type: 'lead', name: 'A', phone_number: newPhone() },
      ...{ message_body: 'Hi', message_type: 'interactive', buttons: ['Yes'] },
      ...{ media_type: 'image', media_url: 'https://x.example/a.png', template_name: 'a', template_language: 'en' },
    };
    const to = path === '/contacts' ? `/contacts/${id}` : path === '/statuses' ? `/statuses/${status}` : path;
    for (const field of fields)
      for (const value of VALUES) {
        const { status: http, text } = await rest(method, to, { ...whole, [field]: value });
        const fault = http === 500 && !text.includes('Message send failed') ? text : '';
        expect([field, value, fault]).toEqual([field, value, '']);
      }
  });
});
