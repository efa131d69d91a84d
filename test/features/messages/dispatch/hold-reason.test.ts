import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    emulator: { faults: { window: 'open', throughputLimit: false, readReceipts: false } },
  });
});
afterAll(() => gateway.stop());

const send = async (tenant: TestTenant, to: string): Promise<string> =>
  payloadOf(
    await gateway.mutate(
      'sendMessage',
      { to: { phone: to }, content: { text: { body: 'Hello' } } },
      'message { databaseId }',
      tenant.token,
    ),
  ).message.databaseId;
const reasonOf = async (tenant: TestTenant, id: string): Promise<string | null> => {
  const query = 'query ($id: ID!) { message(id: $id) { status statusReason } }';
  const { message } = dataOf(await gateway.graphql(query, { id }, tenant.token));
  expect(message.status).toBe('QUEUED');
  return message.statusReason;
};
const becomes = (tenant: TestTenant, id: string, reason: string) =>
  eventually(async () => expect(await reasonOf(tenant, id)).toContain(reason));

test('a message over the pair limit says so, and those behind it that they wait for it', async () => {
  const tenant = await gateway.addTenant();
  const to = newPhone();
  // The burst that the network allows is 45; then one every six seconds, of which few pass until all are accepted.
  await Promise.all(Array.from({ length: 70 }, () => send(tenant, to)));
  const query = `{ messages(first: 50, filter: { status: { eq: QUEUED } }, orderBy: [{ field: ID, direction: ASC }]) {
    nodes { statusReason } } }`;
  await eventually(async () => {
    const [first, ...others] = dataOf(await gateway.graphql(query, {}, tenant.token)).messages.nodes;
    expect(first.statusReason).toContain('Pair limit');
    expect(others.length).toBeGreaterThan(0);
    for (const { statusReason } of others) expect(statusReason).toContain('An earlier message to the same person');
  });
  gateway.statements.length = 0;
  const list = dataOf(
    await gateway.graphql('{ messages(first: 50) { nodes { status statusReason } } }', {}, tenant.token),
  ).messages.nodes as { status: string; statusReason: string | null }[];
  expect(list.filter(({ status }) => status === 'QUEUED').every(({ statusReason }) => statusReason !== null)).toBe(
    true,
  );
  expect(list.filter(({ status }) => status !== 'QUEUED').every(({ statusReason }) => statusReason === null)).toBe(
    true,
  );
  expect(gateway.statements.filter(text => text.includes('is_behind'))).toHaveLength(1);
});

test('a message that the network refused for now shows its error', async () => {
  const tenant = await gateway.addTenant();
  const to = newPhone();
  gateway.emulator.setFaults({ next: [{ errorCode: 131_056, to, count: 5 }] });
  await becomes(tenant, await send(tenant, to), 'tried again: 131056');
});

test('a quota holds the whole channel, with the error of the network', async () => {
  const tenant = await gateway.addTenant();
  const [one, two] = [newPhone(), newPhone()];
  gateway.emulator.setFaults({ next: [{ errorCode: 80_007, to: one }], regainAccessMinutes: 5 });
  await becomes(tenant, await send(tenant, one), '80007');
  await becomes(tenant, await send(tenant, two), 'The network asked the channel to wait: 80007');
});

test.each([
  { errorCode: 131_000, status: 'QUEUED' },
  { errorCode: 132_069, status: 'QUEUED' },
  { errorCode: 132_068, status: 'FAILED' },
  { errorCode: 131_063, status: 'FAILED' },
])('the error $errorCode of one message holds no other messages of its channel', async ({ errorCode, status }) => {
  const tenant = await gateway.addTenant();
  const [one, two] = [newPhone(), newPhone()];
  gateway.emulator.setFaults({ next: [{ errorCode, httpStatus: 400, to: one, count: 1_000 }] });
  const state = async (id: string) => {
    const query = 'query ($id: ID!) { message(id: $id) { status } channels { nodes { status } } }';
    const { message, channels } = dataOf(await gateway.graphql(query, { id }, tenant.token));
    return [message.status, channels.nodes[0].status];
  };
  const refused = await send(tenant, one);
  if (status === 'QUEUED') await becomes(tenant, refused, String(errorCode));
  else await eventually(async () => expect(await state(refused)).toEqual([status, 'ACTIVE']));
  const other = await send(tenant, two);
  await eventually(async () => expect((await state(other))[0]).toMatch(/SENT|DELIVERED|READ/));
  expect(await state(refused)).toEqual([status, 'ACTIVE']);
});

test('a message whose response was lost waits for its status', async () => {
  const tenant = await gateway.addTenant();
  const to = newPhone();
  gateway.emulator.setFaults({ next: [{ reset: true, when: 'after', to }], dropStatuses: true });
  await becomes(tenant, await send(tenant, to), 'not known whether the network accepted it');
  gateway.emulator.setFaults({ dropStatuses: false });
});

test('a paused channel, and an outbox that a restored database holds, hold what waits', async () => {
  const tenant = await gateway.addTenant();
  const { channels } = dataOf(await gateway.graphql('{ channels { nodes { id } } }', {}, tenant.token));
  const [{ id: channel }] = channels.nodes;
  const set = (name: string, more: object) =>
    gateway.mutate(name, { id: channel, ...more }, 'channel { id }', tenant.token).then(payloadOf);
  await set('updateChannel', { messagesPerSecond: 1 });
  const ids = await Promise.all(Array.from({ length: 12 }, () => send(tenant, newPhone())));
  await set('pauseChannel', { reason: 'Lunch' });
  const query = '{ messages(first: 20, filter: { status: { eq: QUEUED } }) { nodes { statusReason } } }';
  const reasons = async () =>
    dataOf(await gateway.graphql(query, {}, tenant.token)).messages.nodes.map(
      ({ statusReason }: { statusReason: string }) => statusReason,
    );
  await eventually(async () => expect(new Set(await reasons())).toEqual(new Set(['The channel is paused: Lunch.'])));
  await gateway.database.query('update log_origin set outbox_held_at = now(), written_by = pg_current_xact_id()');
  await eventually(async () => expect((await reasons())[0]).toContain('The database was restored'));
  await gateway.database.query('update log_origin set outbox_held_at = null, written_by = pg_current_xact_id()');
  await set('updateChannel', { messagesPerSecond: 1_000 });
  await set('resumeChannel', {});
  await eventually(() => expect(ids.filter(id => gateway.emulator.sent().byCallbackData[id])).toHaveLength(12));
  await eventually(async () => expect(await reasons()).toEqual([]));
});

test('a scheduled message gives a reason only once its time has come', async () => {
  const tenant = await gateway.addTenant();
  const input = {
    to: { phone: newPhone() },
    content: { text: { body: 'Later' } },
    scheduledAt: { instant: new Date(Date.now() + 3_600_000).toISOString() },
  };
  const { message } = payloadOf(await gateway.mutate('sendMessage', input, 'message { databaseId }', tenant.token));
  const rest = async () => {
    const response = await fetch(`${gateway.url}/api/v2/messages/${message.databaseId}?fields=status,status_reason`, {
      headers: { authorization: `Bearer ${tenant.token}` },
    });
    return ((await response.json()) as { data: object }).data;
  };
  await gateway.database.query('update log_origin set outbox_held_at = now(), written_by = pg_current_xact_id()');
  expect(await rest()).toEqual({ status: 'queued', status_reason: null });
  await gateway.database.query(
    "update outbox set due_at = now() - interval '1 second' where tenant_id = $1 and message_id = $2",
    [tenant.id, message.databaseId],
  );
  expect(await rest()).toEqual({ status: 'queued', status_reason: expect.stringContaining('was restored') });
  await gateway.database.query('update log_origin set outbox_held_at = null, written_by = pg_current_xact_id()');
  await eventually(() => expect(gateway.emulator.sent({ to: input.to.phone }).matched).toBe(1));
});
