import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
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
  return { kept: rows[0]?.id ?? '', former: rows[1]?.id ?? '', formerContact: former ?? '' };
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

test('former ids of conversations and contacts are found by node, nodes and the filters of lists', async () => {
  const harness = await harnessFor(gateway);
  const { kept, former, formerContact } = await mergedIds(harness);
  const { id: tenantId, token } = harness.tenant;
  const variables = {
    kept: encodeGlobalId('Conversation', tenantId, Number(kept)),
    former: encodeGlobalId('Conversation', tenantId, Number(former)),
    contact: encodeGlobalId('Contact', tenantId, Number(formerContact)),
  };
  const read = async (document: string) => dataOf(await gateway.graphql(document, variables, token));
  const conversation = { databaseId: kept };
  expect(await read('query ($former: ID!) { node(id: $former) { ... on Conversation { databaseId } } }')).toEqual({
    node: conversation,
  });
  expect(
    await read(
      'query ($kept: ID!, $former: ID!) { nodes(ids: [$former, $kept]) { ... on Conversation { databaseId } } }',
    ),
  ).toEqual({ nodes: [conversation, conversation] });
  expect(
    await read(`query ($kept: ID!, $former: ID!, $contact: ID!) {
      one: conversations(filter: { id: { eq: $former } }) { totalCount nodes { databaseId } }
      several: conversations(filter: { id: { in: [$former, $kept] } }) { nodes { databaseId } }
      others: conversations(filter: { id: { ne: $former } }) { nodes { databaseId } }
      later: conversations(filter: { id: { gt: $former } }) { nodes { databaseId } }
      ofContact: conversations(filter: { contact: { id: { eq: $contact } } }) { nodes { databaseId } }
      contacts(filter: { id: { in: [$contact] } }) { totalCount }
    }`),
  ).toEqual({
    one: { totalCount: 1, nodes: [conversation] },
    several: { nodes: [conversation] },
    others: { nodes: [] },
    later: { nodes: [] },
    ofContact: { nodes: [conversation] },
    contacts: { totalCount: 1 },
  });
});
