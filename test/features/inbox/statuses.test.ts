import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FaultsPatch } from '../../../src/emulator/faults.ts';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { postRaw } from '../../support/network-webhook.ts';

let gateway: TestGateway;
let people = 0;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { window: 'open', pairLimit: false, throughputLimit: false } } });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.emulator.resetFaults());

const SEND =
  'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hi" } } }) { message { databaseId } userErrors { code message path } } }';

async function send(): Promise<string> {
  people += 1;
  const { data } = await gateway.graphql(SEND, { to: `+1415555${3_000 + people}` });
  return data.sendMessage.message.databaseId;
}

interface Row {
  readonly status: string;
  readonly created_at: Date;
  readonly sent_at: Date | null;
  readonly delivered_at: Date | null;
  readonly read_at: Date | null;
  readonly failed_at: Date | null;
  readonly error: { code: number } | null;
}

async function row(id: string): Promise<Row | undefined> {
  return (
    await gateway.database.query<Row & Record<string, unknown>>(
      'select * from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id where m.id = $1',
      [id],
    )
  )[0];
}

/** The steps that were told of a message, in the order of the log. */
async function steps(id: string): Promise<string[]> {
  const rows = await gateway.database.query<{ type: string }>(
    `select type from events e where payload->'message'->>'id' = $1 order by e.xid, e.seq`,
    [id],
  );
  return rows.map(event => event.type.replace('message.', ''));
}

const settled = async (): Promise<void> => {
  await gateway.emulator.settled();
  await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toHaveLength(0));
};

describe('lost, repeated and reordered webhooks', () => {
  test.each<[string, FaultsPatch]>([
    ['reversed', { reorder: true }],
    ['doubled', { duplicate: 1 }],
    ['reversed, doubled and one by one', { reorder: true, duplicate: 1, batch: 'single' }],
    ['spread over entries and changes', { batch: 'spread' }],
    ['without delivered', { skipDelivered: 1 }],
    ['without delivered, reversed', { skipDelivered: 1, reorder: true, batch: 'single' }],
    ['before the answer', { statusBeforeAnswer: true, latencyMs: 50 }],
  ])(
    '%s: a message ends read with the times of its steps, and no step is told twice or backwards',
    async (_how, faults) => {
      gateway.emulator.setFaults(faults);
      const ids = await Promise.all(Array.from({ length: 15 }, send));
      await eventually(async () => {
        for (const id of ids) expect((await row(id))?.status).toBe('read');
      });
      await settled();
      const order = ['queued', 'sent', 'delivered', 'read'];
      for (const id of ids) {
        const message = await row(id);
        const told = await steps(id);
        expect(told).toEqual(order.filter(step => told.includes(step)));
        expect([told[0], told.at(-1)]).toEqual(['queued', 'read']);
        if (faults.skipDelivered === undefined) expect(message?.delivered_at).not.toBeNull();
        expect([message?.sent_at, message?.read_at, message?.failed_at].map(time => time !== null)).toEqual([
          true,
          true,
          false,
        ]);
        const times = [message?.created_at, message?.sent_at, message?.delivered_at, message?.read_at].flatMap(
          time => time?.getTime() ?? [],
        );
        expect(times).toEqual([...times].sort((a, b) => a - b));
      }
    },
  );

  test('without read receipts a message stays delivered, and with all statuses lost it stays sent', async () => {
    // Of webhooks that overtake each other, the later status alone would be told.
    gateway.emulator.setFaults({ readReceipts: false, webhookConnections: 1 });
    const delivered = await send();
    await eventually(async () => expect((await row(delivered))?.status).toBe('delivered'));
    gateway.emulator.setFaults({ dropStatuses: 1 });
    const sent = await send();
    await eventually(async () => expect((await row(sent))?.status).toBe('sent'));
    await settled();
    expect([await steps(delivered), await steps(sent)]).toEqual([
      ['queued', 'sent', 'delivered'],
      ['queued', 'sent'],
    ]);
  });
});

describe('a status', () => {
  /** A webhook as the network signs it, with statuses of our choice. */
  async function post(
    statuses: object[],
    secret = 'test-app-secret',
    phoneNumberId = gateway.tenant.phoneNumberId,
    wabaId = gateway.tenant.wabaId,
  ): Promise<number> {
    const value = {
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: phoneNumberId, display_phone_number: '1' },
      statuses,
    };
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: wabaId, changes: [{ field: 'messages', value }] }],
    });
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
      body,
    });
    await answer.text();
    return answer.status;
  }

  const at = (): string => String(Math.floor(Date.now() / 1_000));

  test('of an unknown message is ignored, other statuses are applied', async () => {
    gateway.emulator.setFaults({ dropStatuses: 1 });
    const id = await send();
    await eventually(async () => expect((await row(id))?.status).toBe('sent'));
    const [sent] = await gateway.database.query<{ wamid: string }>(
      'select wamid from message_states where message_id = $1',
      [id],
    );
    const unknown = [
      { id: 'wamid.unknown', status: 'read', timestamp: at() },
      { id: 'wamid.other-system', status: 'delivered', timestamp: at(), biz_opaque_callback_data: crypto.randomUUID() },
      { id: 'wamid.other-system', status: 'delivered', timestamp: at(), biz_opaque_callback_data: '{"their":"data"}' },
      { id: 'wamid.unknown', status: 'exploded', timestamp: at() },
      { status: 'read', timestamp: at() },
      null,
    ];
    expect(await post([...(unknown as object[]), { id: sent?.wamid, status: 'delivered', timestamp: at() }])).toBe(200);
    await eventually(async () => expect((await row(id))?.status).toBe('delivered'));
    expect(await gateway.database.query('select 1 from inbound_webhooks where error is not null')).toEqual([]);
  });

  test('cannot fail a delivered message or revive a failed one', async () => {
    gateway.emulator.setFaults({ dropStatuses: 1 });
    const [reached, failed] = [await send(), await send()];
    await eventually(async () =>
      expect([(await row(reached))?.status, (await row(failed))?.status]).toEqual(['sent', 'sent']),
    );
    const error = { code: 131_026, title: 'Message undeliverable', error_data: { details: 'No.' } };
    const of = (id: string, status: string) => ({
      id: `wamid.${id}`,
      status,
      timestamp: at(),
      biz_opaque_callback_data: id,
      ...(status === 'failed' && { errors: [error] }),
    });
    await post([of(reached, 'delivered'), of(failed, 'failed')]);
    await eventually(async () =>
      expect([(await row(reached))?.status, (await row(failed))?.status]).toEqual(['delivered', 'failed']),
    );
    await post([of(reached, 'failed'), of(failed, 'delivered'), of(failed, 'read')]);
    await settled();
    expect(await row(reached)).toMatchObject({ status: 'delivered', failed_at: null, error: null });
    expect(await row(failed)).toMatchObject({
      status: 'failed',
      error: { code: 131_026, title: 'Message undeliverable', details: 'No.' },
    });
    expect(await steps(failed)).toEqual(['queued', 'sent', 'failed']);
  });

  test('signed with another tenant’s secret is ignored', async () => {
    gateway.emulator.setFaults({ dropStatuses: 1 });
    const id = await send();
    await eventually(async () => expect((await row(id))?.status).toBe('sent'));
    const other = await gateway.addTenant();
    const secrets = gateway.gateway.resources.secrets;
    await gateway.database.query('update channels set app_secret_sealed = $2 where tenant_id = $1', [
      other.id,
      secrets.seal('their-own-secret'),
    ]);
    const status = { id: 'wamid.forged', status: 'read', timestamp: at(), biz_opaque_callback_data: id };
    expect(await post([status], 'their-own-secret')).toBe(403);
    expect(await post([status], 'their-own-secret', other.phoneNumberId, other.wabaId)).toBe(200);
    await settled();
    expect((await row(id))?.status).toBe('sent');
  });

  test('of an inbound message, or of a deleted contact, is ignored', async () => {
    const id = await send();
    await eventually(async () => expect((await row(id))?.status).toBe('read'));
    await gateway.graphql('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', {
      id: String(
        (await gateway.database.query<{ contact_id: string }>('select contact_id from messages where id = $1', [id]))[0]
          ?.contact_id,
      ),
    });
    gateway.emulator.inbound({ from: '+14155550000', text: 'Hi', phoneNumberId: gateway.tenant.phoneNumberId });
    const inbound = await eventually(async () => {
      const [message] = await gateway.database.query<{ id: string; wamid: string }>(
        `select message_id as id, wamid from message_states where status = 'received'`,
      );
      if (!message) throw new Error('It has not come yet.');
      return message;
    });
    await post([
      { id: inbound.wamid, status: 'failed', timestamp: at() },
      { id: 'x', status: 'read', timestamp: at(), biz_opaque_callback_data: inbound.id },
      { id: 'y', status: 'failed', timestamp: at(), biz_opaque_callback_data: id },
    ]);
    await settled();
    expect((await row(inbound.id))?.status).toBe('received');
    expect(await gateway.database.query('select 1 from inbound_webhooks where error is not null')).toEqual([]);
  });

  test('concerns the message of its channel, where another channel of the account has the same id', async () => {
    gateway.emulator.setFaults({ dropStatuses: 1 });
    const id = await send();
    await eventually(async () => expect((await row(id))?.status).toBe('sent'));
    const [sent] = await gateway.database.query<{ wamid: string }>(
      'select wamid from message_states where message_id = $1',
      [id],
    );
    const second = {
      ...{ phoneNumberId: '9002', wabaId: '9902', displayPhoneNumber: '+1 555 078 9002', verifiedName: 'Second' },
      accessToken: 'second',
    };
    const secrets = { appSecret: 'test-app-secret', verifyToken: 'a-verify-token' };
    const added = await fetch(`${gateway.emulator.url}/_emulator/numbers`, {
      method: 'POST',
      body: JSON.stringify(second),
    });
    expect(added.status, await added.text()).toBe(200);
    await connectChannel(gateway.gateway.resources, gateway.tenant.id, { ...second, ...secrets, name: 'Second' });
    const metadata = { phone_number_id: second.phoneNumberId };
    const message = { id: sent?.wamid, from: '14155550199', timestamp: at(), type: 'text', text: { body: 'Hello' } };
    const change = { field: 'messages', value: { metadata, messages: [message] } };
    await postRaw(gateway, { entry: [{ id: second.wabaId, changes: [change] }] });
    await settled();
    expect(await post([{ id: sent?.wamid, status: 'read', timestamp: at() }])).toBe(200);
    await eventually(async () => expect((await row(id))?.status).toBe('read'));
  });
});
