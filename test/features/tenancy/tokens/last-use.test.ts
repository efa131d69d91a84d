import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';

const clock = { time: Date.now(), now: () => clock.time };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway', clock });
});
afterAll(() => gateway.stop());

const lastUse = async (id: string) =>
  dataOf(await gateway.graphql('query ($id: ID!) { accessToken(id: $id) { lastUsedAt } }', { id })).accessToken
    .lastUsedAt;
const made = async (input: object) =>
  payloadOf(
    await gateway.mutate(
      'createAccessToken',
      { name: 'made', scopes: ['ACCOUNT_READ', 'CONTACTS_READ'], ...input },
      'token accessToken { id databaseId documentsOnly displayName }',
    ),
  );
const flush = () => gateway.gateway.resources.tokens.flush();
const writes = () => gateway.statements.filter(text => text.includes('last_used_at = now()')).length;

test('the last use of a token is written for all uses of a minute together, and not by looking at it', async () => {
  const { token, accessToken } = await made({});
  await flush();
  expect(await lastUse(accessToken.id)).toBeNull();
  gateway.statements.length = 0;
  for (let call = 0; call < 5; call += 1) dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token));
  expect(writes()).toBe(0);
  await flush();
  const first = await lastUse(accessToken.id);
  expect(Math.abs(Date.parse(first) - Date.now())).toBeLessThan(3_600_000);
  expect(writes()).toBe(1);
  dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token));
  await gateway.database.query(`update access_tokens set last_used_at = now() - interval '1 hour' where id = $1`, [
    accessToken.databaseId,
  ]);
  await flush();
  expect(Date.parse(await lastUse(accessToken.id))).toBeLessThan(Date.parse(first) - 1_800_000);
  clock.time += 61_000;
  dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token));
  await flush();
  expect(Date.parse(await lastUse(accessToken.id))).toBeGreaterThanOrEqual(Date.parse(first));
});

test('a token that was written a minute ago by another process is not written again', async () => {
  const { token, accessToken } = await made({});
  await gateway.database.query(`update access_tokens set last_used_at = now() - interval '30 seconds' where id = $1`, [
    accessToken.databaseId,
  ]);
  const before = await lastUse(accessToken.id);
  dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token));
  await flush();
  expect(await lastUse(accessToken.id)).toBe(before);
});

test('a token for trusted documents runs no text and no REST, and makes only tokens of its kind', async () => {
  const { token, accessToken } = await made({ documentsOnly: true, scopes: ['CONTACTS_READ', 'TOKENS_WRITE'] });
  expect(accessToken).toMatchObject({ documentsOnly: true, displayName: 'made' });
  const { errors } = await gateway.graphql('{ viewer { scopes } }', {}, token);
  expect(errors?.[0]?.extensions.code).toBe('DOCUMENT_REQUIRED');
  const rest = await fetch(`${gateway.url}/api/v2/contacts`, { headers: { authorization: `Bearer ${token}` } });
  expect(rest.status).toBe(403);
  const document =
    'mutation Make($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken { documentsOnly } userErrors { code } } }';
  const published = await gateway.mutate(
    'publishDocuments',
    { documents: [document] },
    'trustedDocuments { documentId }',
  );
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      documentId: payloadOf(published).trustedDocuments[0].documentId,
      variables: { input: { name: 'inner', scopes: ['CONTACTS_READ'], documentsOnly: false } },
    }),
  });
  expect(await answer.json()).toMatchObject({
    data: { createAccessToken: { accessToken: { documentsOnly: true }, userErrors: [] } },
  });
});

test('tokens are listed in pages, filtered and counted, newest first, and a missing one is null', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const token = tenant.token;
  for (const name of ['Shop', 'Éclair', 'Back office'])
    payloadOf(
      await gateway.mutate('createAccessToken', { name, scopes: ['CONTACTS_READ'] }, 'accessToken { id }', token),
    );
  const list = async (args: string) =>
    dataOf(
      await gateway.graphql(
        `{ accessTokens(${args}) { totalCount pageInfo { endCursor hasNextPage } nodes { name } } }`,
        {},
        token,
      ),
    ).accessTokens;
  const page = await list('first: 2');
  expect(page).toMatchObject({ totalCount: 4, nodes: [{ name: 'Back office' }, { name: 'Éclair' }] });
  const rest = await list(`first: 2, after: ${JSON.stringify(page.pageInfo.endCursor)}`);
  expect(rest).toMatchObject({ nodes: [{ name: 'Shop' }, { name: 'test' }], pageInfo: { hasNextPage: false } });
  expect((await list('search: "eclair"')).nodes).toEqual([{ name: 'Éclair' }]);
  expect((await list('filter: { revokedAt: { isNull: false } }')).nodes).toEqual([]);
  expect((await list('orderBy: [{ field: NAME }]')).nodes[0]).toEqual({ name: 'Back office' });
  expect(dataOf(await gateway.graphql('{ accessToken(id: 999999) { name } }')).accessToken).toBeNull();
  const other = dataOf(await gateway.graphql('{ accessTokens(first: 1) { nodes { id } } }', {}, token));
  const id = other.accessTokens.nodes[0].id;
  expect(
    dataOf(await gateway.graphql('query ($id: ID!) { accessToken(id: $id) { id } }', { id })).accessToken,
  ).toBeNull();
});

test('a repeated creation shows no secret, a repeated revocation is answered alike', async () => {
  const input = { name: 'once', scopes: ['CONTACTS_READ'], idempotencyKey: 'token-1' };
  const make = () => gateway.mutate('createAccessToken', input, 'token accessToken { id }');
  const [first, again] = [payloadOf(await make()), payloadOf(await make())];
  expect(first.token).toMatch(/^ply_/);
  expect(again).toMatchObject({ token: null, accessToken: first.accessToken });
  const revoke = () =>
    gateway.mutate(
      'revokeAccessToken',
      { id: first.accessToken.id, idempotencyKey: 'token-2' },
      'token accessToken { revokedAt }',
    );
  const revoked = payloadOf(await revoke());
  expect(revoked).toMatchObject({ token: null, accessToken: { revokedAt: expect.any(String) } });
  expect(payloadOf(await revoke())).toEqual(revoked);
  expect(codeOf(await gateway.mutate('revokeAccessToken', { id: 'nothing' }, 'accessToken { id }'))).toBe('NOT_FOUND');
});
