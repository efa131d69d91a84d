import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const RECEIPT = `id databaseId subjectDigest reason author { kind displayName } requestedAt completedAt
  erased { kind count } retained { kind count reason } signature`;
const erase = (input: object, token?: string) =>
  gateway.mutate('eraseContact', input, `erasureReceipt { ${RECEIPT} } deletedId`, token);

test('an erasure returns its signed receipt, which is listed and holds no personal data', async () => {
  const { id, globalId, phone } = await seedOf(gateway).contact({ firstName: 'Wilhelmine', optedOut: true });
  const input = { id, reason: 'RETENTION', idempotencyKey: 'erasure' };
  const { erasureReceipt, deletedId } = payloadOf(await erase(input));
  expect(deletedId).toBe(globalId);
  expect(erasureReceipt).toMatchObject({
    reason: 'RETENTION',
    author: { kind: 'TOKEN', displayName: 'test' },
    completedAt: expect.any(String),
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    erased: expect.arrayContaining([{ kind: 'contact', count: 1 }]),
    retained: expect.arrayContaining([{ kind: 'opt_out', count: 1, reason: expect.any(String) }]),
  });
  expect(JSON.stringify(erasureReceipt)).not.toMatch(new RegExp(`Wilhelmine|${phone.slice(1)}`));
  const again = await erase(input);
  expect([payloadOf(again), again.extensions]).toEqual([
    { erasureReceipt, deletedId, userErrors: [] },
    { idempotencyReplayed: true },
  ]);
  const { erasureReceipts, erasureReceipt: one } = dataOf(
    await gateway.graphql(
      `query ($id: ID!, $filter: ErasureReceiptFilter) {
        erasureReceipt(id: $id) { ${RECEIPT} } erasureReceipts(filter: $filter) { nodes { ${RECEIPT} } } }`,
      { id: erasureReceipt.databaseId, filter: { id: { eq: erasureReceipt.id }, reason: { eq: 'RETENTION' } } },
    ),
  );
  expect([one, erasureReceipts.nodes]).toEqual([erasureReceipt, [erasureReceipt]]);
  expect(codeOf(await erase({ id }))).toBe('NOT_FOUND');
});

test('a receipt says when the blanked events go with the log, and no time for what is kept', async () => {
  const { id } = await seedOf(gateway).contact({ optedOut: true });
  payloadOf(await gateway.mutate('updateContact', { id, firstName: 'Ada' }, 'contact { id }'));
  const fields = 'erasureReceipt { completedAt retained { kind expiresAt } }';
  const { erasureReceipt } = payloadOf(await gateway.mutate('eraseContact', { id }, fields));
  const inThirtyDays = new Date(Date.parse(erasureReceipt.completedAt) + 30 * 86_400_000).toISOString();
  expect(erasureReceipt.retained).toEqual(
    expect.arrayContaining([
      { kind: 'event', expiresAt: inThirtyDays },
      { kind: 'opt_out', expiresAt: null },
    ]),
  );
});

test('deleting a contact leaves a receipt too', async () => {
  const { id } = await seedOf(gateway).contact();
  payloadOf(await gateway.mutate('deleteContact', { id }, 'deletedId'));
  const { nodes } = dataOf(await gateway.graphql('{ erasureReceipts(first: 1) { nodes { reason } } }')).erasureReceipts;
  expect(nodes).toEqual([{ reason: 'OTHER' }]);
});

test('only a token with contacts:delete may erase', async () => {
  const { id } = await seedOf(gateway).contact();
  const token = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read', 'contacts:write'] });
  expect(codeOf(await erase({ id }, token))).toBe('INSUFFICIENT_SCOPE');
});
