import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectChannel } from '../../../src/features/channels/connect.ts';
import { disconnectChannel } from '../../../src/features/channels/disconnect.ts';
import { reprocess } from '../../../src/features/inbox/reprocess.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const SECRET = 'test-app-secret';
const OTHER_SECRET = 'another-secret';

type Numbers = Pick<TestTenant, 'phoneNumberId' | 'wabaId'>;

async function post(body: object, secret = SECRET): Promise<number> {
  const text = JSON.stringify(body);
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(text), secret) },
    body: text,
  });
  await answer.text();
  return answer.status;
}

const bodyOf = (...entry: object[]) => ({ object: 'whatsapp_business_account', entry });
const entryOf = ({ wabaId }: Numbers, field: string, value: object) => ({ id: wabaId, changes: [{ field, value }] });
const textTo = (number: Numbers, body: string) =>
  entryOf(number, 'messages', {
    metadata: { phone_number_id: number.phoneNumberId },
    messages: [{ from: '14155550101', id: `wamid.${body}`, timestamp: '1790000000', type: 'text', text: { body } }],
  });

const connect = (tenant: TestTenant, number: Numbers, appSecret = SECRET) =>
  connectChannel(gateway.gateway.resources, tenant.id, {
    name: 'Another',
    ...number,
    accessToken: `access-${Number(number.phoneNumberId) - 1_000}`,
    appSecret,
    verifyToken: 'test-verify-token',
    messagesPerSecond: 1_000,
  });

/** Another number of the network, which no tenant has connected. */
async function newNumber({ phoneNumberId }: Numbers, wabaId: string): Promise<Numbers> {
  const number = { phoneNumberId: `9${phoneNumberId}`, wabaId };
  const business = {
    ...number,
    displayPhoneNumber: `+1 555 079 ${phoneNumberId}`,
    verifiedName: 'Another',
    accessToken: `access-${Number(number.phoneNumberId) - 1_000}`,
    messagesPerSecond: 1_000,
  };
  await fetch(`${gateway.emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(business) });
  return number;
}

const channelId = async (tenant: TestTenant, number: Numbers): Promise<number> => {
  const [row] = await gateway.database.query<{ id: number }>(
    'select id::int from channels where tenant_id = $1 and phone_number_id = $2',
    [tenant.id, number.phoneNumberId],
  );
  return row?.id ?? 0;
};
const textsOf = async (tenant: TestTenant): Promise<string[]> =>
  (
    await gateway.database.query<{ body: string }>('select body from messages where tenant_id = $1 order by body', [
      tenant.id,
    ])
  ).map(({ body }) => body);
const processed = () =>
  eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));

/** A tenant with two numbers, of which the second has another app. */
async function withTwoApps(account: 'one account' | 'two accounts') {
  const tenant = await gateway.addTenant();
  const second = await newNumber(tenant, account === 'one account' ? tenant.wabaId : `9${tenant.wabaId}`);
  await connect(tenant, second, OTHER_SECRET);
  return { tenant, second };
}

describe('a number that another tenant has connected', () => {
  async function moved() {
    const [former, owner] = [await gateway.addTenant(), await gateway.addTenant({ channel: false })];
    const left = await newNumber(former, former.wabaId);
    await connect(former, left);
    await disconnectChannel(gateway.gateway.resources, former.id, await channelId(former, former), 'Moved');
    await connect(owner, former);
    return { former, owner, left };
  }

  test('brings the former owner nothing, also in one body with a change of a number that it still has', async () => {
    const { former, owner, left } = await moved();
    expect(await post(bodyOf(textTo(former, 'secret of the owner'), textTo(left, 'for the former')))).toBe(200);
    await processed();
    expect(await textsOf(former)).toEqual(['for the former']);
    expect(await textsOf(owner)).toEqual(['secret of the owner']);
  });

  test('brings the former owner nothing of a webhook that an earlier version stored, but what is its own', async () => {
    const { former, left } = await moved();
    const body = JSON.stringify(bodyOf(textTo(former, 'secret of the owner'), textTo(left, 'for the former')));
    await gateway.database.query(
      `with w as (
         insert into inbound_webhooks (tenant_id, digest, id, body) values ($1, '\\x02', gen_random_uuid(), $2) returning tenant_id, id
       ) insert into waiting_webhooks (tenant_id, id) select * from w`,
      [former.id, Buffer.from(body)],
    );
    await eventually(async () => expect(await textsOf(former)).toEqual(['for the former']));
  });
});

describe('a channel whose secret did not sign the body', () => {
  test('is not changed by it, also if another channel of the tenant signed and is named', async () => {
    const { tenant, second } = await withTwoApps('two accounts');
    expect(await post(bodyOf(textTo(second, 'forged')))).toBe(403);
    expect(await post(bodyOf(textTo(second, 'forged'), textTo(tenant, 'signed')))).toBe(200);
    await processed();
    expect(await textsOf(tenant)).toEqual(['signed']);
    // The forged change waits for a channel with the secret that signed it, which this one does not have.
    expect(await reprocess(gateway.gateway.resources, { isUpgrade: false })).toMatchObject({ routed: 0 });
    await processed();
    expect(await textsOf(tenant)).toEqual(['signed']);
  });

  test('keeps the status of its messages, which a change of another channel names', async () => {
    const { tenant, second } = await withTwoApps('two accounts');
    const { database } = gateway;
    await database.query('update log_origin set outbox_held_at = now()');
    const input = { to: { phone: '+14155550102' }, content: { text: { body: 'Hello' } } };
    const { message } = payloadOf(await gateway.mutate('sendMessage', input, 'message { databaseId }', tenant.token));
    const told = (number: Numbers) =>
      entryOf(number, 'messages', {
        metadata: { phone_number_id: number.phoneNumberId },
        statuses: [
          {
            ...{ id: `wamid.${message.databaseId}`, status: 'delivered', timestamp: '1790000000' },
            ...{ recipient_id: '14155550102', biz_opaque_callback_data: message.databaseId },
          },
        ],
      });
    const status = async () =>
      (await database.query('select status from message_states where tenant_id = $1', [tenant.id]))[0];
    expect(await post(bodyOf(told(second)), OTHER_SECRET)).toBe(200);
    await processed();
    expect(await status()).toEqual({ status: 'queued' });
    expect(await post(bodyOf(told(tenant)))).toBe(200);
    await processed();
    expect(await status()).toEqual({ status: 'delivered' });
    await database.query('update log_origin set outbox_held_at = null');
  });

  test('gets its changes of the same body when its own app delivers it', async () => {
    const { tenant, second } = await withTwoApps('two accounts');
    const body = bodyOf(textTo(tenant, 'of the first app'), textTo(second, 'of the second app'));
    for (const secret of [SECRET, OTHER_SECRET, SECRET, OTHER_SECRET]) expect(await post(body, secret)).toBe(200);
    await processed();
    expect(await textsOf(tenant)).toEqual(['of the first app', 'of the second app']);
    expect(
      await gateway.database.query('select 1 from inbound_webhooks where tenant_id = $1', [tenant.id]),
    ).toHaveLength(2);
  });

  test('keeps the templates of its account, also if a change names a number that signed', async () => {
    const { tenant, second } = await withTwoApps('two accounts');
    await gateway.database.query(
      `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components, created_at)
       values ($1, $2, '1', 'greeting', 'en', 'UTILITY', 'APPROVED', 'POSITIONAL', '[]', clock_timestamp() + interval '1 hour')`,
      [tenant.id, second.wabaId],
    );
    const forged = entryOf(second, 'message_template_status_update', {
      metadata: { phone_number_id: tenant.phoneNumberId },
      event: 'DISABLED',
      message_template_name: 'greeting',
      message_template_language: 'en',
    });
    expect(await post(bodyOf(forged))).toBe(200);
    await processed();
    expect(
      await gateway.database.query("select name from templates where tenant_id = $1 and status = 'DISABLED'", [
        tenant.id,
      ]),
    ).toEqual([]);
    expect(
      await gateway.database.query('select reason from network_changes where tenant_id = $1', [tenant.id]),
    ).toEqual([{ reason: 'unreadable' }]);
  });

  test('keeps its health where an account that several apps share changes; that of the signing app’s number follows', async () => {
    const { tenant, second } = await withTwoApps('one account');
    expect(await post(bodyOf(entryOf(tenant, 'account_review_update', { decision: 'REJECTED' })))).toBe(200);
    await processed();
    const reviews = await gateway.database.query(
      'select channel_id::int, account_review from channel_health where tenant_id = $1 order by channel_id',
      [tenant.id],
    );
    expect(reviews).toEqual([
      { channel_id: await channelId(tenant, tenant), account_review: 'REJECTED' },
      { channel_id: await channelId(tenant, second), account_review: null },
    ]);
  });
});
