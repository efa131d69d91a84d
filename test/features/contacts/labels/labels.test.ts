import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
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
  { type: 'ContactGroup', list: 'contactGroups', kind: 'group', usedBy: undefined },
  { type: 'ContactSource', list: 'contactSources', kind: 'source', usedBy: 'sourceId' },
  { type: 'ContactStatus', list: 'contactStatuses', kind: 'status', usedBy: 'statusId' },
] as const;

describe.each(KINDS)('$list', ({ type, kind, list, usedBy }) => {
  const one = `contact${type.slice('Contact'.length)}`;
  const label = `label: ${one} { id databaseId name createdAt updatedAt${kind === 'status' ? ' color' : ''} }`;
  const create = (input: object) => gateway.mutate(`create${type}`, input, label);
  const made = async (name: string): Promise<{ id: string; databaseId: string; name: string }> =>
    payloadOf(await create({ name })).label;
  const update = (id: unknown, input: object) => gateway.mutate(`update${type}`, { id, ...input }, label);
  const remove = (id: unknown, idempotencyKey?: string) =>
    gateway.mutate(`delete${type}`, { id, idempotencyKey }, 'deletedId');

  test('a label is created, updated and deleted, with an event in each transaction', async () => {
    const seq = await lastEvent();
    const { label: first } = payloadOf(await create({ name: '  New one ' }));
    expect(first).toMatchObject({
      id: encodeGlobalId(type, gateway.tenant.id, first.databaseId),
      databaseId: expect.stringMatching(/^\d+$/),
      name: 'New one',
      ...(kind === 'status' && { color: '#757575' }),
    });
    expect(payloadOf(await update(first.id, { name: 'Newer one' })).label).toMatchObject({
      databaseId: first.databaseId,
      name: 'Newer one',
    });
    expect(payloadOf(await remove(first.databaseId)).deletedId).toBe(first.id);
    const events = await eventsSince(seq);
    expect(events.map(event => event.type)).toEqual([`${kind}.created`, `${kind}.updated`, `${kind}.deleted`]);
    expect(events.map(event => event.payload[kind]?.['name'])).toEqual(['New one', 'Newer one', 'Newer one']);
    expect(events[1]?.payload['previous']).toEqual({ name: 'New one' });
    for (const request of [update(first.id, { name: 'x' }), remove(first.id)])
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
    expect(payloadOf(await update(one.databaseId, { name: 'ÄRGER UND CO' })).label.name).toBe('ÄRGER UND CO');
  });

  test.each([
    ['name', ''],
    ['name', '   '],
    ['name', 'x'.repeat(151)],
    ['name', '\u0000'],
  ])('%s: %j is rejected', async (field, name) => {
    expect(Object.keys(faultsOf(await create({ name })))).toEqual([field]);
  });

  test('a name has at most 150 characters (code points)', async () =>
    expect([...(await made('👍'.repeat(150))).name]).toHaveLength(150));

  test('of 15 concurrent creations of one name exactly one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 15 }, (_, n) => create({ name: n % 2 ? 'Race' : 'RACE' })));
    const refused = answers.filter(answer => codeOf(answer) !== undefined);
    expect(refused).toHaveLength(14);
    for (const answer of refused) expect(userErrorsOf(answer)).toMatchObject([{ code: 'TAKEN', path: ['name'] }]);
  });

  test('labels are created and deleted together under aliases, and one that is refused does not undo the others', async () => {
    await made('Already');
    const create = (alias: string) =>
      `${alias}: create${type}(input: $${alias}) { ${one} { name } userErrors { code path } }`;
    const aliases = ['a', 'b', 'c'];
    const { data } = await gateway.graphql(
      `mutation (${aliases.map(alias => `$${alias}: Create${type}Input!`).join()}) { ${aliases.map(create).join(' ')} }`,
      { a: { name: 'Batch a' }, b: { name: 'ALREADY' }, c: { name: 'Batch c' } },
    );
    expect(data).toEqual({
      a: { [one]: { name: 'Batch a' }, userErrors: [] },
      b: { [one]: null, userErrors: [{ code: 'TAKEN', path: ['name'] }] },
      c: { [one]: { name: 'Batch c' }, userErrors: [] },
    });
  });

  test('a repeated deletion under one key returns the same id, and deletes nothing else', async () => {
    const { id } = await made('Keyed deletion');
    const first = payloadOf(await remove(id, `${kind} deletion`));
    const again = await remove(id, `${kind} deletion`);
    expect([first.deletedId, payloadOf(again).deletedId, again.extensions]).toEqual([
      id,
      id,
      { idempotencyReplayed: true },
    ]);
    expect(codeOf(await remove(id))).toBe('NOT_FOUND');
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
        await gateway.graphql(
          `mutation ($id: ID!) { updateContact(input: { id: $id, ${usedBy}: null }) { contact { id } } }`,
          {
            id: member,
          },
        ),
      );
      expect(codeOf(await remove(databaseId))).toBeUndefined();
    },
  );

  test('the list filters, searches, sorts and pages', async () => {
    for (const name of ['L_ist 1', 'l_IST 2', 'Lxist 3', 'l_ist 10']) await made(name);
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
      await names(
        'search: "ist", first: 1, orderBy: [{ field: CREATED_AT, direction: DESC }, { field: ID, direction: DESC }]',
      ),
    ).toEqual(['l_ist 10']);
    expect(await names('filter: { name: { in: ["Lxist 3", "L_ist 1"] } }')).toEqual(['L_ist 1', 'Lxist 3']);
    expect(await names('last: 2, search: "ist", orderBy: [{ field: ID }]')).toEqual(['Lxist 3', 'l_ist 10']);
  });
});

describe('a color of a status', () => {
  const create = (color: string | null) =>
    gateway.mutate(
      'createContactStatus',
      { name: `Color ${color} ${Math.random()}`, color },
      'contactStatus { id color }',
    );
  test.each(['red', '#12345', '#1234567', '123456', '#gggggg', '#12345\n', ''])('%j is rejected', async color =>
    expect(faultsOf(await create(color))).toEqual({ color: [expect.any(String)] }),
  );
  test('is stored in upper case, and kept if omitted in an update', async () => {
    const { id, color } = payloadOf(await create('#aB12ef')).contactStatus;
    expect(color).toBe('#AB12EF');
    const update = async (input: object) =>
      payloadOf(await gateway.mutate('updateContactStatus', { id, ...input }, 'contactStatus { color }')).contactStatus;
    expect((await update({ name: 'Renamed' })).color).toBe('#AB12EF');
    expect((await update({ color: '#000000' })).color).toBe('#000000');
  });
});

describe('members of a group', () => {
  const change = (action: 'addContactsToGroup' | 'removeContactsFromGroup', input: object) =>
    gateway.mutate(action, input, 'changedCount contactGroup { name contactsCount }');
  const group = (name: string): Promise<number> => seedOf(gateway).label('Group', name);

  test('only added or removed members are counted', async () => {
    const [id, a, b, c] = [await group('Members'), await contact(), await contact(), await contact()];
    expect(payloadOf(await change('addContactsToGroup', { groupId: id, contactIds: [a, b, b] }))).toMatchObject({
      changedCount: 2,
      contactGroup: { name: 'Members', contactsCount: 2 },
    });
    expect(
      payloadOf(
        await change('addContactsToGroup', {
          groupId: encodeGlobalId('ContactGroup', gateway.tenant.id, id),
          contactIds: [b, encodeGlobalId('Contact', gateway.tenant.id, c)],
        }),
      ),
    ).toMatchObject({ changedCount: 1, contactGroup: { name: 'Members', contactsCount: 3 } });
    expect(
      payloadOf(await change('removeContactsFromGroup', { groupId: id, contactIds: [a, a, 999_999_999] })),
    ).toMatchObject({ changedCount: 1, contactGroup: { name: 'Members', contactsCount: 2 } });
    expect(payloadOf(await change('removeContactsFromGroup', { groupId: id, contactIds: [a] })).changedCount).toBe(0);
  });

  test('an unknown contact rejects the whole request, an unknown group is NOT_FOUND, and 1 to 1,000 ids are allowed', async () => {
    const [id, a] = [await group('Strict'), await contact()];
    expect(faultsOf(await change('addContactsToGroup', { groupId: id, contactIds: [a, 999_999_999] }))).toHaveProperty(
      'contactIds',
    );
    expect(payloadOf(await change('removeContactsFromGroup', { groupId: id, contactIds: [a] })).changedCount).toBe(0);
    for (const action of ['addContactsToGroup', 'removeContactsFromGroup'] as const) {
      expect(codeOf(await change(action, { groupId: 999_999_999, contactIds: [a] }))).toBe('NOT_FOUND');
      for (const contactIds of [[], Array.from({ length: 1_001 }, (_, n) => n + 1), ['x']])
        expect(faultsOf(await change(action, { groupId: id, contactIds }))).toHaveProperty('contactIds');
    }
  });

  test('a repeated request under one key returns the first count', async () => {
    const [id, a] = [await group('Keyed'), await contact()];
    const input = { groupId: id, contactIds: [a], idempotencyKey: 'members' };
    expect(payloadOf(await change('addContactsToGroup', input)).changedCount).toBe(1);
    expect(payloadOf(await change('addContactsToGroup', input)).changedCount).toBe(1);
    expect(codeOf(await change('removeContactsFromGroup', input))).toBe('IDEMPOTENCY_MISMATCH');
  });
});
