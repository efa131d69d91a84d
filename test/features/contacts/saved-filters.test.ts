import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const SAVED = 'savedFilter { id databaseId name filter }';
const LEADS = { and: [{ type: { eq: 'LEAD' } }, { consent: { category: 'MARKETING', eq: 'OPTED_IN' } }] };
const create = async (input: object) => payloadOf(await gateway.mutate('createSavedFilter', input, SAVED)).savedFilter;
const userErrors = async (name: string, input: object) =>
  (await gateway.mutate(name, input)).data[name].userErrors.map(({ code, path }: { code: string; path: string[] }) => [
    code,
    ...path,
  ]);

test('saved filters are shared, listed by name, changed and deleted, and read as they were written', async () => {
  const leads = await create({ name: ' Leads ', filter: LEADS });
  expect(leads).toEqual({ ...leads, name: 'Leads', filter: LEADS });
  await create({ name: 'Acme', filter: { company: { like: 'acme' } } });
  const list = dataOf(await gateway.graphql('{ savedFilters { totalCount nodes { name filter } } }'));
  expect(list.savedFilters).toEqual({
    totalCount: 2,
    nodes: [
      { name: 'Acme', filter: { company: { like: 'acme' } } },
      { name: 'Leads', filter: LEADS },
    ],
  });
  // What is read is an input.
  const query = 'query ($filter: ContactFilter) { contacts(filter: $filter) { totalCount } }';
  expect(dataOf(await gateway.graphql(query, { filter: leads.filter })).contacts.totalCount).toBe(0);
  const changed = { id: leads.id, filter: { isOptedOut: { eq: false } } };
  expect(payloadOf(await gateway.mutate('updateSavedFilter', changed, SAVED)).savedFilter).toEqual({
    ...leads,
    filter: { isOptedOut: { eq: false } },
  });
  payloadOf(await gateway.mutate('deleteSavedFilter', { id: leads.id }, 'deletedId'));
  expect(dataOf(await gateway.graphql('query ($id: ID!) { savedFilter(id: $id) { name } }', { id: leads.id }))).toEqual(
    { savedFilter: null },
  );
  expect(codeOf(await gateway.mutate('deleteSavedFilter', { id: leads.id }, 'deletedId'))).toBe('NOT_FOUND');
});

test('a saved filter without a name, with a taken one, or with a value that no list takes, is refused', async () => {
  await create({ name: 'Taken', filter: {} });
  expect(await userErrors('createSavedFilter', { name: ' ', filter: {} })).toEqual([['REQUIRED', 'name']]);
  expect(await userErrors('createSavedFilter', { name: 'taken', filter: {} })).toEqual([['TAKEN', 'name']]);
  expect(await userErrors('createSavedFilter', { name: 'x'.repeat(101), filter: {} })).toEqual([['TOO_LONG', 'name']]);
  expect(await userErrors('createSavedFilter', { name: 'Wrong', filter: { groupId: { eq: 'x' } } })).not.toEqual([]);
  // It would choose everybody where the filter chooses who gets a campaign.
  expect(await userErrors('createSavedFilter', { name: 'Empty', filter: { groupId: { eq: null } } })).toEqual([
    ['REQUIRED', 'filter', 'groupId', 'eq'],
  ]);
});

test('of twenty that are saved at the same time with one place left, exactly one is saved', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  await gateway.database.query(
    `insert into saved_filters (tenant_id, name, filter) select $1, n::text, '{}' from generate_series(1, 499) n`,
    [tenant.id],
  );
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      gateway.mutate('createSavedFilter', { name: `New ${n}`, filter: {} }, SAVED, tenant.token),
    ),
  );
  expect(answers.map(codeOf).filter(code => code === undefined)).toHaveLength(1);
  expect(answers.map(codeOf).filter(code => code === 'CONFLICT')).toHaveLength(19);
});
