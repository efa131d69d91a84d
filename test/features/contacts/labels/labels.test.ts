import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type ContactSeed, seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface EventRow {
  readonly [column: string]: unknown;
  readonly type: string;
  readonly payload: Record<string, Record<string, unknown>>;
}
const eventsSince = async (seq: number): Promise<EventRow[]> =>
  gateway.database.query<EventRow>(
    'select type, payload from events where tenant_id = $1 and seq > $2 order by xid, seq',
    [gateway.tenant.id, seq],
  );
const lastEvent = async (): Promise<number> => {
  const [row] = await gateway.database.query<{ seq: string }>('select coalesce(max(seq), 0) as seq from events');
  return Number(row?.seq);
};

const contact = async (fields: ContactSeed = {}): Promise<number> => (await seedOf(gateway).contact(fields)).id;

const KINDS = [
  { type: 'Group', plural: 'Groups', kind: 'group', list: 'groups', usedBy: undefined },
  { type: 'Source', plural: 'Sources', kind: 'source', list: 'sources', usedBy: 'sourceId' },
  { type: 'Status', plural: 'Statuses', kind: 'status', list: 'statuses', usedBy: 'statusId' },
] as const;

describe.each(KINDS)('$list', ({ type, plural, kind, list, usedBy }) => {
  const fields = `id databaseId name createdAt updatedAt${kind === 'status' ? ' color' : ''}`;
  const create = (input: object) =>
    gateway.graphql(`mutation ($input: Create${type}Input!) { label: create${type}(input: $input) { ${fields} } }`, {
      input,
    });
  const made = async (name: string): Promise<{ databaseId: number; name: string }> =>
    dataOf(await create({ name })).label;
  const update = (id: unknown, input: object) =>
    gateway.graphql(
      `mutation ($id: ID!, $input: Update${type}Input!) { label: update${type}(id: $id, input: $input) { ${fields} } }`,
      { id, input },
    );
  const remove = (id: unknown) =>
    gateway.graphql(`mutation ($id: ID!) { label: delete${type}(id: $id) { name } }`, { id });
  const createMany = (input: object[], key?: string) =>
    gateway.graphql(
      `mutation ($input: [Create${plural}Item!]!, $key: String) { result: create${plural}(input: $input, idempotencyKey: $key) { created { name } errors { index field messages } } }`,
      { input, key },
    );
  const removeMany = (ids: unknown[]) =>
    gateway.graphql(
      `mutation ($ids: [ID!]!) { result: delete${plural}(ids: $ids) { deletedIds notFoundIds inUseIds } }`,
      { ids },
    );

  test('a label is created, updated and deleted, with an event in each transaction', async () => {
    const seq = await lastEvent();
    const { label } = dataOf(await create({ name: '  New one ' }));
    expect(label).toMatchObject({
      id: encodeGlobalId(type, label.databaseId),
      name: 'New one',
      ...(kind === 'status' && { color: '#757575' }),
    });
    expect(dataOf(await update(label.id, { name: 'Newer one' })).label).toMatchObject({
      databaseId: label.databaseId,
      name: 'Newer one',
    });
    expect(dataOf(await remove(label.databaseId)).label).toEqual({ name: 'Newer one' });
    const events = await eventsSince(seq);
    expect(events.map(event => event.type)).toEqual([`${kind}.created`, `${kind}.updated`, `${kind}.deleted`]);
    expect(events.map(event => event.payload[kind]?.['name'])).toEqual(['New one', 'Newer one', 'Newer one']);
    expect(events[1]?.payload['previous']).toEqual({ name: 'New one' });
    for (const request of [update(label.id, { name: 'x' }), remove(label.id)])
      expect(codeOf(await request)).toBe('NOT_FOUND');
  });

  test('a rejected change writes no event', async () => {
    const one = await made('Quiet');
    const seq = await lastEvent();
    await Promise.all([
      create({ name: 'quiet' }),
      create({ name: '' }),
      update(one.databaseId, { name: ' ' }),
      update(999_999_999, { name: 'x' }),
      remove(999_999_999),
    ]);
    expect(await eventsSince(seq)).toEqual([]);
  });

  test('names are unique ignoring case, and a label’s name may change in case', async () => {
    const one = await made('Ärger und CO');
    const two = await made('Other');
    expect(faultsOf(await create({ name: 'äRGER UND co' }))).toEqual({ name: [expect.any(String)] });
    expect(faultsOf(await update(two.databaseId, { name: 'ÄRGER und Co' }))).toEqual({ name: [expect.any(String)] });
    expect(dataOf(await update(one.databaseId, { name: 'ÄRGER UND CO' })).label.name).toBe('ÄRGER UND CO');
  });

  test.each([
    ['name', ''],
    ['name', '   '],
    ['name', 'x'.repeat(151)],
    ['name', '\u0000'],
  ])('%s: %j is rejected', async (field, name) => {
    expect(Object.keys(faultsOf(await create({ name })))).toEqual([field]);
    if (name !== '\u0000')
      expect((await createMany([{ name }])).data?.result).toMatchObject({
        created: [],
        errors: [{ index: 0, field: 'name' }],
      });
  });

  test('a name has at most 150 characters (code points)', async () =>
    expect([...(await made('👍'.repeat(150))).name]).toHaveLength(150));

  test('of 15 concurrent creations of one name exactly one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 15 }, (_, n) => create({ name: n % 2 ? 'Race' : 'RACE' })));
    expect(answers.filter(({ errors }) => !errors)).toHaveLength(1);
    for (const answer of answers.filter(({ errors }) => errors)) expect(faultsOf(answer)).toHaveProperty('name');
  });

  test('a batch creates valid labels in order, and reports others by index', async () => {
    await made('Already');
    const seq = await lastEvent();
    const { result } = dataOf(
      await createMany(
        [
          { name: 'Batch b' },
          { name: '' },
          { name: 'Batch a' },
          { name: 'ALREADY' },
          { name: 'batch B' },
          { name: 'Batch c' },
        ],
        `${kind} batch`,
      ),
    );
    expect(result.created.map(({ name }: { name: string }) => name)).toEqual(['Batch b', 'Batch a', 'Batch c']);
    expect(result.errors.map(({ index, field }: { index: number; field: string }) => [index, field])).toEqual([
      [1, 'name'],
      [3, 'name'],
      [4, 'name'],
    ]);
    expect((await eventsSince(seq)).map(event => event.type)).toEqual(
      Array.from({ length: 3 }, () => `${kind}.created`),
    );
    const again = await createMany(
      [
        { name: 'Batch b' },
        { name: '' },
        { name: 'Batch a' },
        { name: 'ALREADY' },
        { name: 'batch B' },
        { name: 'Batch c' },
      ],
      `${kind} batch`,
    );
    expect([dataOf(again).result, again.extensions]).toEqual([result, { idempotencyReplayed: true }]);
    for (const rows of [[], Array.from({ length: 1_001 }, (_, n) => ({ name: `n${n}` }))])
      expect(faultsOf(await createMany(rows))).toHaveProperty('input');
  });

  test('a batch deletion keeps labels in use, reports unknown ids, and counts repeated ids once', async () => {
    const [free, used] = [(await made('Free')).databaseId, (await made('Used')).databaseId];
    const uses = usedBy ? { [usedBy]: used } : { groupIds: [used] };
    await contact(uses);
    const { result } = dataOf(await removeMany([used, free, free, 999_999_999, 999_999_999, used]));
    if (usedBy) expect(result).toEqual({ deletedIds: [free], inUseIds: [used], notFoundIds: [999_999_999] });
    else
      expect({ ...result, deletedIds: result.deletedIds.sort((a: number, b: number) => a - b) }).toEqual({
        deletedIds: [free, used],
        inUseIds: [],
        notFoundIds: [999_999_999],
      });
    for (const ids of [[], ['x'], [encodeGlobalId('Contact', 1)]])
      expect(faultsOf(await removeMany(ids))).toHaveProperty('ids');
  });

  test(
    usedBy ? 'one that a contact uses cannot be removed' : 'one with members can be removed: they stay contacts',
    async () => {
      const { databaseId } = await made('Busy');
      const member = await contact(usedBy ? { [usedBy]: databaseId } : { groupIds: [databaseId] });
      expect(codeOf(await remove(databaseId))).toBe(usedBy ? 'CONFLICT' : undefined);
      const { data } = await gateway.graphql(
        'query ($id: ID!) { contact(id: $id) { groups { name } source { name } status { name } } }',
        { id: member },
      );
      expect(data.contact[kind === 'group' ? 'groups' : kind]).toEqual(usedBy ? { name: 'Busy' } : []);
      if (!usedBy) return;
      dataOf(
        await gateway.graphql(`mutation ($id: ID!) { updateContact(id: $id, input: { ${usedBy}: null }) { id } }`, {
          id: member,
        }),
      );
      expect(codeOf(await remove(databaseId))).toBeUndefined();
    },
  );

  test('the list filters, searches, sorts and pages', async () => {
    await createMany(['L_ist 1', 'l_IST 2', 'Lxist 3', 'l_ist 10'].map(name => ({ name })));
    const names = async (args: string): Promise<string[]> => {
      const { [list]: page } = dataOf(await gateway.graphql(`{ ${list}(${args}) { nodes { name } totalCount } }`));
      if (!/first|last/.test(args)) expect(page.totalCount).toBe(page.nodes.length);
      return page.nodes.map(({ name }: { name: string }) => name);
    };
    expect(await names('search: "L_I"')).toEqual(['L_ist 1', 'l_IST 2', 'l_ist 10']);
    expect(await names('search: "_ist", orderBy: [{ field: NAME, direction: DESC }]')).toEqual([
      'l_ist 10',
      'l_IST 2',
      'L_ist 1',
    ]);
    expect(
      await names('search: "ist", first: 1, orderBy: [{ field: CREATED_AT }, { field: ID, direction: DESC }]'),
    ).toEqual(['l_ist 10']);
    expect(await names('filter: { name: { in: ["Lxist 3", "L_ist 1"] } }')).toEqual(['L_ist 1', 'Lxist 3']);
    expect(await names('last: 2, search: "ist", orderBy: [{ field: ID }]')).toEqual(['Lxist 3', 'l_ist 10']);
  });
});

describe('a color of a status', () => {
  const create = (color: string | null) =>
    gateway.graphql('mutation ($input: CreateStatusInput!) { createStatus(input: $input) { databaseId color } }', {
      input: { name: `Color ${color} ${Math.random()}`, color },
    });
  test.each(['red', '#12345', '#1234567', '123456', '#gggggg', '#12345\n', ''])('%j is rejected', async color =>
    expect(faultsOf(await create(color))).toEqual({ color: [expect.any(String)] }),
  );
  test('is stored in upper case, and kept if omitted in an update', async () => {
    const { databaseId, color } = dataOf(await create('#aB12ef')).createStatus;
    expect(color).toBe('#AB12EF');
    const update = (input: object) =>
      gateway.graphql(
        'mutation ($id: ID!, $input: UpdateStatusInput!) { updateStatus(id: $id, input: $input) { color } }',
        { id: databaseId, input },
      );
    expect(dataOf(await update({ name: 'Renamed' })).updateStatus.color).toBe('#AB12EF');
    expect(dataOf(await update({ color: '#000000' })).updateStatus.color).toBe('#000000');
  });
});

describe('members of a group', () => {
  const change = (action: 'addContactsToGroup' | 'removeContactsFromGroup', input: object) =>
    gateway.graphql(
      `mutation ($input: GroupMembersInput!) { result: ${action}(input: $input) { count group { name contactsCount } } }`,
      { input },
    );
  const group = async (name: string): Promise<number> =>
    dataOf(
      await gateway.graphql('mutation ($n: String!) { createGroup(input: { name: $n }) { databaseId } }', { n: name }),
    ).createGroup.databaseId;

  test('only added or removed members are counted', async () => {
    const [id, a, b, c] = [await group('Members'), await contact(), await contact(), await contact()];
    expect(dataOf(await change('addContactsToGroup', { groupId: id, contactIds: [a, b, b] })).result).toEqual({
      count: 2,
      group: { name: 'Members', contactsCount: 2 },
    });
    expect(
      dataOf(
        await change('addContactsToGroup', {
          groupId: encodeGlobalId('Group', id),
          contactIds: [b, encodeGlobalId('Contact', c)],
        }),
      ).result,
    ).toEqual({ count: 1, group: { name: 'Members', contactsCount: 3 } });
    expect(
      dataOf(await change('removeContactsFromGroup', { groupId: id, contactIds: [a, a, 999_999_999] })).result,
    ).toEqual({ count: 1, group: { name: 'Members', contactsCount: 2 } });
    expect(dataOf(await change('removeContactsFromGroup', { groupId: id, contactIds: [a] })).result.count).toBe(0);
  });

  test('an unknown contact rejects the whole request, an unknown group is NOT_FOUND, and 1 to 1,000 ids are allowed', async () => {
    const [id, a] = [await group('Strict'), await contact()];
    expect(faultsOf(await change('addContactsToGroup', { groupId: id, contactIds: [a, 999_999_999] }))).toHaveProperty(
      'contactIds',
    );
    expect(dataOf(await change('removeContactsFromGroup', { groupId: id, contactIds: [a] })).result.count).toBe(0);
    for (const action of ['addContactsToGroup', 'removeContactsFromGroup'] as const) {
      expect(codeOf(await change(action, { groupId: 999_999_999, contactIds: [a] }))).toBe('NOT_FOUND');
      for (const contactIds of [[], Array.from({ length: 1_001 }, (_, n) => n + 1), ['x']])
        expect(faultsOf(await change(action, { groupId: id, contactIds }))).toHaveProperty('contactIds');
    }
  });

  test('a repeated request under one key returns the first count', async () => {
    const [id, a] = [await group('Keyed'), await contact()];
    const input = { groupId: id, contactIds: [a], idempotencyKey: 'members' };
    expect(dataOf(await change('addContactsToGroup', input)).result.count).toBe(1);
    expect(dataOf(await change('addContactsToGroup', input)).result.count).toBe(1);
    expect(codeOf(await change('removeContactsFromGroup', input))).toBe('IDEMPOTENCY_MISMATCH');
  });
});
