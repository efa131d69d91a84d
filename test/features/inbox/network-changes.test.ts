import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const tell = async (phoneNumberId: string, field: string, value: object) => {
  const change = { field, value, phoneNumberId };
  const told = await fetch(`${gateway.emulator.url}/_emulator/changes`, {
    method: 'POST',
    body: JSON.stringify(change),
  });
  expect(told.status, await told.text()).toBe(200);
};
const LIST = `query ($filter: NetworkChangeFilter $first: Int $after: String $orderBy: [NetworkChangeOrder!]) {
  networkChanges(filter: $filter first: $first after: $after orderBy: $orderBy) { totalCount pageInfo { endCursor hasNextPage }
    nodes { id databaseId field reason error isHandled raw receivedAt channel { phoneNumberId } } } }`;

test('what the network says and nobody understands is listed by its field, channel, state and time', async () => {
  const tenant = await gateway.addTenant();
  const list = async (variables = {}) => dataOf(await gateway.graphql(LIST, variables, tenant.token)).networkChanges;
  const { phoneNumberId } = tenant;
  await tell(phoneNumberId, 'novelty', { things: [1] });
  await eventually(async () => expect((await list()).totalCount).toBe(1));
  await tell(phoneNumberId, 'other_novelty', { things: [2] });
  await tell(phoneNumberId, 'messages', { statuses: [{ id: 'wamid.s', status: 'vanished', timestamp: '1790000000' }] });
  await eventually(async () => expect((await list()).totalCount).toBe(3));

  const { nodes } = await list({ orderBy: [{ field: 'ID', direction: 'ASC' }] });
  expect(nodes[0]).toMatchObject({
    field: 'novelty',
    reason: 'UNKNOWN_FIELD',
    error: null,
    isHandled: false,
    channel: { phoneNumberId },
    raw: { id: tenant.wabaId, changes: [{ field: 'novelty', value: { things: [1] } }] },
  });
  const fields = async (filter: object) =>
    (await list({ filter })).nodes.map(({ field }: { field: string }) => field).sort();
  expect(await fields({ field: { like: 'novelty' } })).toEqual(['novelty', 'other_novelty']);
  expect(await fields({ isHandled: { eq: true } })).toEqual([]);
  expect(await fields({ isHandled: { eq: false }, field: { eq: 'messages' } })).toEqual(['messages']);
  expect(await fields({ receivedAt: { gt: new Date(Date.now() + 3_600_000).toISOString() } })).toEqual([]);
  const { channels } = dataOf(await gateway.graphql('{ channels { nodes { id } } }', {}, tenant.token));
  expect(await fields({ channelId: { eq: channels.nodes[0].id } })).toHaveLength(3);
  expect(await fields({ channelId: { isNull: true } })).toEqual([]);

  const first = await list({ first: 2 });
  const rest = await list({ first: 2, after: first.pageInfo.endCursor });
  expect([...first.nodes, ...rest.nodes].map(({ id }: { id: string }) => id)).toEqual(
    nodes.map(({ id }: { id: string }) => id).reverse(),
  );

  const [{ id, databaseId }] = nodes;
  const query = 'query ($id: ID!) { networkChange(id: $id) { field } }';
  for (const key of [id, databaseId])
    expect(dataOf(await gateway.graphql(query, { id: key }, tenant.token))).toEqual({
      networkChange: { field: 'novelty' },
    });
  expect(dataOf(await gateway.graphql(query, { id: databaseId }))).toEqual({ networkChange: null });

  await gateway.database.query('update network_changes set handled_at = now() where tenant_id = $1 and id = $2', [
    tenant.id,
    databaseId,
  ]);
  expect(await fields({ isHandled: { eq: true } })).toEqual(['novelty']);
  expect(await fields({ isHandled: { ne: true } })).toHaveLength(2);
});

test('changes may contain messages: they need messages:read as well as channels:read, also as nodes', async () => {
  const { tenant } = gateway;
  await tell(tenant.phoneNumberId, 'novelty', {});
  const id = await eventually(async () => dataOf(await gateway.graphql(LIST)).networkChanges.nodes[0].id as string);
  for (const scope of ['channels:read', 'messages:read']) {
    const token = await gateway.addToken(tenant, { scopes: [scope] });
    expect(codeOf(await gateway.graphql('{ networkChanges { totalCount } }', {}, token))).toBe('INSUFFICIENT_SCOPE');
    expect(dataOf(await gateway.graphql('query ($id: ID!) { node(id: $id) { id } }', { id }, token))).toEqual({
      node: null,
    });
  }
  const both = await gateway.addToken(tenant, { scopes: ['channels:read', 'messages:read'] });
  expect(dataOf(await gateway.graphql('query ($id: ID!) { node(id: $id) { id } }', { id }, both))).toEqual({
    node: { id },
  });
});
