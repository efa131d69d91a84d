import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const contact = (fields: object) => seedOf(gateway).contact({ ...fields });
const merge = (input: object) =>
  gateway.mutate(
    'mergeContacts',
    input,
    'contact { databaseId firstName city company formerIds identities { kind value isCurrent } } mergedIds',
  );
const globalId = (id: number) => encodeGlobalId('Contact', gateway.tenant.id, id);

test('a merge fills empty fields, lets the given values win, and former ids and numbers find the contact that stays', async () => {
  const a = await contact({ firstName: 'Ana', city: 'Rome' });
  const b = await contact({ firstName: 'Anna', company: 'Acme', city: 'Oslo' });
  const input = { id: a.id, fromIds: [b.globalId], set: { city: 'Bern' }, idempotencyKey: 'merge' };
  const merged = await merge(input);
  expect(payloadOf(merged)).toMatchObject({
    contact: { databaseId: String(a.id), firstName: 'Ana', city: 'Bern', company: 'Acme', formerIds: [b.globalId] },
    mergedIds: [b.globalId],
  });
  expect(payloadOf(merged).contact.identities.map(({ value }: { value: string }) => value)).toEqual(
    expect.arrayContaining([a.phone, b.phone]),
  );
  const again = await merge(input);
  expect([payloadOf(again), again.extensions]).toEqual([payloadOf(merged), { idempotencyReplayed: true }]);
  const found = async (identifier: object) =>
    dataOf(
      await gateway.graphql(
        'query ($i: ContactIdentifierInput!) { contactByIdentifier(identifier: $i) { databaseId } }',
        { i: identifier },
      ),
    ).contactByIdentifier;
  for (const identifier of [{ id: b.globalId }, { id: String(b.id) }, { phone: b.phone }, { phone: a.phone }])
    expect(await found(identifier), JSON.stringify(identifier)).toEqual({ databaseId: String(a.id) });
});

test('a preview shows the fields with their alternatives and what would move, and changes nothing', async () => {
  const a = await contact({ firstName: 'Bea' });
  const b = await contact({ firstName: 'Beate', email: 'beate@example.com' });
  const preview = async () =>
    dataOf(
      await gateway.graphql(
        'query ($i: MergeContactsInput!) { previewMerge(input: $i) { fields { name value alternatives } moved { kind count } userErrors { code path } } }',
        { i: { id: a.id, fromIds: [b.id] } },
      ),
    ).previewMerge;
  const first = await preview();
  expect(first.fields).toEqual(
    expect.arrayContaining([
      { name: 'firstName', value: 'Bea', alternatives: ['Beate'] },
      { name: 'email', value: 'beate@example.com', alternatives: [] },
      { name: 'phone', value: a.phone, alternatives: [b.phone] },
    ]),
  );
  expect(first.moved).toEqual(expect.arrayContaining([{ kind: 'contact_identity', count: expect.any(Number) }]));
  expect(await preview()).toEqual(first);
});

test('a merge is undone once, by the former id', async () => {
  const [a, b] = [await contact({}), await contact({ firstName: 'Cleo' })];
  payloadOf(await merge({ id: a.id, fromIds: [b.id] }));
  const undo = () => gateway.mutate('undoMerge', { id: b.globalId }, 'contact { id firstName }');
  expect(payloadOf(await undo()).contact).toEqual({ id: b.globalId, firstName: 'Cleo' });
  expect(codeOf(await undo())).toBe('NOT_FOUND');
});

test('unknown contacts, the contact itself and faulty values are refused, all at once', async () => {
  const [a, b] = [await contact({}), await contact({})];
  expect(codeOf(await merge({ id: '987654321', fromIds: [a.id] }))).toBe('NOT_FOUND');
  expect(Object.keys(faultsOf(await merge({ id: a.id, fromIds: ['987654321', a.id, b.id] })))).toEqual([
    'fromIds.0',
    'fromIds.1',
  ]);
  expect(Object.keys(faultsOf(await merge({ id: a.id, fromIds: [], set: { email: 'x' } })))).toEqual([
    'fromIds',
    'set.email',
  ]);
  expect(globalId(a.id)).toBe(a.globalId);
  expect(newPhone()).not.toBe(a.phone);
});
