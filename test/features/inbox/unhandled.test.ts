import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const SECRET = 'test-app-secret';
async function post(body: unknown, secret = SECRET): Promise<number> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(bytes, secret) },
    body: new Uint8Array(bytes),
  });
  await answer.text();
  return answer.status;
}

const change = (field: string, value: object) => ({ field, value });
const body = (id: string, ...changes: object[]) => ({ object: 'whatsapp_business_account', entry: [{ id, changes }] });
const metadata = (tenant: TestTenant) => ({ metadata: { phone_number_id: tenant.phoneNumberId } });
const text = (tenant: TestTenant, id: string, more: object = {}) =>
  change('messages', {
    ...metadata(tenant),
    messages: [{ from: '14155550101', id, timestamp: '1790000000', type: 'text', text: { body: id }, ...more }],
  });

const processed = (tenant: TestTenant) =>
  eventually(async () =>
    expect(await gateway.database.query('select 1 from waiting_webhooks where tenant_id = $1', [tenant.id])).toEqual(
      [],
    ),
  );
const changesOf = (tenant: TestTenant) =>
  gateway.database.query(
    'select field, reason, error, raw, version from network_changes where tenant_id = $1 and handled_at is null order by id',
    [tenant.id],
  );
const unrouted = async () =>
  (
    await gateway.database.query<{ field: string; raw: Buffer }>('select field, raw from unrouted_changes order by id')
  ).map(({ field, raw }) => [field, raw.toString()]);
const healthEvents = (tenant: TestTenant) =>
  gateway.database.query<{ payload: { health: Record<string, unknown>; previous: object; channel: { id: number } } }>(
    `select payload from events where tenant_id = $1 and type = 'channel.health_changed' order by seq`,
    [tenant.id],
  );

describe('a change that cannot be applied', () => {
  test('is stored with field, reason and raw content; other changes are applied', async () => {
    const tenant = await gateway.addTenant();
    const novelty = change('novelty', { ...metadata(tenant), things: [1] });
    const odd = { id: 'wamid.s', status: 'vanished', timestamp: '1790000000' };
    const statuses = change('messages', { ...metadata(tenant), statuses: [odd] });
    expect(await post(body(tenant.wabaId, novelty, text(tenant, 'wamid.u1'), statuses, { field: 7 }))).toBe(200);
    await processed(tenant);
    expect(await changesOf(tenant)).toMatchObject([
      { field: 'novelty', reason: 'unknown_field', raw: { id: tenant.wabaId, changes: [novelty] }, version: '0.1.0' },
      { field: 'messages', reason: 'unreadable', raw: { id: tenant.wabaId, changes: [statuses] } },
      { field: '', reason: 'malformed' },
    ]);
    const stored = await gateway.database.query('select body from messages where tenant_id = $1', [tenant.id]);
    expect(stored).toEqual([{ body: 'wamid.u1' }]);
    // They are counted after the commit.
    await eventually(async () => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      expect(metrics).toContain('parley_network_changes_unhandled_total{field="messages",reason="unreadable"} 1');
      expect(metrics).toContain('parley_network_changes_unhandled_total{field="other",reason="unknown_field"} 1');
    });
  });

  test('because of an error is stored; the rest of its webhook is applied', async () => {
    const tenant = await gateway.addTenant();
    await gateway.database.query(
      `create or replace function refuse_poison() returns trigger language plpgsql as $$
       begin if new.body = 'wamid.poison' then raise exception 'poison'; end if; return new; end $$`,
    );
    await gateway.database.query(
      'create trigger refuse_poison before insert on messages for each row execute function refuse_poison()',
    );
    const texts = ['wamid.good1', 'wamid.poison', 'wamid.good2'].map(id => text(tenant, id));
    expect(await post(body(tenant.wabaId, ...texts))).toBe(200);
    await processed(tenant);
    expect(await changesOf(tenant)).toMatchObject([
      { field: 'messages', reason: 'failed', error: 'poison', raw: { changes: [texts[1]] } },
    ]);
    const stored = await gateway.database.query<{ body: string }>('select body from messages where tenant_id = $1', [
      tenant.id,
    ]);
    expect(stored.map(row => row.body).sort()).toEqual(['wamid.good1', 'wamid.good2']);
  });

  test('because of an invalid timestamp is applied with the time of arrival', async () => {
    const tenant = await gateway.addTenant();
    expect(await post(body(tenant.wabaId, text(tenant, 'wamid.when', { timestamp: 'soon' })))).toBe(200);
    await processed(tenant);
    const [row] = await gateway
      .graphql('{ messages(first: 1) { nodes { text sentAt } } }', {}, tenant.token)
      .then(answer => answer.data.messages.nodes as { text: string; sentAt: string }[]);
    expect(row?.text).toBe('wamid.when');
    expect(Math.abs(Date.parse(row?.sentAt ?? '') - Date.now())).toBeLessThan(600_000);
  });
});

describe('a change that concerns no tenant', () => {
  test('is stored once without a tenant; the rest of the webhook is applied', async () => {
    const tenant = await gateway.addTenant();
    const before = await unrouted();
    const foreign = change('messages', { metadata: { phone_number_id: '999999' }, messages: [] });
    const solution = {
      object: 'x',
      entry: [{ id: 'portfolio', changes: [change('partner_solutions', { event: 'X' })] }],
    };
    for (let time = 0; time < 2; time += 1) {
      expect(await post(body(tenant.wabaId, foreign, text(tenant, 'wamid.mine')))).toBe(200);
      expect(await post(solution)).toBe(200);
    }
    await processed(tenant);
    expect((await unrouted()).slice(before.length)).toEqual([
      ['messages', JSON.stringify({ id: tenant.wabaId, changes: [foreign] })],
      ['partner_solutions', JSON.stringify(solution.entry[0])],
    ]);
    expect(await changesOf(tenant)).toEqual([]);
    expect(await gateway.database.query('select body from messages where tenant_id = $1', [tenant.id])).toEqual([
      { body: 'wamid.mine' },
    ]);
  });

  test('is accepted if one of our secrets signed it, and rejected otherwise', async () => {
    for (const odd of ['', '{"object":', '[]', '{}', '7', '{"entry":[]}', '{"entry":[{"id":"1","messaging":[]}]}']) {
      expect([odd, await post(odd)]).toEqual([odd, 200]);
      expect([odd, await post(odd, 'wrong')]).toEqual([odd, 403]);
    }
    expect((await unrouted()).map(([, raw]) => raw)).toContain('{"object":');
  });

  test('a tenant whose secret did not sign receives nothing', async () => {
    const victim = await gateway.addTenant();
    await gateway.database.query('update channels set app_secret_sealed = $2 where tenant_id = $1', [
      victim.id,
      gateway.gateway.resources.secrets.seal('the-victims-own'),
    ]);
    expect(await post(body(victim.wabaId, text(victim, 'wamid.forged')))).toBe(403);
    const mixed = [text(gateway.tenant, 'wamid.own'), text(victim, 'wamid.forged')];
    expect(await post(body(gateway.tenant.wabaId, ...mixed))).toBe(200);
    expect((await unrouted()).at(-1)?.[1]).toContain('wamid.forged');
    expect(await gateway.database.query('select 1 from inbound_webhooks where tenant_id = $1', [victim.id])).toEqual(
      [],
    );
  });
});

describe('the health of a channel', () => {
  test('follows quality, limits, names, review and restrictions, with an event for each change and none for a repetition', async () => {
    const tenant = await gateway.addTenant();
    const [channel] = await gateway.database.query<{ display_phone_number: string }>(
      'select display_phone_number from channels where tenant_id = $1',
      [tenant.id],
    );
    const display_phone_number = channel?.display_phone_number.replace(/\D/g, '');
    const tell = async (field: string, value: object) => {
      expect(await post(body(tenant.wabaId, change(field, value)))).toBe(200);
      await processed(tenant);
    };
    const flagged = { display_phone_number, event: 'FLAGGED', max_daily_conversations_per_business: 'TIER_2K' };
    await tell('phone_number_quality_update', flagged);
    await tell('phone_number_quality_update', { ...flagged, event: 'FLAGGED' });
    await tell('business_capability_update', { max_daily_conversations_per_business: -1 });
    await tell('phone_number_name_update', { display_phone_number, decision: 'REJECTED', rejection_reason: 'FORMAT' });
    await tell('account_review_update', { decision: 'APPROVED' });
    const restriction_info = [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 4_000_000_000 }];
    await tell('account_update', { event: 'ACCOUNT_RESTRICTION', restriction_info });
    await tell('messages', { ...metadata(tenant), errors: [{ code: 131_031, title: 'Account has been locked' }] });
    const events = await healthEvents(tenant);
    expect(events.map(({ payload }) => payload.previous)).toEqual([
      // As the network answered when the number was connected.
      { quality: 'GREEN', messaging_limit: null },
      { messaging_limit: 2_000 },
      { name_status: 'APPROVED', name_reason: null },
      { account_review: null },
      { account_status: null, restrictions: [] },
      { last_error: null },
    ]);
    expect(events.at(-1)?.payload.health).toMatchObject({
      quality: 'RED',
      messaging_limit: null,
      is_messaging_limit_known: true,
      name_status: 'REJECTED',
      name_reason: 'FORMAT',
      account_review: 'APPROVED',
      account_status: 'RESTRICTED',
      restrictions: [{ type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expires_at: '2096-10-02T07:06:40.000Z' }],
      last_error: { code: 131_031 },
    });
    await tell('account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } });
    expect((await healthEvents(tenant)).at(-1)?.payload.health).toMatchObject({
      account_status: 'ACTIVE',
      restrictions: [],
    });
  });

  test('a change of an account reaches every tenant with a number in it', async () => {
    const [first, second] = [await gateway.addTenant(), await gateway.addTenant()];
    await gateway.database.query('update channels set waba_id = $2 where tenant_id = $1', [second.id, first.wabaId]);
    const review = change('account_review_update', { decision: 'REJECTED', when: first.id });
    expect(await post(body(first.wabaId, review))).toBe(200);
    for (const tenant of [first, second]) {
      await processed(tenant);
      expect(await healthEvents(tenant)).toHaveLength(1);
    }
  });
});
