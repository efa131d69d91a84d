import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', throughputLimit: false } } });
});
afterAll(() => gateway.stop());

const HEALTH = `health { canSend quality messagingLimit isMessagingLimitKnown restrictions { type expiresAt remediation }
  queuedCount oldestQueuedAt lastWebhookAt lastError { code title class } checkedAt }`;
const healthOf = async (tenant: TestTenant) =>
  dataOf(await gateway.graphql(`{ channels { nodes { id ${HEALTH} } } }`, {}, tenant.token)).channels.nodes[0];
const check = async (tenant: TestTenant, more = {}) =>
  gateway.mutate(
    'checkChannel',
    { id: (await healthOf(tenant)).id, ...more },
    `channel { id ${HEALTH} }`,
    tenant.token,
  );
const events = (tenant: TestTenant) =>
  gateway.database.query<{ payload: { channel: { id: number }; health: object; previous: object } }>(
    `select payload from events where tenant_id = $1 and type = 'channel.health_changed' order by seq`,
    [tenant.id],
  );
/** Sets what the network answers about the tenant's number. */
async function emulate(
  tenant: TestTenant,
  health: object,
  accessToken = `access-${Number(tenant.phoneNumberId) - 1_000}`,
) {
  const number = {
    phoneNumberId: tenant.phoneNumberId,
    wabaId: tenant.wabaId,
    displayPhoneNumber: '+1 555 078 1234',
    verifiedName: 'x',
    accessToken,
    health,
  };
  const set = await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
    method: 'POST',
    body: JSON.stringify(number),
  });
  expect(set.status, await set.text()).toBe(200);
}

describe('checkChannel', () => {
  test('asks the network for the health of the number, with an event only if it changed', async () => {
    const tenant = await gateway.addTenant();
    expect((await healthOf(tenant)).health).toEqual({
      canSend: 'UNKNOWN',
      quality: 'UNKNOWN',
      messagingLimit: null,
      isMessagingLimitKnown: false,
      restrictions: [],
      queuedCount: 0,
      oldestQueuedAt: null,
      lastWebhookAt: null,
      lastError: null,
      checkedAt: null,
    });
    await emulate(tenant, { canSend: 'LIMITED', quality: 'YELLOW', messagingLimit: 'TIER_2K' });
    const { health } = payloadOf(await check(tenant)).channel;
    expect(health).toMatchObject({
      canSend: 'LIMITED',
      quality: 'YELLOW',
      messagingLimit: 2_000,
      isMessagingLimitKnown: true,
      checkedAt: expect.any(String),
      lastError: null,
    });
    await check(tenant);
    expect(await events(tenant)).toMatchObject([
      {
        payload: {
          channel: { id: expect.any(Number) },
          health: { can_send: 'LIMITED', quality: 'YELLOW', messaging_limit: 2_000 },
          previous: { can_send: null, quality: null, messaging_limit: null },
        },
      },
    ]);
    await emulate(tenant, { messagingLimit: 'TIER_UNLIMITED' });
    expect(payloadOf(await check(tenant)).channel.health).toMatchObject({
      canSend: 'AVAILABLE',
      messagingLimit: null,
      isMessagingLimitKnown: true,
    });
    expect(await events(tenant)).toHaveLength(2);
  });

  test('shows why a number is blocked, until it is not any more', async () => {
    const tenant = await gateway.addTenant();
    await emulate(tenant, { canSend: 'BLOCKED' });
    expect(payloadOf(await check(tenant)).channel.health).toMatchObject({
      canSend: 'BLOCKED',
      lastError: { code: 141_000, title: 'The phone number is not registered.' },
    });
    await emulate(tenant, {});
    expect(payloadOf(await check(tenant)).channel.health).toMatchObject({ canSend: 'AVAILABLE', lastError: null });
  });

  test('calls a number blocked whose token the network refuses', async () => {
    const tenant = await gateway.addTenant();
    await emulate(tenant, {}, 'another-token');
    expect(payloadOf(await check(tenant)).channel.health).toMatchObject({
      canSend: 'BLOCKED',
      lastError: { code: 190, class: 'CREDENTIALS' },
    });
  });

  test('with a key asks once; a disconnected channel is a conflict, and it needs channels:write', async () => {
    const tenant = await gateway.addTenant();
    const first = payloadOf(await check(tenant, { idempotencyKey: 'now' })).channel.health.checkedAt;
    expect(payloadOf(await check(tenant, { idempotencyKey: 'now' })).channel.health.checkedAt).toBe(first);
    const { id } = await healthOf(tenant);
    const reader = await gateway.addToken(tenant, { scopes: ['channels:read'] });
    expect(codeOf(await gateway.mutate('checkChannel', { id }, 'channel { id }', reader))).toBe('INSUFFICIENT_SCOPE');
    await gateway.mutate('disconnectChannel', { id }, '', tenant.token);
    expect(codeOf(await check(tenant))).toBe('CONFLICT');
  });
});

test('the health shows the queue, the last webhook and restrictions that have not ended', async () => {
  const tenant = await gateway.addTenant();
  const { phoneNumberId } = tenant;
  const { id } = await healthOf(tenant);
  payloadOf(await gateway.mutate('updateChannel', { id, messagesPerSecond: 1 }, 'channel { id }', tenant.token));
  const since = Date.now();
  const send = { to: { phone: newPhone() }, content: { text: { body: 'Hi' } } };
  for (let i = 0; i < 6; i += 1)
    payloadOf(
      await gateway.mutate('sendMessage', { ...send, to: { phone: newPhone() } }, 'message { id }', tenant.token),
    );
  const { health } = await healthOf(tenant);
  expect(health.queuedCount).toBeGreaterThan(0);
  expect(health.queuedCount).toBeLessThanOrEqual(6);
  expect(Date.parse(health.oldestQueuedAt)).toBeGreaterThan(since - 2_000);
  const restriction = (type: string, secondsFromNow: number) => ({
    restriction_type: type,
    expiration: Math.round(Date.now() / 1_000) + secondsFromNow,
  });
  await fetch(`${gateway.emulator.url}/_emulator/changes`, {
    method: 'POST',
    body: JSON.stringify({
      field: 'account_update',
      phoneNumberId,
      value: {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [restriction('RESTRICTED_ADD_PHONE_NUMBER_ACTION', 3_600), restriction('OVER', -60)],
      },
    }),
  });
  await eventually(async () => {
    const now = (await healthOf(tenant)).health;
    expect(now.restrictions).toMatchObject([{ type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION' }]);
    expect(Date.parse(now.lastWebhookAt)).toBeGreaterThan(since - 2_000);
  });
});

test('the health of many channels takes one statement for each of its tables', async () => {
  const tenant = await gateway.addTenant();
  await healthOf(tenant);
  gateway.statements.length = 0;
  await healthOf(tenant);
  const read = gateway.statements.filter(text => /from "?(channels|channel_health|outbox)\b/.test(text));
  expect(read).toHaveLength(3);
});
