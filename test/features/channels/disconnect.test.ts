import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { disconnectChannel, writeDisconnected } from '../../../src/features/channels/disconnect.ts';
import { laneOf, OUTBOX } from '../../../src/features/messages/dispatch/lane.ts';
import { acceptMessages } from '../../../src/features/messages/send/accept-messages.ts';
import { textContent } from '../../../src/features/messages/send/send-text.ts';
import { actFor } from '../../../src/features/tenancy/tenants/act.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', throughputLimit: false } } });
});
afterAll(() => gateway.stop());

const ask = (tenant: TestTenant, query: string, variables = {}) => gateway.graphql(query, variables, tenant.token);
const channelsOf = async (tenant: TestTenant) =>
  dataOf(await ask(tenant, '{ channels { nodes { databaseId status statusReason isDefault phoneNumberId } } }'))
    .channels.nodes;
const connect = (tenant: TestTenant, number: TestTenant, messagesPerSecond = 1_000) =>
  connectChannel(gateway.gateway.resources, tenant.id, {
    name: 'Main',
    phoneNumberId: number.phoneNumberId,
    wabaId: number.wabaId,
    accessToken: `access-${Number(number.phoneNumberId) - 1_000}`,
    appSecret: 'test-app-secret',
    verifyToken: 'test-verify-token',
    messagesPerSecond,
  });
const disconnect = async (tenant: TestTenant) => {
  const [channel] = await channelsOf(tenant);
  return disconnectChannel(gateway.gateway.resources, tenant.id, Number(channel.databaseId), 'Moved');
};
const send = (tenant: TestTenant, to = newPhone()) =>
  ask(
    tenant,
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hello" } } }) { message { databaseId } userErrors { code message path } } }',
    { to },
  );

/** The status of every message that was accepted, by its id. */
async function statuses(tenant: TestTenant): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let offset = 0; ; offset += 100) {
    const { nodes } = dataOf(
      await ask(
        tenant,
        `{ messages(first: 100, offset: ${offset}, filter: { direction: { eq: OUTBOUND } }) { nodes { databaseId status } } }`,
      ),
    ).messages;
    for (const { databaseId, status } of nodes) found.set(databaseId, status);
    if (nodes.length < 100) return found;
  }
}

const cancelledEvents = async (tenant: TestTenant): Promise<string[]> =>
  (
    await gateway.database.query<{ id: string }>(
      "select payload->'message'->>'id' as id from events where tenant_id = $1 and type = 'message.cancelled'",
      [tenant.id],
    )
  ).map(({ id }) => id);

/** Whether every message has ended: none waits, and what the network took went there once. */
async function expectEnded(tenant: TestTenant, accepted: readonly string[]): Promise<Map<string, string>> {
  await eventually(async () => expect([...(await statuses(tenant)).values()]).not.toContain('QUEUED'));
  const ended = await statuses(tenant);
  expect([...ended.keys()].sort()).toEqual([...accepted].sort());
  const { byCallbackData } = gateway.emulator.sent();
  for (const [id, status] of ended) expect([id, byCallbackData[id] ?? 0]).toEqual([id, status === 'CANCELLED' ? 0 : 1]);
  return ended;
}

describe('a channel that is disconnected while its messages are being sent', () => {
  test('sends each message once or cancels it with one event, also those accepted at that moment', async () => {
    const tenant = await gateway.addTenant();
    // Slower than any machine accepts, so that some messages still wait when the channel goes.
    await connect(tenant, tenant, 5);
    const accepted: string[] = [];
    let refused = 0;
    const accept = async () => {
      const answer = await send(tenant);
      const code = codeOf(answer);
      if (code !== undefined) {
        expect(code).toBe('MESSAGING_NOT_CONFIGURED');
        refused += 1;
      } else accepted.push(answer.data.sendMessage.message.databaseId);
    };
    await Promise.all(Array.from({ length: 120 }, accept));
    await eventually(() => expect(gateway.emulator.sent().matched).toBeGreaterThan(5));
    const [{ cancelled, channel }] = await Promise.all([disconnect(tenant), ...Array.from({ length: 60 }, accept)]);
    expect([channel.status, channel.status_reason, cancelled > 0]).toEqual(['disconnected', 'Moved', true]);
    expect(codeOf(await send(tenant))).toBe('MESSAGING_NOT_CONFIGURED');
    expect(accepted.length + refused).toBe(180);
    const ended = await expectEnded(tenant, accepted);
    const gone = [...ended].filter(([, status]) => status === 'CANCELLED').map(([id]) => id);
    expect((await cancelledEvents(tenant)).sort()).toEqual(gone.sort());
    expect(gone.length).toBeGreaterThanOrEqual(cancelled);
    expect(
      codeOf(
        await ask(
          tenant,
          `mutation { resumeChannel(input: { id: "${channel.id}" }) { channel { status } userErrors { code message path } } }`,
        ),
      ),
    ).toBe('CONFLICT');
  });

  test('keeps its history when it is connected again, and sends', async () => {
    const tenant = await gateway.addTenant();
    const to = newPhone();
    dataOf(await send(tenant, to));
    const [before] = await channelsOf(tenant);
    await disconnect(tenant);
    expect(await channelsOf(tenant)).toEqual([
      { ...before, status: 'DISCONNECTED', statusReason: 'Moved', isDefault: false },
    ]);
    await connect(tenant, tenant);
    expect(await channelsOf(tenant)).toEqual([before]);
    dataOf(await send(tenant, to));
    const { nodes } = dataOf(await ask(tenant, '{ messages { nodes { conversationId } } }')).messages;
    expect([nodes.length, new Set(nodes.map((node: { conversationId: number }) => node.conversationId)).size]).toEqual([
      2, 1,
    ]);
  });

  test('may be connected by another tenant, who gets none of its history; the first one is then refused', async () => {
    const [first, second] = [await gateway.addTenant(), await gateway.addTenant({ channel: false })];
    dataOf(await send(first));
    await expect(connect(second, first)).rejects.toMatchObject({ code: 'CONFLICT' });
    await disconnect(first);
    await connect(second, first);
    const count = async (tenant: TestTenant) =>
      dataOf(await ask(tenant, '{ messages { totalCount } contacts { totalCount } }'));
    expect(await count(second)).toEqual({ messages: { totalCount: 0 }, contacts: { totalCount: 0 } });
    await expect(connect(first, first)).rejects.toMatchObject({ code: 'CONFLICT' });
    // And back again: the first tenant finds what it had, and nothing of the second one.
    await disconnect(second);
    await connect(first, first);
    expect((await channelsOf(first)).map(({ status }: { status: string }) => status)).toEqual(['ACTIVE']);
    expect((await count(first)).messages.totalCount).toBe(1);
  });

  test('that another tenant connects brings the new owner what people write from then on, and the first one nothing of it', async () => {
    const [first, second] = [await gateway.addTenant(), await gateway.addTenant({ channel: false })];
    const { phoneNumberId } = first;
    const inbound = async (tenant: TestTenant) =>
      (
        await gateway.database.query<{ body: string }>(
          "select body from messages where tenant_id = $1 and direction = 'inbound' order by id",
          [tenant.id],
        )
      ).map(({ body }) => body);
    gateway.emulator.inbound({ from: newPhone(), text: 'To the first', phoneNumberId });
    await eventually(async () => expect(await inbound(first)).toEqual(['To the first']));
    await disconnect(first);
    await connect(second, first);
    gateway.emulator.inbound({ from: newPhone(), text: 'To the second', phoneNumberId });
    await eventually(async () =>
      expect([await inbound(first), await inbound(second)]).toEqual([['To the first'], ['To the second']]),
    );
  });
});

describe('a channel with a long queue', () => {
  /** A tenant whose channel takes minutes for its queue. */
  async function withQueue(length: number): Promise<{ tenant: TestTenant; channelId: number }> {
    const tenant = await gateway.addTenant();
    await connect(tenant, tenant, 1);
    const context = await actFor(gateway.gateway.resources, tenant.id, 'test', ['messages:send']);
    if (!context) throw new Error('There is no such tenant.');
    const request = { operation: 'sendMessages', content: textContent({ text: 'Hi' }) };
    const input = { to: newPhone(), text: 'Hi' };
    for (let made = 0; made < length; made += 500) {
      const requests = Array.from({ length: Math.min(500, length - made) }, () => ({ ...request, input }));
      for (const outcome of await acceptMessages(context, requests)) expect(outcome).toHaveProperty('message');
    }
    const [channel] = await channelsOf(tenant);
    return { tenant, channelId: Number(channel.databaseId) };
  }
  /** Numbers of events of cancelled messages by transaction. */
  const cancelledByTransaction = async (tenant: TestTenant) =>
    (
      await gateway.database.query<{ count: number }>(
        `select count(*)::int as count from events where tenant_id = $1 and type = 'message.cancelled' group by xid order by 1 desc`,
        [tenant.id],
      )
    ).map(({ count }) => count);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

  test('is emptied in transactions of 500 messages, which readers of the event log wait for', async () => {
    const { tenant } = await withQueue(1_200);
    const { cancelled, channel } = await disconnect(tenant);
    expect(channel.status).toBe('disconnected');
    const counts = await cancelledByTransaction(tenant);
    expect([counts.length, counts[0]]).toEqual([3, 500]);
    expect(sum(counts)).toBe(cancelled);
    expect(cancelled).toBeGreaterThan(1_000);
    const [{ beside } = { beside: 0 }] = await gateway.database.query<{ beside: number }>(
      `select count(*)::int as beside from events e where tenant_id = $1 and type = 'channel.updated' and payload->'channel'->>'status' = 'disconnected'
         and not exists (select from events c where c.tenant_id = $1 and c.type = 'message.cancelled' and c.xid = e.xid)`,
      [tenant.id],
    );
    expect(beside).toBe(1);
  });

  test('is emptied by its lane if the process that disconnects it dies, unless it is connected again before', async () => {
    const [left, again] = [await withQueue(700), await withQueue(10)];
    const { db, lanes } = gateway.gateway.resources;
    for (const { tenant, channelId } of [left, again]) {
      const { waiting } = await db.transaction(trx => writeDisconnected(trx, tenant.id, channelId, 'Moved'));
      expect(waiting.length).toBeGreaterThan(5);
      if (tenant === again.tenant) await connect(tenant, tenant);
      lanes.wake(OUTBOX, laneOf(tenant.id, channelId));
    }
    const waits = async ({ tenant }: typeof left) =>
      gateway.database.query('select from outbox where tenant_id = $1', [tenant.id]);
    await eventually(async () => expect([await waits(left), await waits(again)]).toEqual([[], []]));
    // One that was about to be sent is cancelled by a later turn.
    const counts = await cancelledByTransaction(left.tenant);
    expect(counts[0]).toBeLessThanOrEqual(500);
    expect(sum(counts)).toBeGreaterThan(600);
    expect(await cancelledByTransaction(again.tenant)).toEqual([]);
  });
});
