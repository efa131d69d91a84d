import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectChannelInput, connectChannel } from '../../../src/features/channels/connect.ts';
import { setPortfolio } from '../../../src/features/channels/set-portfolio.ts';
import { dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { sendAs } from '../../support/sending.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false, window: 'open' } } });
});
afterAll(() => gateway.stop());

let numbers = 88_000;
/** Connects another number of the network for a tenant: of a business account and a portfolio of its own, unless told. */
async function connect(
  tenant: TestTenant,
  network: { readonly wabaId?: string; readonly portfolioId?: string } = {},
  change: Partial<ConnectChannelInput> = {},
) {
  numbers += 10;
  const number = {
    phoneNumberId: `${numbers}`,
    wabaId: `${numbers + 1}`,
    displayPhoneNumber: `+1 555 0${numbers}`,
    verifiedName: 'Another',
    accessToken: `access-${numbers}`,
    ...network,
  };
  const answer = await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
    method: 'POST',
    body: JSON.stringify(number),
  });
  expect(answer.status).toBe(200);
  const channel = await connectChannel(gateway.gateway.resources, tenant.id, {
    ...number,
    name: 'Another',
    appSecret: 'test-app-secret',
    verifyToken: 'test-verify-token',
    portfolioId: undefined,
    ...change,
  });
  return { ...number, channel };
}
type Inbound = Parameters<TestGateway['emulator']['inbound']>[0];
const write = (phoneNumberId: string, message: object) =>
  gateway.emulator.inbound({ text: 'Hello', ...message, phoneNumberId } as Inbound);
const read = async (): Promise<void> => {
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
};
const contactsOf = async (tenant: TestTenant): Promise<{ id: string; databaseId: number }[]> =>
  dataOf(await gateway.graphql('{ contacts { nodes { id databaseId } } }', {}, tenant.token))['contacts'].nodes;
const send = (tenant: TestTenant, to: string, from?: number) =>
  sendAs(
    gateway,
    'text',
    { to, text: 'Hi', channelId: from === undefined ? null : String(from), waitForAcceptance: true },
    'databaseId status',
    tenant.token,
  );
const portfolios = async (tenant: TestTenant) =>
  dataOf(await gateway.graphql('{ channels { nodes { portfolioId } } }', {}, tenant.token))['channels'].nodes.map(
    (channel: { portfolioId: string | null }) => channel.portfolioId,
  );

test('connecting a number asks the network who owns its business account', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  await connect(tenant, { portfolioId: '7001' });
  expect(await portfolios(tenant)).toEqual(['7001']);
  const [event] = await gateway.database.query<{ payload: object }>(
    `select payload from events where tenant_id = $1 and type = 'channel.updated'`,
    [tenant.id],
  );
  expect(event?.payload).toMatchObject({ channel: { portfolio_id: '7001' } });
});

test('where the network does not show the owner, the number is connected without, and the operator can tell', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  gateway.emulator.setFaults({ ownerInfo: false });
  await connect(tenant, { wabaId: '88700' });
  expect(await portfolios(tenant)).toEqual([null]);
  await connect(tenant, {}, { portfolioId: '7002' });
  expect(await portfolios(tenant)).toEqual([null, '7002']);
  await expect(connect(tenant, {}, { portfolioId: 'Acme' })).rejects.toMatchObject({
    details: { portfolioId: [expect.stringContaining('digits')] },
  });
  // One account has one owner: what is known of one of its channels is known of all.
  await gateway.gateway.resources.db.transaction(trx => setPortfolio(trx, tenant.id, '88700', '7003', Date.now()));
  await connect(tenant, { wabaId: '88700' });
  expect(await portfolios(tenant)).toEqual(['7003', '7002', '7003']);
  gateway.emulator.setFaults({ ownerInfo: true });
});

test('a webhook that names the owner of an account fills it', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  gateway.emulator.setFaults({ ownerInfo: false });
  const { wabaId } = await connect(tenant);
  gateway.emulator.setFaults({ ownerInfo: true });
  const change = {
    field: 'account_update',
    entryId: '7099',
    value: { event: 'PARTNER_ADDED', waba_info: { waba_id: wabaId, owner_business_id: '7004' } },
  };
  await fetch(`${gateway.emulator.url}/_emulator/changes`, { method: 'POST', body: JSON.stringify(change) });
  await eventually(async () => expect(await portfolios(tenant)).toEqual(['7004']));
});

test('two accounts turn out to be of one portfolio: a user id seen on both is one person, and the contacts are merged', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  gateway.emulator.setFaults({ ownerInfo: false });
  const [a, b] = [await connect(tenant), await connect(tenant)];
  gateway.emulator.setFaults({ ownerInfo: true });
  for (const { phoneNumberId } of [a, b]) write(phoneNumberId, { userId: 'DE.both' });
  write(b.phoneNumberId, { userId: 'DE.other' });
  await read();
  const before = await contactsOf(tenant);
  expect(before).toHaveLength(3);
  const set = (wabaId: string) =>
    gateway.gateway.resources.db.transaction(trx => setPortfolio(trx, tenant.id, wabaId, '7005', Date.now()));
  await set(a.wabaId);
  expect(await contactsOf(tenant)).toHaveLength(3);
  await set(b.wabaId);
  expect(await contactsOf(tenant)).toHaveLength(2);
  expect(await set(b.wabaId)).toEqual([]);
  for (const { phoneNumberId } of [a, b]) write(phoneNumberId, { userId: 'DE.both' });
  await read();
  expect(await contactsOf(tenant)).toHaveLength(2);
  expect(
    await gateway.database.query(
      `select distinct portfolio from contact_identities where tenant_id = $1 and kind = 'user_id'`,
      [tenant.id],
    ),
  ).toEqual([{ portfolio: '7005' }]);
});

test("a person without a number is addressed by the user id of the channel's portfolio", async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const [a, b] = [await connect(tenant, { portfolioId: '7011' }), await connect(tenant, { portfolioId: '7012' })];
  const parent = { parentUserId: 'DE.ENT.person' };
  write(a.phoneNumberId, { userId: 'DE.inA', ...parent });
  await read();
  write(b.phoneNumberId, { userId: 'DE.inB', ...parent });
  await read();
  const [contact, ...others] = await contactsOf(tenant);
  expect(others).toEqual([]);
  for (const [number, userId] of [
    [a, 'DE.inA'],
    [b, 'DE.inB'],
  ] as const) {
    const { message } = payloadOf(await send(tenant, contact?.id ?? '', number.channel.id));
    expect(gateway.emulator.sent({ callbackData: message.databaseId }).messages).toMatchObject([{ to: userId }]);
  }
});

test('a person whom another portfolio alone knows is refused with a clear error, and nothing is sent', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const [a, b] = [await connect(tenant, { portfolioId: '7021' }), await connect(tenant, { portfolioId: '7022' })];
  write(a.phoneNumberId, { userId: 'DE.onlyA' });
  await read();
  const [contact] = await contactsOf(tenant);
  expect(faultsOf(await send(tenant, contact?.id ?? '', b.channel.id))).toEqual({
    'to.contactId': ['This contact has no phone number, and no user id in the business portfolio of the channel.'],
  });
  expect(payloadOf(await send(tenant, contact?.id ?? '', a.channel.id)).message).toBeTruthy();
});

test('an alert about a portfolio reaches its channels in every account and tenant, and no others', async () => {
  const tenants = [
    await gateway.addTenant({ channel: false }),
    await gateway.addTenant({ channel: false }),
    await gateway.addTenant({ channel: false }),
  ] as const;
  const first = await connect(tenants[0], { portfolioId: '7031' });
  await connect(tenants[0], { portfolioId: '7031' });
  await connect(tenants[1], { portfolioId: '7031' });
  await connect(tenants[2], { portfolioId: '7032' });
  const change = {
    field: 'account_alerts',
    entryId: first.wabaId,
    value: { entity_type: 'BUSINESS', entity_id: '7031', alert_info: { alert_type: 'OBA_APPROVED' } },
  };
  await fetch(`${gateway.emulator.url}/_emulator/changes`, { method: 'POST', body: JSON.stringify(change) });
  const told = async () =>
    (
      await gateway.database.query<{ n: number }>(
        `select (select count(*)::int from events e where e.tenant_id = t.id and e.type = 'channel.health_changed') as n
         from unnest($1::bigint[]) with ordinality as t (id, place) order by place`,
        [tenants.map(tenant => tenant.id)],
      )
    ).map(row => row.n);
  await eventually(async () => expect(await told()).toEqual([2, 1, 0]));
});
