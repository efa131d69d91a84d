import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { postRaw } from '../../support/network-webhook.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const TIME = 1_790_000_000;

/** Posts a change of the account that happened `seconds` after `TIME`, and waits until it is applied. */
async function report(tenant: TestTenant, seconds: number, field: string, value: object): Promise<void> {
  await postRaw(gateway, { entry: [{ id: tenant.wabaId, time: TIME + seconds, changes: [{ field, value }] }] });
  await eventually(async () =>
    expect(await gateway.database.query('select from waiting_webhooks where tenant_id = $1', [tenant.id])).toEqual([]),
  );
}
const account = (tenant: TestTenant, seconds: number, event: string, more: object) =>
  report(tenant, seconds, 'account_update', { event, ...more });
const ban = (state: string) => ({ ban_info: { waba_ban_state: state } });
const restriction = (...types: string[]) => ({ restriction_info: types.map(type => ({ restriction_type: type })) });

const healthOf = async (tenant: TestTenant) => {
  const [health] = await gateway.database.query<object>(
    'select account_status, quality, messaging_limit, restrictions from channel_health where tenant_id = $1',
    [tenant.id],
  );
  return health;
};

test('a change that arrives after a later one does not replace what that told', async () => {
  const tenant = await gateway.addTenant();
  await account(tenant, 60, 'DISABLED_UPDATE', ban('REINSTATE'));
  await report(tenant, 50, 'phone_number_quality_update', { event: 'UNFLAGGED' });
  await account(tenant, 30, 'DISABLED_UPDATE', ban('DISABLE'));
  await account(tenant, 20, 'ACCOUNT_RESTRICTION', restriction('RESTRICTED_ADD_PHONE_NUMBER_ACTION'));
  const limit = { event: 'FLAGGED', max_daily_conversations_per_business: 'TIER_2K' };
  await report(tenant, 10, 'phone_number_quality_update', limit);
  expect(await healthOf(tenant)).toMatchObject({
    ...{ account_status: 'ACTIVE', quality: 'UNKNOWN', restrictions: [] },
    // No other change told it.
    messaging_limit: 2_000,
  });
  await account(tenant, 70, 'DISABLED_UPDATE', ban('DISABLE'));
  expect(await healthOf(tenant)).toMatchObject({ account_status: 'DISABLE' });
  const events = await gateway.database.query(
    "select from events where tenant_id = $1 and type = 'channel.health_changed'",
    [tenant.id],
  );
  expect(events).toHaveLength(6);
});

test('a late reinstatement lifts the restrictions from before it, and no later ones', async () => {
  const tenant = await gateway.addTenant();
  await account(tenant, 10, 'ACCOUNT_RESTRICTION', restriction('A', 'B'));
  await account(tenant, 30, 'ACCOUNT_RESTRICTION', restriction('B'));
  await account(tenant, 20, 'DISABLED_UPDATE', ban('REINSTATE'));
  expect(await healthOf(tenant)).toMatchObject({ account_status: 'RESTRICTED', restrictions: [{ type: 'B' }] });
});
