import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';

let gateway: TestGateway;
let other: TestTenant;
beforeAll(async () => {
  gateway = await startGateway();
  other = await gateway.addTenant({ channel: false });
});
afterAll(() => gateway.stop());

const FIELDS = `id databaseId firstName lastName fullName type email phone company description address city state zip
  country { numericCode alpha2 name } timeZone isOptedOut optedOutAt createdAt updatedAt source { name } status { name color } assignee { name email }
  groups { name } serviceWindow { isOpen expiresAt }`;
const create = (input: object, token?: string) =>
  gateway.mutate('createContact', input, `contact { ${FIELDS} }`, token);

const countOf = async (table: string): Promise<number> => {
  const rows = await gateway.database.query<{ n: string }>(`select count(*) as n from ${table} where tenant_id = $1`, [
    gateway.tenant.id,
  ]);
  return Number(rows[0]?.n);
};
const rowsWritten = async (): Promise<number[]> =>
  Promise.all(['contacts', 'contact_groups', 'events', 'idempotency_keys'].map(countOf));

async function addRow(
  table: 'sources' | 'statuses' | 'groups',
  name: string,
  tenant: TestTenant = gateway.tenant,
): Promise<number> {
  const rows = await gateway.database.query<{ id: string }>(
    `insert into ${table} (tenant_id, name) values ($1, $2) returning id`,
    [tenant.id, name],
  );
  return Number(rows[0]?.id);
}

async function addStaff(name: string, tenant: TestTenant = gateway.tenant): Promise<number> {
  const values = [tenant.id, name, `${name}@staff.example`];
  const rows = await gateway.database.query<{ id: string }>(
    'insert into staff (tenant_id, name, email) values ($1, $2, $3) returning id',
    values,
  );
  return Number(rows[0]?.id);
}

test('only the phone number of a contact is required', async () => {
  const {
    createContact: { contact: createContact },
  } = dataOf(await create({ phone: '+49 (151) 234-56789' }));
  expect(createContact).toMatchObject({
    phone: '+4915123456789',
    type: 'LEAD',
    firstName: null,
    lastName: null,
    fullName: null,
    email: null,
    country: null,
    timeZone: null,
    isOptedOut: false,
    groups: [],
    source: null,
    status: null,
    assignee: null,
    serviceWindow: { isOpen: false, expiresAt: null },
  });
  expect(createContact.id).toBe(encodeGlobalId('Contact', gateway.tenant.id, createContact.databaseId));
});

test('all fields of a new contact are stored trimmed, and read back unchanged', async () => {
  const [sourceId, statusId, group, second, assigneeId] = [
    await addRow('sources', 'Fair'),
    await addRow('statuses', 'Won'),
    await addRow('groups', 'Zebra'),
    await addRow('groups', 'Ant'),
    await addStaff('Mia'),
  ];
  const input = {
    phone: '+44 20 7946 0958',
    firstName: '  Zoë ',
    lastName: 'O’Neill',
    type: 'CUSTOMER',
    email: 'Zoe@Example.COM',
    company: 'ACME "quoted" \\ %_',
    description: 'd'.repeat(65_535),
    address: 'a'.repeat(500),
    city: 'São Paulo',
    state: '東京',
    zip: '0123456789 123456789'.slice(0, 20),
    country: 'deu',
    timeZone: ' Europe/Berlin ',
    sourceId,
    statusId: encodeGlobalId('ContactStatus', gateway.tenant.id, statusId),
    assigneeId: String(assigneeId),
    groupIds: [group, encodeGlobalId('ContactGroup', gateway.tenant.id, second), group],
  };
  const {
    createContact: { contact: createContact },
  } = dataOf(await create(input));
  const {
    phone,
    sourceId: _s,
    statusId: _t,
    assigneeId: _a,
    groupIds: _g,
    country: _c,
    timeZone: _z,
    firstName: _f,
    ...same
  } = input;
  expect(createContact).toMatchObject({
    ...same,
    phone: phone.replaceAll(' ', ''),
    firstName: 'Zoë',
    fullName: 'Zoë O’Neill',
    country: { numericCode: 276, alpha2: 'DE', name: 'Germany' },
    timeZone: 'Europe/Berlin',
    source: { name: 'Fair' },
    status: { name: 'Won', color: '#757575' },
    assignee: { name: 'Mia', email: 'Mia@staff.example' },
    groups: [{ name: 'Ant' }, { name: 'Zebra' }],
  });
  const again = await gateway.graphql(
    `query ($id: ID!) { contact(id: $id) { ${FIELDS} } node(id: $id) { ... on Contact { ${FIELDS} } } }`,
    { id: createContact.id },
  );
  expect(again.data).toEqual({ contact: createContact, node: createContact });
});

test('contact.created contains the stored values, with the names of the REST contract', async () => {
  const {
    createContact: { contact: createContact },
  } = dataOf(await create({ phone: '+4915100000001', firstName: 'Ev', email: 'ev@example.com' }));
  const events = await gateway.database.query<{ type: string; payload: { contact: object } }>(
    `select type, payload from events where tenant_id = $1 and (payload->'contact'->>'id')::bigint = $2`,
    [gateway.tenant.id, createContact.databaseId],
  );
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    type: 'contact.created',
    payload: { contact: { firstname: 'Ev', email: 'ev@example.com', phone: '+4915100000001', type: 'lead' } },
  });
  expect(JSON.stringify(events)).not.toMatch(/tenant_id|search_text|phone_key/);
});

test('omitted source and status of a new contact become the tenant’s defaults, null stays empty', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const source = await addRow('sources', 'Default source', tenant);
  const status = await addRow('statuses', 'Default status', tenant);
  await gateway.database.query(
    'update tenants set default_source_id = $2, default_status_id = $3 where tenant_id = $1',
    [tenant.id, source, status],
  );
  const token = await gateway.addToken(tenant, {});
  expect(dataOf(await create({ phone: '+4915100000002' }, token)).createContact.contact).toMatchObject({
    source: { name: 'Default source' },
    status: { name: 'Default status' },
  });
  expect(dataOf(await create({ phone: '+4915100000003', sourceId: null }, token)).createContact.contact).toMatchObject({
    source: null,
    status: { name: 'Default status' },
  });
});

test('a default source that was just deleted does not prevent the creation of a contact', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const source = await addRow('sources', 'Short-lived', tenant);
  await gateway.database.query('update tenants set default_source_id = $2 where tenant_id = $1', [tenant.id, source]);
  const token = await gateway.addToken(tenant, {});
  await gateway.graphql('{ viewer { scopes } }', {}, token);
  dataOf(
    await gateway.graphql(
      'mutation ($id: ID!) { deleteContactSource(input: { id: $id }) { deletedId } }',
      { id: source },
      token,
    ),
  );
  expect(dataOf(await create({ phone: '+4915100000004' }, token)).createContact.contact.source).toBeNull();
  const input = { contacts: [{ phone: '+4915100000005' }] };
  const batch = await gateway.mutate('createContacts', input, 'results { contact { phone } }', token);
  expect(payloadOf(batch).results).toEqual([{ contact: { phone: '+4915100000005' } }]);
});

describe('an invalid field is reported by name, and nothing is stored', () => {
  const valid = { phone: '+4915100000010', firstName: 'Half' };
  const cases: [field: string, input: object][] = [
    ['phone', { phone: '' }],
    ['phone', { phone: '12' }],
    ['phone', { phone: 'not a number' }],
    ['phone', { phone: '+49 151 2345678901234567890' }],
    ['phone', { phone: '+1\u0000415 555 0123' }],
    ['firstName', { firstName: 'x'.repeat(256) }],
    ['firstName', { firstName: 'a\u0000b' }],
    ['firstName', { firstName: 'half \ud83d a pair' }],
    ['lastName', { lastName: 'x'.repeat(256) }],
    ['company', { company: 'x'.repeat(256) }],
    ['company', { company: '\u0000' }],
    ['email', { email: `${'x'.repeat(180)}@example.com` }],
    ['email', { email: 'nobody' }],
    ['email', { email: 'a b@example.com' }],
    ['description', { description: 'x'.repeat(65_536) }],
    ['address', { address: 'x'.repeat(501) }],
    ['city', { city: 'x'.repeat(256) }],
    ['state', { state: 'x'.repeat(256) }],
    ['zip', { zip: 'x'.repeat(21) }],
    ['country', { country: '0' }],
    ['country', { country: 'XX' }],
    ['country', { country: '99999' }],
    ['country', { country: '-276' }],
    ['timeZone', { timeZone: 'Berlin' }],
    ['timeZone', { timeZone: '+01:00' }],
    ['timeZone', { timeZone: 'Europe/Berlin\u0000' }],
    ['sourceId', { sourceId: '999999999' }],
    ['sourceId', { sourceId: 'nonsense' }],
    ['sourceId', { sourceId: encodeGlobalId('ContactStatus', 1, 1) }],
    ['statusId', { statusId: '0' }],
    ['assigneeId', { assigneeId: '123456789012345678901234567890' }],
    ['groupIds', { groupIds: ['999999999'] }],
    ['groupIds', { groupIds: [''] }],
    ['idempotencyKey', { idempotencyKey: 'k'.repeat(256) }],
    ['idempotencyKey', { idempotencyKey: 'k\u0000' }],
  ];
  test.each(cases)('%s: %o', async (field, input) => {
    const before = await rowsWritten();
    const faults = Object.keys(faultsOf(await create({ ...valid, idempotencyKey: `fault-${field}`, ...input })));
    expect(faults.map(name => name.replace(/^input\./, ''))).toEqual([field]);
    expect(await rowsWritten()).toEqual(before);
  });
});

test('all invalid fields are reported at once', async () => {
  const faults = faultsOf(await create({ phone: 'x', email: 'x', zip: 'x'.repeat(21), country: '1' }));
  expect(Object.keys(faults).sort()).toEqual(['country', 'email', 'phone', 'zip']);
});

test('lengths are counted in characters, not in UTF-16 units', async () => {
  const {
    createContact: { contact: createContact },
  } = dataOf(await create({ phone: '+4915100000020', firstName: '👍'.repeat(255) }));
  expect([...createContact.firstName]).toHaveLength(255);
});

test('the source, status, group and staff member of another tenant do not exist, with the same error as unknown ids', async () => {
  const foreign = {
    sourceId: await addRow('sources', 'Theirs', other),
    statusId: await addRow('statuses', 'Theirs', other),
    assigneeId: await addStaff('Theirs', other),
    groupIds: [await addRow('groups', 'Theirs', other)],
  };
  const faults = faultsOf(await create({ phone: '+4915100000030', ...foreign }));
  const unknown = faultsOf(
    await create({
      phone: '+4915100000030',
      sourceId: '888888888',
      statusId: '888888888',
      assigneeId: '888888888',
      groupIds: ['888888888'],
    }),
  );
  const words = (list: Record<string, string[]>): string =>
    JSON.stringify(list).replaceAll(String(foreign.groupIds[0]), 'ID').replaceAll('888888888', 'ID');
  expect(words(faults)).toBe(words(unknown));
  expect(Object.keys(faults).sort()).toEqual(['assigneeId', 'groupIds', 'sourceId', 'statusId']);
});

describe('all spellings of a number belong to one contact', () => {
  test.each([
    ['+4915100000040', ['0049 151 00000040', '4915100000040', '+49-151-000-000-40', ' +49 (151) 00000040 ']],
    ['+5511961234567', ['+55 11 6123 4567', '551161234567', '+55 (11) 96123-4567']],
    ['+52 55 1234 5678', ['+521 55 1234 5678', '5215512345678', '+52 1 (55) 1234-5678']],
    ['+54 9 11 2345 6789', ['+54 11 2345 6789', '541123456789', '+5491123456789']],
  ])('%s', async (number, spellings) => {
    dataOf(await create({ phone: number }));
    for (const spelling of spellings)
      expect(faultsOf(await create({ phone: spelling })), spelling).toHaveProperty('phone');
  });
});

test('a number is unique per tenant: another tenant may have it too', async () => {
  dataOf(await create({ phone: '+4915100000050', email: 'both@example.com' }));
  dataOf(await create({ phone: '+4915100000050', email: 'both@example.com' }, other.token));
});

test('e-mail addresses are unique ignoring case, and a duplicate number and address are reported together', async () => {
  dataOf(await create({ phone: '+4915100000060', email: 'Taken@Example.com' }));
  expect(Object.keys(faultsOf(await create({ phone: '+4915100000061', email: 'tAKEN@example.COM' })))).toEqual([
    'email',
  ]);
  expect(Object.keys(faultsOf(await create({ phone: '+4915100000060', email: 'taken@example.com' }))).sort()).toEqual([
    'email',
    'phone',
  ]);
});

test('an empty e-mail address is stored as none, and many contacts may have none', async () => {
  for (const [index, email] of ['', '  ', null, undefined].entries()) {
    expect(dataOf(await create({ phone: `+491510000007${index}`, email })).createContact.contact.email).toBeNull();
  }
});

test('of 20 concurrent creations of one number exactly one succeeds, and the others report the field', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => create({ phone: '+4915100000080', email: `race${n}@example.com` })),
  );
  const refused = answers.filter(answer => codeOf(answer) !== undefined);
  expect(refused).toHaveLength(19);
  for (const answer of refused) expect(Object.keys(faultsOf(answer))).toEqual(['phone']);
  const [row] = await gateway.database.query<{ n: number }>(
    "select count(*)::int as n from contacts where tenant_id = $1 and phone = '+4915100000080'",
    [gateway.tenant.id],
  );
  expect(row?.n).toBe(1);
});

test('createContact without the required phone is rejected by the schema', async () => {
  expect(codeOf(await create({ firstName: 'Nobody' }))).toBe('BAD_USER_INPUT');
});
