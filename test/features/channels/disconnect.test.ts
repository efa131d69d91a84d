import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { disconnectChannel } from '../../../src/features/channels/disconnect.ts';
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
      if (answer.errors) {
        expect(codeOf(answer)).toBe('MESSAGING_NOT_CONFIGURED');
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
