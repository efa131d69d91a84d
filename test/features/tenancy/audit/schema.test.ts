import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../../src/core/principal.ts';
import { authorOf } from '../../../../src/features/tenancy/audit/author.ts';
import { record } from '../../../../src/features/tenancy/audit/record.ts';
import { listAuditEntries } from '../../../../src/features/tenancy/audit/store.ts';
import { dataOf, userErrorsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const entries = (tenantId = gateway.tenant.id, limit = 100, before?: string) =>
  listAuditEntries(gateway.gateway.resources.db.write, tenantId, limit, before);
const CREATE =
  'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken { databaseId } userErrors { code } } }';
const REVOKE = 'mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { revokedAt } } }';

test('tokens made and revoked stand in the audit log with their author, and a token revoked twice stands there once', async () => {
  const { createAccessToken } = dataOf(
    await gateway.graphql(CREATE, { input: { name: 'made', scopes: ['CONTACTS_READ'] } }),
  );
  const id = createAccessToken.accessToken.databaseId;
  for (let times = 0; times < 2; times += 1) dataOf(await gateway.graphql(REVOKE, { id }));
  const author = { kind: 'token', id: expect.any(Number), name: 'test' };
  const subject = `token:${id}`;
  expect((await entries()).filter(entry => entry.subject === subject)).toEqual([
    expect.objectContaining({ action: 'token.revoked', author, details: {} }),
    expect.objectContaining({
      action: 'token.created',
      author,
      details: { scopes: ['contacts:read'], expires_at: null },
    }),
  ]);
});

test('a token that could not be made is not in the audit log', async () => {
  const before = await entries();
  const answer = await gateway.graphql(CREATE, { input: { name: '', scopes: ['CONTACTS_READ'] } });
  expect(userErrorsOf(answer)).toHaveLength(1);
  expect(await entries()).toEqual(before);
});

test('an entry stands and falls with the transaction of its change, is the tenant’s own, and the list is paged newest first', async () => {
  const { db } = gateway.gateway.resources;
  const other = await gateway.addTenant({ channel: false });
  const author = authorOf({ principal: { tokenId: 7, tokenName: 'seven' } as Principal });
  const entry = (subject: string) => ({ author, action: 'contact.exported' as const, subject });
  await expect(
    db.transaction(async trx => {
      await record(trx, other.id, entry('contact:1'));
      throw new Error('given up');
    }),
  ).rejects.toThrow('given up');
  for (const subject of ['contact:2', 'contact:3']) await db.transaction(trx => record(trx, other.id, entry(subject)));
  const [newest, ...rest] = await entries(other.id, 1);
  expect([newest?.subject, rest]).toEqual(['contact:3', []]);
  const older = await entries(other.id, 100, newest?.id);
  expect(older.map(({ subject }) => subject)).toEqual(['contact:2', expect.stringMatching(/^token:/)]);
  expect((await entries()).some(({ subject }) => subject.startsWith('contact:'))).toBe(false);
});
