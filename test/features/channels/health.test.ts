import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { applyHealth, type ChannelHealthUpdate } from '../../../src/features/channels/apply-health.ts';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { checkChannels } from '../../../src/features/channels/housekeeping.ts';
import { listChannels } from '../../../src/features/channels/store.ts';
import { NetworkCallError } from '../../../src/network/network.ts';
import { codeOf, dataOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { startWorker } from '../../support/second-gateway.ts';
import { newPhone } from '../../support/seed.ts';

/** Without a worker: its own check of all numbers, ten seconds after its start, would take some from the checks of these tests. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    role: 'gateway',
    emulator: { faults: { window: 'open', throughputLimit: false } },
  });
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

/** Makes the health of a tenant's number one that was never reported. */
const forget = (tenant: TestTenant) =>
  gateway.database.query('delete from channel_health where tenant_id = $1', [tenant.id]);

describe('checkChannel', () => {
  test('asks the network for the health of the number, with an event only if it changed', async () => {
    const tenant = await gateway.addTenant();
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
          previous: { can_send: 'AVAILABLE', quality: 'GREEN', messaging_limit: null },
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

describe('a number that is connected', () => {
  const reconnect = (tenant: TestTenant, network = gateway.gateway.resources.network) =>
    connectChannel({ ...gateway.gateway.resources, network }, tenant.id, {
      ...tenant,
      name: 'Again',
      accessToken: `access-${Number(tenant.phoneNumberId) - 1_000}`,
      appSecret: 'test-app-secret',
      verifyToken: 'test-verify-token',
    });

  test('has its health at once, and tells of it by an event if it was another when it was connected before', async () => {
    const tenant = await gateway.addTenant();
    expect((await healthOf(tenant)).health).toEqual({
      canSend: 'AVAILABLE',
      quality: 'GREEN',
      messagingLimit: null,
      isMessagingLimitKnown: true,
      restrictions: [],
      queuedCount: 0,
      oldestQueuedAt: null,
      lastWebhookAt: null,
      lastError: null,
      checkedAt: expect.any(String),
    });
    expect(await events(tenant)).toEqual([]);
    await emulate(tenant, { canSend: 'LIMITED' });
    await reconnect(tenant);
    expect(await events(tenant)).toMatchObject([
      { payload: { health: { can_send: 'LIMITED' }, previous: { can_send: 'AVAILABLE' } } },
    ]);
  });

  test('is connected also if the network does not tell its health', async () => {
    const tenant = await gateway.addTenant();
    const { network } = gateway.gateway.resources;
    const silent = { ...network, numberHealth: () => Promise.reject(new NetworkCallError('no answer')) };
    await forget(tenant);
    await reconnect(tenant, silent);
    expect((await healthOf(tenant)).health).toMatchObject({ canSend: 'UNKNOWN', checkedAt: null });
  });
});

describe('the periodic check', () => {
  /** Other tests leave channels of their own, which are not due: they were checked when they were connected. */
  const run = (network = gateway.gateway.resources.network) => checkChannels({ ...gateway.gateway.resources, network });
  const asked = (tenant: TestTenant, ago: { checked?: string; asked?: string }) =>
    gateway.database.query(
      'update channel_health set checked_at = now() - $2::interval, asked_at = now() - $3::interval where tenant_id = $1',
      [tenant.id, ago.checked ?? null, ago.asked ?? null],
    );

  test('asks for numbers that were never checked or not for a day, but not for disconnected ones', async () => {
    const [fresh, never, old, gone] = [
      await gateway.addTenant(),
      await gateway.addTenant(),
      await gateway.addTenant(),
      await gateway.addTenant(),
    ];
    await gateway.mutate('disconnectChannel', { id: (await healthOf(gone)).id }, '', gone.token);
    await asked(gone, { checked: '25 hours' });
    for (const tenant of [fresh, never, old, gone]) await emulate(tenant, { canSend: 'LIMITED' });
    await forget(never);
    await asked(old, { checked: '25 hours', asked: '25 hours' });
    await run();
    const states = await Promise.all([fresh, never, old, gone].map(async one => (await healthOf(one)).health.canSend));
    expect(states).toEqual(['AVAILABLE', 'LIMITED', 'LIMITED', 'AVAILABLE']);
  });

  test('leaves a number to the worker that has just checked it', async () => {
    const tenant = await gateway.addTenant();
    await asked(tenant, { asked: '14 minutes' });
    await emulate(tenant, { canSend: 'LIMITED' });
    await run();
    expect((await healthOf(tenant)).health).toMatchObject({ canSend: 'AVAILABLE', checkedAt: null });
    await asked(tenant, { asked: '16 minutes' });
    await Promise.all([run(), run()]);
    expect((await healthOf(tenant)).health.canSend).toBe('LIMITED');
    expect(await events(tenant)).toHaveLength(1);
  });

  test('does not undo what a webhook reported while the network answered, and asks again', async () => {
    const tenant = await gateway.addTenant();
    await asked(tenant, { checked: '25 hours', asked: '25 hours' });
    const { db, network } = gateway.gateway.resources;
    const [channel] = await listChannels(db.write, tenant.id);
    if (!channel) throw new Error('no channel');
    /** Well when it was asked, and flagged before the answer arrives. */
    const numberHealth: typeof network.numberHealth = async of => {
      if (of.phoneNumberId !== tenant.phoneNumberId) return network.numberHealth(of);
      const flagged = { field: 'phone_number_quality_update', event: 'FLAGGED', at: new Date(), details: {} };
      const update = { kind: 'health', ...flagged, patch: { quality: 'RED' } } as const;
      await db.transaction(trx =>
        applyHealth(
          trx,
          tenant.id,
          [{ channels: [channel], update: update as ChannelHealthUpdate['update'] }],
          Date.now(),
        ),
      );
      return { patch: { quality: 'GREEN', canSend: 'AVAILABLE' }, details: {} };
    };
    await run({ ...network, numberHealth });
    expect((await healthOf(tenant)).health).toMatchObject({ quality: 'RED' });
    await asked(tenant, { checked: '25 hours', asked: '16 minutes' });
    await emulate(tenant, { quality: 'YELLOW' });
    await run();
    expect((await healthOf(tenant)).health).toMatchObject({ quality: 'YELLOW' });
  });

  test('stops after three questions without an answer, and changes nothing', async () => {
    const tenants = [];
    for (let i = 0; i < 4; i += 1) tenants.push(await gateway.addTenant());
    for (const tenant of tenants) await asked(tenant, {});
    let questions = 0;
    const silent = () => {
      questions += 1;
      return Promise.reject(new NetworkCallError('no answer'));
    };
    await run({ ...gateway.gateway.resources.network, numberHealth: silent });
    expect(questions).toBe(3);
    for (const tenant of tenants) expect((await healthOf(tenant)).health.canSend).toBe('AVAILABLE');
    await run();
    const checked = await Promise.all(tenants.map(async one => (await healthOf(one)).health.checkedAt !== null));
    expect(checked).toEqual([false, false, false, true]);
  });
});

test('the health shows the queue, the last webhook and restrictions that have not ended', async () => {
  const tenant = await gateway.addTenant();
  const { phoneNumberId } = tenant;
  const since = Date.now();
  const send = { to: { phone: newPhone() }, content: { text: { body: 'Hi' } } };
  for (let i = 0; i < 6; i += 1)
    payloadOf(
      await gateway.mutate('sendMessage', { ...send, to: { phone: newPhone() } }, 'message { id }', tenant.token),
    );
  const { health } = await healthOf(tenant);
  expect(health.queuedCount).toBe(6);
  expect(Date.parse(health.oldestQueuedAt)).toBeGreaterThan(since - 2_000);
  const worker = await startWorker(gateway);
  onTestFinished(() => worker.stop());
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
  // Sweeps and lanes read them as well, but not always.
  await eventually(async () => {
    gateway.statements.length = 0;
    await healthOf(tenant);
    const read = gateway.statements.filter(text => /from "?(channels|channel_health|outbox)\b/.test(text));
    expect(read).toHaveLength(3);
  });
});
