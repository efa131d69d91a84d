import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConnectChannelInput, connectChannel } from '../../../src/features/channels/connect.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open' } } });
});
afterAll(() => gateway.stop());

const inputOf = (tenant: TestTenant): ConnectChannelInput => ({
  name: 'Main',
  phoneNumberId: tenant.phoneNumberId,
  wabaId: tenant.wabaId,
  accessToken: `access-${Number(tenant.phoneNumberId) - 1_000}`,
  appSecret: 'test-app-secret',
  verifyToken: 'test-verify-token',
});
const connect = (tenant: TestTenant, change: Partial<ConnectChannelInput> = {}) =>
  connectChannel(gateway.gateway.resources, tenant.id, { ...inputOf(tenant), ...change });
const SEND =
  'mutation { sendMessage(input: { to: { phone: "+14155550188" }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';

test('credentials are tried on the network before anything is stored, and a wrong one is named by its field', async () => {
  const { tenant } = gateway;
  const before = await gateway.database.query('select * from channels order by id');
  await expect(connect(tenant, { accessToken: 'wrong' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { accessToken: [expect.any(String)] },
  });
  await expect(connect(tenant, { phoneNumberId: '999' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { phoneNumberId: [expect.any(String)] },
  });
  await expect(connect(tenant, { name: ' ', appSecret: '' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { name: ['Is required.'], appSecret: ['Is required.'] },
  });
  await expect(connect(tenant, { messagesPerSecond: 1_001 })).rejects.toMatchObject({
    details: { messagesPerSecond: [expect.any(String)] },
  });
  expect(await gateway.database.query('select * from channels order by id')).toEqual(before);
});

test('a number has one owner: another tenant gets CONFLICT, also if both connect it at the same time', async () => {
  const [one, two] = [await gateway.addTenant({ channel: false }), await gateway.addTenant({ channel: false })];
  await expect(connectChannel(gateway.gateway.resources, one.id, inputOf(gateway.tenant))).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  const number = {
    phoneNumberId: '77001',
    wabaId: '77002',
    displayPhoneNumber: '+1 555 077 0001',
    verifiedName: 'Wanted',
    accessToken: 'wanted',
  };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(number) }).then(
    answer => answer.text(),
  );
  const outcomes = await Promise.allSettled(
    [one, two].map(tenant => connectChannel(gateway.gateway.resources, tenant.id, { ...inputOf(tenant), ...number })),
  );
  expect(outcomes.map(outcome => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find(outcome => outcome.status === 'rejected')).toMatchObject({ reason: { code: 'CONFLICT' } });
});

test('secrets are sealed at rest, and none stands in an event, an answer or the log', async () => {
  const { tenant } = gateway;
  const [row] = await gateway.database.query<{ text: string }>(
    'select channels::text as text from channels where tenant_id = $1',
    [tenant.id],
  );
  const [events] = await gateway.database.query<{ text: string }>(
    `select string_agg(payload::text, ' ') as text from events where tenant_id = $1`,
    [tenant.id],
  );
  const { data } = await gateway.graphql(
    '{ channels { nodes { id name phoneNumberId status isDefault messagesPerSecond } } }',
  );
  const everything = [row?.text, events?.text, JSON.stringify(data), JSON.stringify(gateway.logs)].join(' ');
  for (const secret of ['access-1', 'test-app-secret', 'test-verify-token', tenant.token]) {
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(Buffer.from(secret).toString('hex'));
  }
});

test('connecting a number again gives it new credentials and resumes it, and what waited is sent', async () => {
  const tenant = await gateway.addTenant();
  gateway.emulator.setFaults({ next: [{ errorCode: 190, to: '+14155550188' }] });
  const { data } = await gateway.graphql(SEND, {}, tenant.token);
  const status = async () =>
    (await gateway.graphql('{ channels { nodes { status statusReason } } }', {}, tenant.token)).data.channels.nodes[0];
  await eventually(async () =>
    expect(await status()).toEqual({ status: 'PAUSED', statusReason: expect.stringContaining('190') }),
  );
  await connect(tenant);
  expect(await status()).toEqual({ status: 'ACTIVE', statusReason: null });
  await eventually(() => expect(gateway.emulator.sent().byCallbackData[data.sendMessage.message.databaseId]).toBe(1));
});

test('a refusal of the former token does not pause a number that was connected with another one meanwhile', async () => {
  const tenant = await gateway.addTenant();
  gateway.emulator.setFaults({ next: [{ errorCode: 190, latencyMs: 2_000, to: '+14155550188' }] });
  const id = dataOf(await gateway.graphql(SEND, {}, tenant.token)).sendMessage.message.databaseId;
  await eventually(async () =>
    expect(
      await gateway.database.query('select from outbox where message_id = $1 and dispatched_at is not null', [id]),
    ).toHaveLength(1),
  );
  const { phoneNumberId, wabaId } = tenant;
  const rotated = { phoneNumberId, wabaId, displayPhoneNumber: '+1 555 077 0002', verifiedName: 'Rotated' };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
    method: 'POST',
    body: JSON.stringify({ ...rotated, accessToken: 'rotated' }),
  }).then(answer => answer.text());
  await connect(tenant, { accessToken: 'rotated' });
  await eventually(() => expect(gateway.emulator.sent().byCallbackData[id]).toBe(1));
  expect(await gateway.database.query('select status from channels where tenant_id = $1', [tenant.id])).toEqual([
    { status: 'active' },
  ]);
});

test('a channel of another tenant is not found, neither to be read nor to be resumed', async () => {
  const other = await gateway.addTenant();
  const { data } = await gateway.graphql('{ channels { nodes { id databaseId } } }', {}, other.token);
  const [theirs] = data.channels.nodes;
  for (const id of [theirs.id, theirs.databaseId, '987654']) {
    expect(dataOf(await gateway.graphql('query ($id: ID!) { channel(id: $id) { id } }', { id }))).toEqual({
      channel: null,
    });
    for (const name of ['resumeChannel', 'pauseChannel', 'updateChannel', 'disconnectChannel'])
      expect((await gateway.mutate(name, { id })).data[name].userErrors).toMatchObject([
        { code: 'NOT_FOUND', message: 'Channel not found.', path: ['id'] },
      ]);
  }
});
