import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

/** Two conversations, of which a merge has folded the second into the first. @returns their ids */
async function mergedIds({ tenant, write, query }: Harness) {
  for (const from of ['14155550101', '14155550102']) await write({ from, text: 'Hello' });
  const rows = await query<{ id: string; contact_id: string }>(
    'select id, contact_id from conversations where tenant_id = $1 order by id',
  );
  const [kept, former] = rows.map(row => row.contact_id);
  dataOf(await gateway.mutate('mergeContacts', { id: kept, fromIds: [former] }, '__typename', tenant.token));
  return { kept: rows[0]?.id ?? '', former: rows[1]?.id ?? '' };
}

test('an agent who has a conversation open goes on with it after a merge, by its former id', async () => {
  const harness = await harnessFor(gateway);
  const { kept, former } = await mergedIds(harness);
  const close = { id: former, status: 'CLOSED', idempotencyKey: 'close' };
  const fields = 'conversation { databaseId status }';
  const closed = { conversation: { databaseId: kept, status: 'CLOSED' } };
  for (let attempt = 1; attempt <= 2; attempt += 1)
    expect(payloadOf(await gateway.mutate('updateConversation', close, fields, harness.tenant.token))).toMatchObject(
      closed,
    );
  const many = { target: { ids: [kept, former] }, set: { status: 'SNOOZED' } };
  const answer = await gateway.mutate(
    'updateConversations',
    many,
    `matchedCount results { index outcome ${fields} }`,
    harness.tenant.token,
  );
  const updated = { outcome: 'UPDATED', conversation: { databaseId: kept, status: 'SNOOZED' } };
  expect(payloadOf(answer)).toMatchObject({
    matchedCount: 1,
    results: [
      { index: 0, ...updated },
      { index: 1, ...updated },
    ],
  });
});
