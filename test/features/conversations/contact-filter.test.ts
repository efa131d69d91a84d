import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { seedOf } from '../../support/seed.ts';
import { connect } from '../events/subscriber.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ANA = '14155550601';
const BO = '4917112345678';

async function contactOf({ query }: Harness, phone: string): Promise<string> {
  const [row] = await query<{ id: string }>(
    'select id::text from contacts where tenant_id = $1 and phone = $2',
    `+${phone}`,
  );
  return row?.id ?? '';
}

/** Two people who have written; Ana is in the group VIP. */
async function people(): Promise<Harness & { readonly group: number }> {
  const harness = await harnessFor(gateway);
  await harness.write({ from: ANA, text: 'Hello' });
  await harness.write({ from: BO, text: 'Hallo' });
  const group = await seedOf(gateway, harness.tenant).label('Group', 'VIP');
  const id = await contactOf(harness, ANA);
  const ana = { id, firstName: 'Ána', company: 'Bäckerei Nord', groupIds: [group] };
  payloadOf(await gateway.mutate('updateContact', ana, 'contact { id }', harness.tenant.token));
  return { ...harness, group };
}

const LIST =
  'query ($filter: ConversationFilter, $search: String) { conversations(filter: $filter, search: $search) { totalCount nodes { contact { phone } } } }';
const list = async (harness: Harness, variables: object) => {
  const { conversations } = dataOf(await gateway.graphql(LIST, variables, harness.tenant.token));
  const phones = conversations.nodes.map((node: { contact: { phone: string } }) => node.contact.phone).sort();
  expect(conversations.totalCount).toBe(phones.length);
  return phones;
};

test('conversations are found by what holds for their contacts', async () => {
  const harness = await people();
  const { group } = harness;
  const found = (filter: object) => list(harness, { filter });
  expect(await found({ contact: { groupId: { eq: group } } })).toEqual([`+${ANA}`]);
  expect(await found({ contact: { groupId: { isNull: true } } })).toEqual([`+${BO}`]);
  expect(await found({ not: { contact: { company: { like: 'bäck' } } } })).toEqual([`+${BO}`]);
  expect(
    await found({ or: [{ contact: { phone: { eq: `+${BO}` } } }, { contact: { groupId: { eq: group } } }] }),
  ).toEqual([`+${ANA}`, `+${BO}`].sort());
  expect(await found({ contact: { isOptedOut: { eq: true } } })).toEqual([]);
  expect(await found({ contact: {} })).toHaveLength(2);
  const counts = 'query ($f: ConversationFilter) { conversationCounts(filter: $f) { open unreadMessages } }';
  const answer = await gateway.graphql(counts, { f: { contact: { groupId: { eq: group } } } }, harness.tenant.token);
  expect(dataOf(answer).conversationCounts).toEqual({ open: 1, unreadMessages: 1 });
});

test('a search finds conversations by name, company, national number of the contact, folded', async () => {
  const harness = await people();
  await gateway.mutate('updateAccount', { defaultCountry: 'DE' }, 'account { id }', harness.tenant.token);
  expect(await list(harness, { search: 'ana backerei' })).toEqual([`+${ANA}`]);
  await expect.poll(() => list(harness, { search: '0171 1234' })).toEqual([`+${BO}`]);
  expect(await list(harness, { search: 'nobody' })).toEqual([]);
});

test('conditions on the contact count against the limits of a filter', async () => {
  const harness = await people();
  const deep = { and: [{ and: [{ contact: { phone: { eq: 'x' } } }] }] };
  expect(Object.keys(faultsOf(await gateway.graphql(LIST, { filter: deep }, harness.tenant.token)))).toEqual([
    'filter',
  ]);
  const many = { contact: { id: { in: ['1'] }, and: Array.from({ length: 20 }, () => ({ company: { eq: 'x' } })) } };
  expect(Object.keys(faultsOf(await gateway.graphql(LIST, { filter: many }, harness.tenant.token)))).toEqual([
    'filter',
  ]);
});

test('neither the filter nor a search tells about contacts to a token without contacts:read', async () => {
  const harness = await people();
  const token = await gateway.addToken(harness.tenant, { scopes: ['conversations:read', 'conversations:write'] });
  const filter = { and: [{ not: { contact: { email: { like: 'a' } } } }] };
  const total =
    'query ($filter: ConversationFilter, $search: String) { conversations(filter: $filter, search: $search) { totalCount } }';
  const counts = 'query ($filter: ConversationFilter) { conversationCounts(filter: $filter) { open } }';
  const many =
    'mutation ($filter: ConversationFilter!) { updateConversations(input: { target: { filter: $filter }, set: { status: CLOSED } }) { matchedCount } }';
  for (const [document, variables] of [
    [total, { filter }],
    [total, { search: 'ana' }],
    [counts, { filter }],
    [many, { filter }],
  ] as const)
    expect(codeOf(await gateway.graphql(document, variables, token))).toBe('INSUFFICIENT_SCOPE');
  expect(
    dataOf(await gateway.graphql(total, { filter: { status: { eq: 'OPEN' } } }, token)).conversations.totalCount,
  ).toBe(2);
});

test('live counts of a filter on contacts follow the contacts', async () => {
  const harness = await people();
  const filter = { contact: { company: { eq: 'New' } } };
  const seen: number[] = [];
  const client = connect(gateway.url, harness.tenant.token);
  const stop = client.subscribe<{ conversationCounts: { open: number } }>(
    {
      query: 'subscription ($filter: ConversationFilter) { conversationCounts(filter: $filter) { open } }',
      variables: { filter },
    },
    {
      next: ({ data }) => void (data && seen.push(data.conversationCounts.open)),
      error: () => undefined,
      complete: () => undefined,
    },
  );
  await expect.poll(() => seen).toEqual([0]);
  const id = await contactOf(harness, BO);
  await gateway.mutate('updateContact', { id, company: 'New' }, 'contact { id }', harness.tenant.token);
  await expect.poll(() => seen).toEqual([0, 1]);
  stop();
  await client.dispose();
});

test('the messages of a contact are those of all its conversations', async () => {
  const harness = await people();
  const read =
    'query ($p: String!, $f: MessageFilter) { contactByIdentifier(identifier: { phone: $p }) { messages(filter: $f) { totalCount nodes { previewText } } } }';
  const of = async (variables: object, token = harness.tenant.token) => gateway.graphql(read, variables, token);
  expect(dataOf(await of({ p: `+${ANA}` })).contactByIdentifier.messages).toEqual({
    totalCount: 1,
    nodes: [{ previewText: 'Hello' }],
  });
  const outbound = { direction: { eq: 'OUTBOUND' } };
  expect(dataOf(await of({ p: `+${ANA}`, f: outbound })).contactByIdentifier.messages.totalCount).toBe(0);
  const poor = await gateway.addToken(harness.tenant, { scopes: ['contacts:read'] });
  const refused = await of({ p: `+${ANA}` }, poor);
  expect(refused.data.contactByIdentifier).toEqual({ messages: null });
  expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual(['INSUFFICIENT_SCOPE']);
});
