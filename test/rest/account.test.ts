import { afterAll, beforeAll, expect, it } from 'vitest';
import { monthOf } from '../../src/features/tenancy/usage/usage.ts';
import { startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, TIMESTAMP } from './client.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;

beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  tenant = await gateway.addTenant({ plan: 'starter', channel: false });
  rest = restOf(gateway, tenant);
});
afterAll(() => gateway.stop());

const unlimited = (current: number) => ({
  current,
  limit: -1,
  remaining: -1,
  percentage_used: 0,
  is_unlimited: true,
});

it('an account has an id, name, subdomain, status and subscription, as in the contract', async () => {
  const { status, body, headers } = await rest('GET', '/account');
  expect([status, headers.get('x-request-id')]).toEqual([200, body.meta.request_id]);
  expect(body).toMatchObject({ success: true, message: 'Account' });
  expect(body.data).toEqual({
    id: tenant.id,
    name: tenant.slug,
    subdomain: tenant.slug,
    status: 'active',
    created_at: expect.stringMatching(TIMESTAMP),
    subscription: { plan_name: 'starter', plan_id: expect.any(Number), status: 'active', expires_at: null },
  });
  await gateway.database.query("update tenants set plan_expires_at = '2026-01-31T10:00:00.5Z' where tenant_id = $1", [
    tenant.id,
  ]);
  expect((await rest('GET', '/account')).body.data.subscription).toMatchObject({
    status: 'expired',
    expires_at: '2026-01-31T10:00:00+00:00',
  });
});

it('usage counts contacts, staff, and the conversations and messages of this month', async () => {
  await rest('POST', '/contacts', { phone: newPhone() });
  await gateway.database.query(
    'insert into monthly_usage (tenant_id, month, messages, conversations) values ($1, $2, 10000, 333), ($1, $3, 77, 77)',
    [tenant.id, monthOf(Date.now()), '2020-01-01'],
  );
  const { body } = await rest('GET', '/account/usage');
  expect(body.data).toEqual({
    contacts: { current: 1, limit: 1_000, remaining: 999, percentage_used: 0.1, is_unlimited: false },
    conversations: { current: 333, limit: 1_000, remaining: 667, percentage_used: 33.3, is_unlimited: false },
    messages: { current: 10_000, limit: 10_000, remaining: 0, percentage_used: 100, is_unlimited: false },
    staff: { current: 0, limit: 3, remaining: 3, percentage_used: 0, is_unlimited: false },
  });
});

it('limits are the numbers of the plan, and its features as booleans', async () => {
  const { body } = await rest('GET', '/account/limits');
  const limit = (feature_name: string, maximum: number) => ({ limit: maximum, feature_name, is_unlimited: false });
  expect(body.data).toEqual({
    limits: {
      contacts: limit('contacts', 1_000),
      conversations: limit('conversations', 1_000),
      messages: limit('messages', 10_000),
      staff: limit('staff', 3),
      api_calls_per_minute: limit('api_calls_per_minute', 120),
    },
    features: {
      bots: false,
      integrations: false,
      interactive: true,
      media: true,
      otp: true,
      templates: true,
      webhooks: true,
    },
  });
});

it('unlimited is -1', async () => {
  const free = restOf(gateway, await gateway.addTenant({ plan: 'unlimited', channel: false }));
  expect((await free('GET', '/account/usage')).body.data).toEqual({
    contacts: unlimited(0),
    conversations: unlimited(0),
    messages: unlimited(0),
    staff: unlimited(0),
  });
  const { limits } = (await free('GET', '/account/limits')).body.data;
  expect(limits.messages).toEqual({ limit: -1, feature_name: 'messages', is_unlimited: true });
  expect(limits.api_calls_per_minute).toEqual({
    limit: 6_000,
    feature_name: 'api_calls_per_minute',
    is_unlimited: false,
  });
});

it.each(['/account', '/account/usage', '/account/limits'])('%s needs account:read, a token and GET', async path => {
  const blind = restOf(gateway, { token: await gateway.addToken(tenant, { scopes: ['contacts:*', 'messages:*'] }) });
  const refused = await blind('GET', path);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  expect(refused.body.error.details.required).toEqual(['account:read']);
  const seeing = restOf(gateway, { token: await gateway.addToken(tenant, { scopes: ['account:read'] }) });
  expect((await seeing('GET', path)).status).toBe(200);
  expect((await restOf(gateway, { token: 'none' })('GET', path)).status).toBe(401);
  expect((await rest('POST', path, {})).status).toBe(405);
});
