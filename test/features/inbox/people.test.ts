import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findWebhooksOf } from '../../../src/features/inbox/people.ts';
import { sign } from '../../../src/network/cloud-api/signature.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function deliver(from: string): Promise<void> {
  const { wabaId, phoneNumberId } = gateway.tenant;
  const message = { from, id: `wamid.${randomBytes(9).toString('base64url')}`, timestamp: '1790000000', type: 'text' };
  const value = { metadata: { phone_number_id: phoneNumberId }, messages: [{ ...message, text: { body: 'Hi' } }] };
  const body = JSON.stringify({ entry: [{ id: wabaId, changes: [{ field: 'messages', value }] }] });
  const answer = await fetch(`${gateway.url}/network/cloud-api/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(Buffer.from(body), 'test-app-secret') },
    body,
  });
  expect(answer.status).toBe(200);
}

const found = async (...identities: string[]) =>
  (await findWebhooksOf(gateway.gateway.resources.db.write, gateway.tenant.id, identities, 100)).map(({ body }) =>
    body.toString(),
  );

test('a processed webhook is found by the people in it only; a webhook that is not indexed is found for all', async () => {
  await deliver('5511987654321');
  await deliver('4915112345678');
  await eventually(async () =>
    expect(await gateway.database.query('select 1 from inbound_webhook_people')).toHaveLength(2),
  );
  // In the form that all spellings of the number share.
  const ofBrazil = await found('551187654321');
  expect(ofBrazil).toHaveLength(1);
  expect(ofBrazil[0]).toContain('5511987654321');
  expect(await found('551187654321', '4915112345678')).toHaveLength(2);
  expect(await found('33123456789')).toEqual([]);
  const [failed, waiting] = await gateway.database.query<{ id: string }>('select id from inbound_webhooks order by id');
  await gateway.database.query(`update inbound_webhooks set error = 'given up' where id = $1`, [failed?.id]);
  expect(await found('33123456789')).toHaveLength(1);
  // Far ahead, so that no process claims it.
  await gateway.database.query(
    `insert into waiting_webhooks (tenant_id, id, received_at, attempts) values ($1, $2, now() + interval '1 day', 1)`,
    [gateway.tenant.id, waiting?.id],
  );
  expect(await found('33123456789')).toHaveLength(2);
});
