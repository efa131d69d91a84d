import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const ENTRY =
  'consentEntry { id category state source evidence occurredAt author { kind displayName } contact { databaseId } }';
const record = (contactId: unknown, category: string, state: string, input: object = {}) =>
  gateway.mutate('recordConsent', { contactId, category, state, ...input }, ENTRY);
const consentsOf = async (id: number) =>
  dataOf(
    await gateway.graphql(
      'query ($id: ID!) { contact(id: $id) { isOptedOut consents { category state source entry { category } } } }',
      { id },
    ),
  ).contact;

test('consent that is recorded has its source, proof, time and author, and is found by its id', async () => {
  const { id } = await seedOf(gateway).contact();
  const occurredAt = '2026-01-02T03:04:05.000Z';
  const input = { source: 'PAGE', evidence: 'https://example.com/form', occurredAt };
  const { consentEntry } = payloadOf(await record(id, 'MARKETING', 'OPTED_IN', input));
  expect(consentEntry).toMatchObject({
    category: 'MARKETING',
    state: 'OPTED_IN',
    ...input,
    author: { kind: 'TOKEN', displayName: 'test' },
    contact: { databaseId: String(id) },
  });
  const node = await gateway.graphql('query ($id: ID!) { node(id: $id) { ... on ConsentEntry { evidence } } }', {
    id: consentEntry.id,
  });
  expect(dataOf(node).node).toEqual({ evidence: input.evidence });
  expect(payloadOf(await record(id, 'MARKETING', 'OPTED_IN', input)).consentEntry.id).toBe(consentEntry.id);
});

test('what holds for a category is decided by its latest entry, and an opt-out of all outweighs later opt-ins', async () => {
  const { id } = await seedOf(gateway).contact();
  expect(await consentsOf(id)).toEqual({ isOptedOut: false, consents: [] });
  payloadOf(await record(id, 'MARKETING', 'OPTED_OUT', { occurredAt: '2026-01-01T00:00:00Z' }));
  const marketing = { category: 'MARKETING', state: 'OPTED_OUT', source: 'API', entry: { category: 'MARKETING' } };
  expect(await consentsOf(id)).toEqual({ isOptedOut: false, consents: [marketing] });
  payloadOf(await record(id, 'ALL', 'OPTED_OUT', { source: 'STAFF', occurredAt: '2026-01-02T00:00:00Z' }));
  payloadOf(await record(id, 'MARKETING', 'OPTED_IN', { occurredAt: '2026-01-03T00:00:00Z' }));
  const all = { state: 'OPTED_OUT', source: 'STAFF', entry: { category: 'ALL' } };
  expect(await consentsOf(id)).toEqual({
    isOptedOut: true,
    consents: ['ALL', 'MARKETING', 'UTILITY'].map(category => ({ category, ...all })),
  });
  payloadOf(await record(id, 'ALL', 'OPTED_IN', { occurredAt: '2026-01-04T00:00:00Z' }));
  expect((await consentsOf(id)).consents.map(({ state }: { state: string }) => state)).toEqual(
    Array.from({ length: 3 }, () => 'OPTED_IN'),
  );
  const { consentEntries } = dataOf(
    await gateway.graphql(
      'query ($id: ID!) { contact(id: $id) { consentEntries(first: 3) { totalCount nodes { category state } pageInfo { hasNextPage } } } }',
      { id },
    ),
  ).contact;
  expect(consentEntries).toEqual({
    totalCount: 4,
    nodes: [
      { category: 'ALL', state: 'OPTED_IN' },
      { category: 'MARKETING', state: 'OPTED_IN' },
      { category: 'ALL', state: 'OPTED_OUT' },
    ],
    pageInfo: { hasNextPage: true },
  });
});

test('contacts are found by the consent that holds for a category', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const seed = seedOf(gateway, tenant);
  const names = ['silent', 'in', 'out', 'outOfAll', 'inAfterAll'] as const;
  const ids: Record<string, number> = {};
  for (const firstName of names) ids[firstName] = (await seed.contact({ firstName })).id;
  const say = async (name: (typeof names)[number], category: string, state: string, day: number) =>
    payloadOf(
      await gateway.mutate(
        'recordConsent',
        { contactId: ids[name], category, state, occurredAt: `2026-01-0${day}T00:00:00Z` },
        ENTRY,
        tenant.token,
      ),
    );
  await say('in', 'MARKETING', 'OPTED_IN', 1);
  await say('out', 'MARKETING', 'OPTED_IN', 1);
  await say('out', 'MARKETING', 'OPTED_OUT', 2);
  await say('outOfAll', 'ALL', 'OPTED_OUT', 1);
  await say('outOfAll', 'MARKETING', 'OPTED_IN', 2);
  await say('inAfterAll', 'MARKETING', 'OPTED_OUT', 1);
  await say('inAfterAll', 'ALL', 'OPTED_IN', 2);
  const found = async (filter: object): Promise<string[]> =>
    dataOf(
      await gateway.graphql(
        'query ($filter: ContactFilter) { contacts(filter: $filter, orderBy: [{ field: ID }]) { nodes { firstName } } }',
        { filter },
        tenant.token,
      ),
    ).contacts.nodes.map(({ firstName }: { firstName: string }) => firstName);
  const marketing = (conditions: object) => found({ consent: { category: 'MARKETING', ...conditions } });
  expect(await marketing({ eq: 'OPTED_IN' })).toEqual(['in', 'inAfterAll']);
  expect(await marketing({ eq: 'OPTED_OUT' })).toEqual(['out', 'outOfAll']);
  expect(await marketing({ ne: 'OPTED_OUT' })).toEqual(['silent', 'in', 'inAfterAll']);
  expect(await marketing({ isNull: true })).toEqual(['silent']);
  expect(await found({ consent: { eq: 'OPTED_OUT' } })).toEqual(['outOfAll']);
  expect(await found({ isOptedOut: { eq: true } })).toEqual(['outOfAll']);
  expect(await found({ or: [{ isOptedOut: { ne: false } }, { not: { consent: { isNull: true } } }] })).toEqual([
    'outOfAll',
    'inAfterAll',
  ]);
  expect(await found({ isOptedOut: { in: [true, false] } })).toEqual([...names]);
  expect(await found({ isOptedOut: { in: [] } })).toEqual([]);
});

test('a time in the future, proof that is too long and an unknown contact are refused', async () => {
  const { id } = await seedOf(gateway).contact();
  const input = { evidence: 'x'.repeat(1_001), occurredAt: '2999-01-01T00:00:00Z' };
  expect(Object.keys(faultsOf(await record(id, 'ALL', 'OPTED_OUT', input)))).toEqual(['evidence', 'occurredAt']);
  for (const unknown of ['987654321', 'x']) expect(codeOf(await record(unknown, 'ALL', 'OPTED_OUT'))).toBe('NOT_FOUND');
});
