import { afterAll, beforeAll, expect, test } from 'vitest';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { dataOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

/** Changes of health that the network reports again: because it happened again, or because it repeats a webhook. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const TIME = 1_790_000_000;

/** Posts a webhook of the network, and waits until it is applied. @param other makes another body of the same change */
async function report(
  tenant: TestTenant,
  field: string,
  value: object,
  time?: unknown,
  other?: unknown,
): Promise<void> {
  const entry = { id: tenant.wabaId, ...(time !== undefined && { time }), changes: [{ field, value }] };
  const bytes = Buffer.from(JSON.stringify({ object: 'whatsapp_business_account', other, entry: [entry] }));
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(bytes, 'test-app-secret') },
    body: new Uint8Array(bytes),
  });
  expect(answer.status, await answer.text()).toBe(200);
  await eventually(async () =>
    expect(await gateway.database.query('select from waiting_webhooks where tenant_id = $1', [tenant.id])).toEqual([]),
  );
}

/** The network's terms for the changes that were told, with the time. */
const told = async (tenant: TestTenant) => {
  const events = await gateway.database.query<{ change: { event: string | null; occurred_at: string } | null }>(
    `select payload->'health'->'last_change' as change from events
     where tenant_id = $1 and type = 'channel.health_changed' order by seq`,
    [tenant.id],
  );
  return events.map(({ change }) => [change?.event, change?.occurred_at]);
};
const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const FLAGGED = { event: 'FLAGGED', max_daily_conversations_per_business: 'TIER_2K' };

test('a number that is flagged again, after a check found it well, is RED again', async () => {
  const tenant = await gateway.addTenant();
  const channel = async () =>
    dataOf(await gateway.graphql('{ channels { nodes { id health { quality } } } }', {}, tenant.token)).channels
      .nodes[0];
  await report(tenant, 'phone_number_quality_update', FLAGGED, TIME);
  const { id, health } = await channel();
  expect(health.quality).toBe('RED');
  payloadOf(await gateway.mutate('checkChannel', { id }, 'channel { id }', tenant.token));
  expect((await channel()).health.quality).toBe('GREEN');
  await report(tenant, 'phone_number_quality_update', FLAGGED, TIME, 'repeated');
  expect((await channel()).health.quality).toBe('GREEN');
  await report(tenant, 'phone_number_quality_update', FLAGGED, TIME + 1_000_000);
  expect((await channel()).health.quality).toBe('RED');
  expect(await told(tenant)).toEqual([
    ['FLAGGED', at(TIME)],
    ['FLAGGED', at(TIME)],
    ['FLAGGED', at(TIME + 1_000_000)],
  ]);
});

test('a change is told once for each time at which it happened, in seconds or milliseconds', async () => {
  const tenant = await gateway.addTenant();
  const pin = { event: 'PIN_CHANGED', requester: '1' };
  await report(tenant, 'security', pin, TIME);
  await report(tenant, 'security', pin, TIME, 'repeated');
  await report(tenant, 'security', pin, TIME * 1_000);
  await report(tenant, 'security', pin, String(TIME));
  await report(tenant, 'security', pin, TIME + 1);
  expect(await told(tenant)).toEqual([
    ['PIN_CHANGED', at(TIME)],
    ['PIN_CHANGED', at(TIME + 1)],
  ]);
});

test('a time slightly ahead of our clock is told as now, and repetitions are recognised', async () => {
  const tenant = await gateway.addTenant();
  const before = Date.now();
  const ahead = Math.ceil(before / 1_000) + 60;
  await report(tenant, 'security', { event: 'PIN_CHANGED' }, ahead);
  await report(tenant, 'security', { event: 'PIN_CHANGED' }, ahead, 'repeated');
  const [[, occurredAt] = [], ...others] = await told(tenant);
  expect(others).toEqual([]);
  expect(Date.parse(String(occurredAt))).toBeLessThan(ahead * 1_000);
});

test('without a time, or with an absurd one, the same change is a repetition', async () => {
  const tenant = await gateway.addTenant();
  const alert = { entity_type: 'BUSINESS', entity_id: '7', alert_info: { alert_type: 'OBA_APPROVED' } };
  const times = [undefined, 0, -1, 'soon', null, {}, 5, 99_999_999_999, 8e15, 1e300];
  for (const [index, time] of times.entries()) await report(tenant, 'account_alerts', alert, time, index);
  const [first, ...others] = await told(tenant);
  expect(Math.abs(Date.parse(String(first?.[1])) - Date.now())).toBeLessThan(600_000);
  expect(others).toEqual([]);
});
