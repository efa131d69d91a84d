import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', throughputLimit: false } } });
});
afterAll(() => gateway.stop());

const ask = async (tenant: TestTenant, query: string, variables = {}) =>
  dataOf(await gateway.graphql(query, variables, tenant.token));
const FIELDS =
  'channel { id databaseId name phoneNumberId wabaId portfolioId status statusReason isDefault messagesPerSecond verifiedName }';
const mutate = (tenant: TestTenant, name: string, input: object, selection = FIELDS) =>
  gateway.mutate(name, input, selection, tenant.token);
const channelOf = async (tenant: TestTenant, name: string, input: object) =>
  payloadOf(await mutate(tenant, name, input)).channel;
const channelsOf = async (tenant: TestTenant, args = '') =>
  (await ask(tenant, `{ channels${args} { nodes { id databaseId name status isDefault messagesPerSecond } } }`))
    .channels.nodes;
const send = (tenant: TestTenant, to = newPhone()) =>
  gateway.mutate(
    'sendMessage',
    { to: { phone: to }, content: { text: { body: 'Hello' } } },
    'message { databaseId }',
    tenant.token,
  );
const updates = async (tenant: TestTenant) =>
  (
    await ask(
      tenant,
      '{ events(filter: { types: [CHANNEL_UPDATED] }, last: 20) { nodes { payload ... on ChannelEvent { channel { databaseId } } } } }',
    )
  ).events.nodes as { payload: { channel: Record<string, unknown> }; channel: { databaseId: string } }[];

let numbers = 88_000;
/** A number of the network that nobody has connected. */
async function newNumber() {
  numbers += 1;
  const number = {
    phoneNumberId: `${numbers}1`,
    wabaId: `${numbers}2`,
    displayPhoneNumber: `+1 555 0${numbers}`,
    verifiedName: 'Flowers',
    accessToken: `token-of-${numbers}`,
  };
  const added = await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
    method: 'POST',
    body: JSON.stringify(number),
  });
  expect(added.status, await added.text()).toBe(200);
  const { phoneNumberId, wabaId, accessToken } = number;
  return { name: ' Shop ', phoneNumberId, wabaId, accessToken, appSecret: 'app-secret-1', verifyToken: 'verify-1' };
}

describe('connectChannel', () => {
  test('tries the credentials on the network and shows the number, but none of its secrets', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const input = await newNumber();
    const channel = await channelOf(tenant, 'connectChannel', input);
    expect(channel).toMatchObject({
      name: 'Shop',
      phoneNumberId: input.phoneNumberId,
      wabaId: input.wabaId,
      portfolioId: '4000000000000001',
      verifiedName: 'Flowers',
      status: 'ACTIVE',
      isDefault: true,
      messagesPerSecond: 80,
    });
    await eventually(async () => {
      const [event] = await updates(tenant);
      expect([event?.payload.channel['id'], event?.channel.databaseId]).toEqual([
        Number(channel.databaseId),
        channel.databaseId,
      ]);
    });
    const shown = JSON.stringify([channel, await updates(tenant), gateway.logs]);
    for (const secret of [input.accessToken, input.appSecret, input.verifyToken]) expect(shown).not.toContain(secret);
  });

  test('names every faulty field at once, then the one that the network refuses, and stores nothing', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const input = await newNumber();
    const faulty = { ...input, name: ' ', phoneNumberId: '+1 555', appSecret: '', messagesPerSecond: 2_000 };
    expect(faultsOf(await mutate(tenant, 'connectChannel', faulty))).toEqual({
      name: ['Is required.'],
      phoneNumberId: [expect.stringContaining('digits')],
      appSecret: ['Is required.'],
      messagesPerSecond: ['Must be from 1 to 1000.'],
    });
    expect(userErrorsOf(await mutate(tenant, 'connectChannel', { ...input, accessToken: 'wrong' }))).toMatchObject([
      { code: 'NETWORK_REFUSED', path: ['accessToken'] },
    ]);
    expect(userErrorsOf(await mutate(tenant, 'connectChannel', { ...input, phoneNumberId: '999' }))).toMatchObject([
      { code: 'NETWORK_REFUSED', path: ['phoneNumberId'] },
    ]);
    expect(await channelsOf(tenant)).toEqual([]);
  });

  test('repeated with its key changes nothing; without it, replaces the credentials and resumes the channel', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const input = { ...(await newNumber()), idempotencyKey: 'connect-1' };
    const first = await channelOf(tenant, 'connectChannel', input);
    await channelOf(tenant, 'pauseChannel', { id: first.id });
    expect(await channelOf(tenant, 'connectChannel', input)).toMatchObject({ id: first.id, status: 'PAUSED' });
    expect(codeOf(await mutate(tenant, 'connectChannel', { ...input, appSecret: 'other' }))).toBe(
      'IDEMPOTENCY_MISMATCH',
    );
    expect(await channelOf(tenant, 'connectChannel', { ...input, idempotencyKey: null })).toMatchObject({
      id: first.id,
      status: 'ACTIVE',
    });
    expect(await channelsOf(tenant)).toHaveLength(1);
  });

  test('of a number that another account has is a conflict, also in a race of two', async () => {
    const [one, two] = [await gateway.addTenant({ channel: false }), await gateway.addTenant({ channel: false })];
    const input = await newNumber();
    const codes = await Promise.all(
      [one, two].map(async tenant => codeOf(await mutate(tenant, 'connectChannel', input))),
    );
    expect(codes.sort()).toEqual(['CONFLICT', undefined]);
  });

  test.each(['connectChannel', 'updateChannel', 'pauseChannel', 'resumeChannel', 'disconnectChannel'])(
    '%s needs the scope channels:write',
    async name => {
      const reader = await gateway.addToken(gateway.tenant, { scopes: ['channels:read'] });
      const input = name === 'connectChannel' ? await newNumber() : { id: '1' };
      expect(codeOf(await gateway.mutate(name, input, 'channel { id }', reader))).toBe('INSUFFICIENT_SCOPE');
    },
  );
});

test('updateChannel changes name, rate, portfolio and default, with one event for each changed channel', async () => {
  const tenant = await gateway.addTenant();
  const [former] = await channelsOf(tenant);
  const { id } = await channelOf(tenant, 'connectChannel', await newNumber());
  // One of the tenant's first channel, one of the second.
  await eventually(async () => expect(await updates(tenant)).toHaveLength(2));
  expect(
    await channelOf(tenant, 'updateChannel', { id, name: 'Support', messagesPerSecond: 20, isDefault: true }),
  ).toMatchObject({ name: 'Support', messagesPerSecond: 20, isDefault: true });
  expect(await channelsOf(tenant)).toMatchObject([
    { id: former.id, isDefault: false },
    { id, isDefault: true, name: 'Support' },
  ]);
  const changes = async () => (await updates(tenant)).slice(2).map(({ payload: { channel } }) => channel['is_default']);
  await eventually(async () => expect(await changes()).toEqual([false, true]));
  // The same again is no change.
  await channelOf(tenant, 'updateChannel', { id, name: 'Support', isDefault: true });
  expect(await channelOf(tenant, 'updateChannel', { id, portfolioId: '7001' })).toMatchObject({ portfolioId: '7001' });
  await eventually(async () => expect(await changes()).toEqual([false, true, true]));
  expect(faultsOf(await mutate(tenant, 'updateChannel', { id, name: ' ', messagesPerSecond: 0 }))).toEqual({
    name: ['Is required.'],
    messagesPerSecond: ['Must be from 1 to 1000.'],
  });
  expect(codeOf(await mutate(tenant, 'updateChannel', { id, isDefault: false }))).toBe('CONFLICT');
});

test('channels are filtered, sorted, searched and paged', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  for (const name of ['Bravo', 'Alpha', 'Charlie'])
    await channelOf(tenant, 'connectChannel', { ...(await newNumber()), name });
  const names = async (args: string) => (await channelsOf(tenant, args)).map(({ name }: { name: string }) => name);
  expect(await names('')).toEqual(['Bravo', 'Alpha', 'Charlie']);
  expect(await names('(orderBy: [{ field: NAME }], first: 2)')).toEqual(['Alpha', 'Bravo']);
  expect(await names('(filter: { isDefault: { eq: false }, status: { eq: ACTIVE } })')).toEqual(['Alpha', 'Charlie']);
  expect(await names('(search: "char")')).toEqual(['Charlie']);
});

describe('a channel that is paused while its messages are being sent', () => {
  test('stops within a turn, refuses new messages, and sends what waits once it is resumed', async () => {
    const tenant = await gateway.addTenant();
    const [{ id }] = await channelsOf(tenant);
    // Slower than any machine accepts, so that most messages wait when the channel is paused.
    await channelOf(tenant, 'updateChannel', { id, messagesPerSecond: 1 });
    const ids: string[] = await Promise.all(
      Array.from({ length: 40 }, async () => payloadOf(await send(tenant)).message.databaseId),
    );
    const sent = () => ids.filter(one => gateway.emulator.sent().byCallbackData[one]).length;
    await eventually(() => expect(sent()).toBeGreaterThan(0));
    expect(await channelOf(tenant, 'pauseChannel', { id, reason: 'Lunch' })).toMatchObject({
      status: 'PAUSED',
      statusReason: 'Lunch',
    });
    const refused = await send(tenant);
    expect(codeOf(refused)).toBe('MESSAGING_NOT_CONFIGURED');
    expect(JSON.stringify(refused)).toContain('The channel is paused: Lunch.');
    // The lane of a paused channel ends its turn.
    await eventually(async () =>
      expect(
        await gateway.database.query(`select from lanes where queue = 'outbox' and tenant_id = $1 and holder is null`, [
          tenant.id,
        ]),
      ).toHaveLength(1),
    );
    const before = sent();
    expect(before).toBeLessThan(40);
    await new Promise(resolve => setTimeout(resolve, 1_500));
    expect(sent()).toBe(before);
    await channelOf(tenant, 'updateChannel', { id, messagesPerSecond: 1_000 });
    expect(await channelOf(tenant, 'resumeChannel', { id })).toMatchObject({ status: 'ACTIVE', statusReason: null });
    await eventually(() => expect(sent()).toBe(40));
  });

  test('takes a new rate while it sends', async () => {
    const tenant = await gateway.addTenant();
    const [{ id }] = await channelsOf(tenant);
    await channelOf(tenant, 'updateChannel', { id, messagesPerSecond: 1 });
    const ids: string[] = await Promise.all(
      Array.from({ length: 200 }, async () => payloadOf(await send(tenant)).message.databaseId),
    );
    const sent = () => ids.filter(one => gateway.emulator.sent().byCallbackData[one]).length;
    await eventually(() => expect(sent()).toBeGreaterThan(0));
    await channelOf(tenant, 'updateChannel', { id, messagesPerSecond: 1_000 });
    // At the old rate they would take longer than the test waits.
    await eventually(() => expect(sent()).toBe(200));
  });
});

test('disconnectChannel cancels what waits, and says how much; pausing or resuming it then is a conflict', async () => {
  const tenant = await gateway.addTenant();
  const [{ id }] = await channelsOf(tenant);
  await channelOf(tenant, 'updateChannel', { id, messagesPerSecond: 1 });
  await Promise.all(Array.from({ length: 10 }, () => send(tenant)));
  const input = { id, reason: 'Moved', idempotencyKey: 'bye' };
  const first = payloadOf(await mutate(tenant, 'disconnectChannel', input, `cancelledCount ${FIELDS}`));
  expect(first).toMatchObject({ channel: { status: 'DISCONNECTED', statusReason: 'Moved', isDefault: false } });
  expect(first.cancelledCount).toBeGreaterThan(0);
  expect(payloadOf(await mutate(tenant, 'disconnectChannel', input, 'cancelledCount'))).toMatchObject({
    cancelledCount: first.cancelledCount,
  });
  for (const name of ['pauseChannel', 'resumeChannel'])
    expect(codeOf(await mutate(tenant, name, { id }))).toBe('CONFLICT');
  expect(codeOf(await mutate(tenant, 'updateChannel', { id, isDefault: true }))).toBe('CONFLICT');
  expect(faultsOf(await mutate(tenant, 'disconnectChannel', { id, reason: 'x'.repeat(201) }))).toEqual({
    reason: ['May have at most 200 characters.'],
  });
});
