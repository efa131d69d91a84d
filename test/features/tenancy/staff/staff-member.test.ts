import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.database.query("insert into plans (name, max_staff, calls_per_minute) values ('two', 2, 6000)");
});
afterAll(() => gateway.stop());

const MEMBER = 'staffMember { id databaseId name email role displayName }';
const create = (input: object, token?: string) =>
  gateway.mutate('createStaffMember', { name: 'Ana', email: 'ana@example.com', ...input }, MEMBER, token);
const made = async (input: object, token?: string) => payloadOf(await create(input, token)).staffMember;
const update = (input: object, token?: string) => gateway.mutate('updateStaffMember', input, MEMBER, token);
const remove = (id: string, token?: string) => gateway.mutate('deleteStaffMember', { id }, 'deletedId', token);

test('a staff member is created, changed, listed and removed over the API, and each change is audited without personal data', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const { token } = tenant;
  const zoe = await made({ name: ' Zoe ', email: ' zoe@example.com ' }, token);
  expect(zoe).toMatchObject({ name: 'Zoe', email: 'zoe@example.com', role: 'AGENT', displayName: 'Zoe' });
  const eve = await made({ name: 'Éve', email: 'eve@example.com', role: 'ADMIN' }, token);
  expect(payloadOf(await update({ id: zoe.id, name: 'Zoë', role: 'VIEWER' }, token)).staffMember).toEqual({
    ...zoe,
    ...{ name: 'Zoë', role: 'VIEWER', displayName: 'Zoë' },
  });
  const list = async (args: string) =>
    dataOf(await gateway.graphql(`{ staffMembers(${args}) { totalCount nodes { name } } }`, {}, token)).staffMembers;
  expect(await list('first: 5')).toEqual({ totalCount: 2, nodes: [{ name: 'Zoë' }, { name: 'Éve' }] });
  expect((await list('search: "eve"')).nodes).toEqual([{ name: 'Éve' }]);
  expect((await list('filter: { role: { eq: ADMIN } }')).nodes).toEqual([{ name: 'Éve' }]);
  expect(payloadOf(await remove(zoe.id, token)).deletedId).toBe(zoe.id);
  expect(codeOf(await remove(zoe.id, token))).toBe('NOT_FOUND');
  const one = 'query ($id: ID!) { staffMember(id: $id) { name } node(id: $id) { id } }';
  expect(dataOf(await gateway.graphql(one, { id: zoe.id }, token))).toEqual({ staffMember: null, node: null });
  expect(dataOf(await gateway.graphql(one, { id: eve.id }, token)).staffMember).toEqual({ name: 'Éve' });
  const entries = await gateway.database.query(
    `select action, subject, details from audit_log where tenant_id = $1 and action like 'staff.%' order by id`,
    [tenant.id],
  );
  expect(entries).toEqual([
    { action: 'staff.created', subject: `staff:${zoe.databaseId}`, details: { role: 'agent' } },
    { action: 'staff.created', subject: `staff:${eve.databaseId}`, details: { role: 'admin' } },
    { action: 'staff.updated', subject: `staff:${zoe.databaseId}`, details: { role: 'viewer' } },
    { action: 'staff.deleted', subject: `staff:${zoe.databaseId}`, details: { role: 'viewer' } },
  ]);
});

test('all faults are reported with codes, and an e-mail address is used once', async () => {
  const answer = await create({ name: ' ', email: 'nobody' });
  expect(userErrorsOf(answer).map(({ code, path }) => [code, ...path])).toEqual([
    ['REQUIRED', 'name'],
    ['INVALID', 'email'],
  ]);
  const [bob, eve] = [await made({ email: 'bob@example.com' }), await made({ email: 'eve@example.com' })];
  for (const refused of [
    await create({ email: 'BOB@example.com' }),
    await update({ id: eve.id, email: 'Bob@Example.com' }),
  ])
    expect(userErrorsOf(refused)).toMatchObject([{ code: 'TAKEN', path: ['email'] }]);
  expect(payloadOf(await update({ id: bob.id, email: 'BOB@example.com' })).staffMember.email).toBe('BOB@example.com');
  expect(Object.keys(faultsOf(await update({ id: bob.id, name: null, role: null })))).toEqual(['name', 'role']);
});

test('a plan without room refuses another staff member with its numbers', async () => {
  const tenant = await gateway.addTenant({ plan: 'two', channel: false });
  for (const email of ['a@example.com', 'b@example.com']) await made({ email }, tenant.token);
  const refused = await gateway.mutate(
    'createStaffMember',
    { name: 'C', email: 'c@example.com' },
    'userErrors { ... on LimitError { feature used maximum } }',
    tenant.token,
  );
  expect(userErrorsOf(refused)).toMatchObject([
    { code: 'FEATURE_LIMIT_EXCEEDED', feature: 'staff', used: 2, maximum: 2 },
  ]);
});

test('the only admin is neither removed nor given another role, also by two requests at once', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const [one, two] = [
    await made({ email: 'one@example.com', role: 'ADMIN' }, tenant.token),
    await made({ email: 'two@example.com', role: 'ADMIN' }, tenant.token),
  ];
  const outcomes = await Promise.all([
    remove(one.id, tenant.token).then(codeOf),
    update({ id: two.id, role: 'AGENT' }, tenant.token).then(codeOf),
  ]);
  expect(outcomes.sort()).toEqual(['CONFLICT', undefined]);
  const { staffMembers } = dataOf(
    await gateway.graphql('{ staffMembers(filter: { role: { eq: ADMIN } }) { nodes { id } } }', {}, tenant.token),
  );
  expect(staffMembers.nodes).toHaveLength(1);
  expect(codeOf(await remove(staffMembers.nodes[0].id, tenant.token))).toBe('CONFLICT');
});

test('a narrower role and a removal end the sessions of a staff member, a wider role does not', async () => {
  const member = await made({ email: 'session@example.com', role: 'AGENT' });
  const open = async () =>
    payloadOf(
      await gateway.mutate(
        'createStaffSession',
        { staffMember: { id: member.id }, origins: [], documentsOnly: false },
        'token',
      ),
    ).token;
  const codeFor = async (token: string) => codeOf(await gateway.graphql('{ viewer { scopes } }', {}, token));
  const agent = await open();
  dataOf(await update({ id: member.id, role: 'ADMIN' }));
  expect(await codeFor(agent)).toBeUndefined();
  const admin = await open();
  await made({ email: 'other-admin@example.com', role: 'ADMIN' });
  dataOf(await update({ id: member.id, role: 'VIEWER' }));
  await eventually(async () =>
    expect([await codeFor(agent), await codeFor(admin)]).toEqual(['UNAUTHORIZED', 'UNAUTHORIZED']),
  );
  const viewer = await open();
  expect(await codeFor(viewer)).toBeUndefined();
  dataOf(await remove(member.id));
  await eventually(async () => expect(await codeFor(viewer)).toBe('UNAUTHORIZED'));
});

test('staff are read with staff:read and changed with staff:write alone', async () => {
  const reader = await gateway.addToken(gateway.tenant, { scopes: ['staff:read'] });
  const contacts = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read'] });
  dataOf(await gateway.graphql('{ staffMembers { totalCount } }', {}, reader));
  expect(codeOf(await gateway.graphql('{ staffMembers { totalCount } }', {}, contacts))).toBe('INSUFFICIENT_SCOPE');
  expect(codeOf(await create({ email: 'x@example.com' }, reader))).toBe('INSUFFICIENT_SCOPE');
  const other = await gateway.addTenant({ channel: false });
  const theirs = await made({ email: 'theirs@example.com' }, other.token);
  expect([codeOf(await update({ id: theirs.id, name: 'Mine' })), codeOf(await remove(theirs.id))]).toEqual([
    'NOT_FOUND',
    'NOT_FOUND',
  ]);
});

test('a repeated creation adds one staff member', async () => {
  const input = { email: 'keyed@example.com', idempotencyKey: 'staff-1' };
  expect(await made(input)).toEqual(await made(input));
});
