import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cleanExports } from '../../../../src/features/contacts/exports/housekeeping.ts';
import { runExports } from '../../../../src/features/contacts/exports/run.ts';
import { deleteUnusedContents } from '../../../../src/features/messages/content/media/keeping/sweep.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { testLane } from '../../../support/lane.ts';

/** Drains no lanes by itself: the tests do. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const EXPORT = 'export { id databaseId state fileType rowCount error url expiresAt author { kind displayName } }';
type Row = Record<string, unknown> & { readonly id: string; readonly url: string; readonly databaseId: string };

const request = (input: object, token?: string) => gateway.mutate('createExport', input, EXPORT, token);
const requested = async (input: object, token?: string): Promise<Row> => payloadOf(await request(input, token)).export;
const exportOf = async (id: string, token?: string): Promise<Row> =>
  dataOf(await gateway.graphql(`query ($id: ID!) { ${EXPORT.replace('export', 'export(id: $id)')} }`, { id }, token))
    .export;
const drain = (tenant: TestTenant, resources: Partial<TestGateway['gateway']['resources']> = {}, lane = {}) =>
  runExports(
    { ...gateway.gateway.resources, ...resources },
    { ...testLane('exports', tenant.id, String(tenant.id)), ...lane },
  );
/** What is told of the ends of exports. */
const eventsOf = async (tenant: TestTenant): Promise<Record<string, unknown>[]> => {
  const query = `{ events(filter: { types: [EXPORT_COMPLETED, EXPORT_FAILED] }) { nodes { type subjectId payload actor { kind }
    ... on DataEvent { export { id state } contact { id } consentEntry { id } receipt { id } } } } }`;
  return dataOf(await gateway.graphql(query, {}, tenant.token)).events.nodes;
};
/** Requests an export and writes it. */
const exported = async (tenant: TestTenant, input: object): Promise<Row> => {
  const { id } = await requested(input, tenant.token);
  await drain(tenant);
  return exportOf(id, tenant.token);
};
const download = async ({ url }: Row, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${gateway.url}${url}`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const csv = async (row: Row): Promise<Record<string, string>[]> => parse((await download(row)).text, { columns: true });
const create = async (tenant: TestTenant, input: object): Promise<string> =>
  payloadOf(await gateway.mutate('createContact', input, 'contact { databaseId }', tenant.token)).contact.databaseId;

test('contacts are exported as CSV with names of groups and labels, and the file needs no token', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const ana = await create(tenant, {
    ...{ phone: '+4915100000001', firstName: '=HYPERLINK("http://evil.example")', lastName: 'Müller, "Ana"' },
    ...{ company: 'Line\nbreak', country: 'DE', groupNames: ['VIP', 'Berlin'] },
  });
  const bob = await create(tenant, { phone: '+4915100000002', firstName: 'Bob', isOptedOut: true });
  const row = await requested({ resource: { contacts: {} } }, tenant.token);
  expect(row).toMatchObject({
    ...{ state: 'QUEUED', fileType: 'CSV', rowCount: null, error: null, url: null, expiresAt: null },
    author: { kind: 'TOKEN', displayName: 'test' },
  });
  await drain(tenant);
  const complete = await exportOf(row.id, tenant.token);
  expect(complete).toMatchObject({ state: 'COMPLETED', rowCount: 2, expiresAt: expect.any(String) });
  const { status, headers, text } = await download(complete);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="?contacts-\d{4}-\d\d-\d\d\.csv/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(text.split('\r\n')[0]).toMatch(/^id,firstname,lastname,.*,groups$/);
  const rows = await csv(complete);
  expect(rows).toEqual([
    expect.objectContaining({
      ...{
        id: ana,
        firstname: `'=HYPERLINK("http://evil.example")`,
        lastname: 'Müller, "Ana"',
        company: 'Line\nbreak',
      },
      ...{ phone: '+4915100000001', country_id: '276', groups: 'Berlin; VIP', opted_out_at: '' },
    }),
    expect.objectContaining({ id: bob, firstname: 'Bob', opted_out_at: expect.stringMatching(/^\d{4}-.*Z$/) }),
  ]);
  const part = await download(complete, { range: 'bytes=0-1' });
  expect([part.status, part.text]).toEqual([206, 'id']);
  expect((await download({ ...complete, url: complete.url.replace('/exports/', '/media/') })).status).toBe(404);
});

test('messages are exported by a filter as JSON, with their people', async () => {
  const tenant = await gateway.addTenant();
  const send = async (phone: string, text: string) =>
    payloadOf(
      await gateway.mutate(
        'sendMessage',
        { to: { phone }, content: { text: { body: text } } },
        'message { databaseId contact { databaseId } }',
        tenant.token,
      ),
    ).message;
  const one = await send('+4915100000011', 'One');
  await send('+4915100000012', 'Two');
  const filter = { contactId: { eq: one.contact.databaseId }, direction: { eq: 'OUTBOUND' } };
  const row = await exported(tenant, { resource: { messages: filter }, fileType: 'JSON' });
  expect(row).toMatchObject({ state: 'COMPLETED', rowCount: 1, fileType: 'JSON' });
  const { headers, text } = await download(row);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(JSON.parse(text)).toEqual([
    expect.objectContaining({
      ...{ id: one.databaseId, message: 'One', direction: 'outbound', contact_phone: '+4915100000011' },
    }),
  ]);
  const none = await exported(tenant, { resource: { messages: { wamid: { eq: 'x' } } }, fileType: 'JSON' });
  expect([none['rowCount'], (await download(none)).text]).toEqual([0, '[]\n']);
  const header = await exported(tenant, { resource: { messages: { wamid: { eq: 'x' } } } });
  expect((await download(header)).text).toMatch(/^id,.*contact_phone\r\n$/);
});

test('pages of any size make the same file: no row is lost or doubled', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  await gateway.database.query(
    `insert into contacts (tenant_id, firstname, phone, phone_key)
     select $1, 'N' || n, '+4930' || (1000000 + n), '4930' || (1000000 + n) from generate_series(1, 5300) n`,
    [tenant.id],
  );
  const row = await exported(tenant, { resource: { contacts: { not: { phone: { like: '%7' } } } } });
  const rows = await csv(row);
  expect([row['rowCount'], new Set(rows.map(({ id }) => id)).size]).toEqual([4_770, 4_770]);
  expect(rows.map(({ id }) => Number(id))).toEqual(rows.map(({ id }) => Number(id)).sort((a, b) => a - b));
});

test('a person is exported as one JSON file, with an audit entry', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const id = await create(tenant, { phone: '+4915100000021', firstName: 'Ana', groupNames: ['VIP'] });
  const made = payloadOf(
    await gateway.mutate('exportContact', { id }, `${EXPORT.slice(0, -1)} contact { databaseId } }`, tenant.token),
  ).export;
  expect(made).toMatchObject({ state: 'QUEUED', fileType: 'JSON', contact: { databaseId: id } });
  await drain(tenant);
  const row = await exportOf(made.id, tenant.token);
  expect(row).toMatchObject({ state: 'COMPLETED', rowCount: 1 });
  const file = await download(row);
  expect(file.headers.get('content-disposition')).toContain(`contact-${id}-`);
  expect(JSON.parse(file.text)).toMatchObject({
    contact: { id: Number(id), firstname: 'Ana' },
    groups: [{ name: 'VIP' }],
    files: [],
  });
  const entries = await gateway.database.query(
    `select action, author->>'name' as name from audit_log where tenant_id = $1 and subject = $2 order by id`,
    [tenant.id, `contact:${id}`],
  );
  expect(entries).toEqual([
    { action: 'export.created', name: 'test' },
    { action: 'contact.exported', name: 'test' },
  ]);
  expect(codeOf(await gateway.mutate('exportContact', { id: '999999' }, EXPORT, tenant.token))).toBe('NOT_FOUND');
});

describe('an export is refused', () => {
  test('without the scopes to export and to read', async () => {
    const reader = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read', 'messages:read'] });
    expect(codeOf(await request({ resource: { contacts: {} } }, reader))).toBe('INSUFFICIENT_SCOPE');
    const exporter = await gateway.addToken(gateway.tenant, { scopes: ['contacts:export', 'contacts:read'] });
    expect(codeOf(await request({ resource: { messages: {} } }, exporter))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await gateway.graphql('{ exports { totalCount } }', {}, reader))).toBe('INSUFFICIENT_SCOPE');
  });

  test('with a filter that the list refuses, or not exactly one resource', async () => {
    expect(
      Object.keys(faultsOf(await request({ resource: { contacts: { country: { eq: 'Atlantis' } } } }))),
    ).toHaveLength(1);
    const neither = await gateway.graphql('mutation { createExport(input: { resource: {} }) { export { id } } }');
    expect(neither.errors).toHaveLength(1);
  });

  test('while twenty others wait, also of those that are requested at the same time', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => request({ resource: { contacts: {} } }, tenant.token)),
    );
    expect(answers.map(codeOf).sort()).toEqual(Array.from({ length: 40 }, (_, n) => (n < 20 ? 'CONFLICT' : undefined)));
    await drain(tenant);
    await requested({ resource: { contacts: {} } }, tenant.token);
  });
});

test('a repeated request makes one export, and exports are listed latest first', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const input = { resource: { contacts: {} }, idempotencyKey: 'export-1' };
  const [first, again] = [await requested(input, tenant.token), await requested(input, tenant.token)];
  expect(again.id).toBe(first.id);
  const second = await requested({ resource: { contacts: {} }, fileType: 'JSON' }, tenant.token);
  await drain(tenant);
  const { exports } = dataOf(
    await gateway.graphql(
      '{ exports(filter: { state: { eq: COMPLETED } }) { totalCount nodes { id } } }',
      {},
      tenant.token,
    ),
  );
  expect(exports).toEqual({ totalCount: 2, nodes: [{ id: second.id }, { id: first.id }] });
});

const erase = async (tenant: TestTenant, id: string) =>
  payloadOf(
    await gateway.mutate('eraseContact', { id }, 'erasureReceipt { erased { kind count } }', tenant.token),
  ).erasureReceipt.erased.find(({ kind }: { kind: string }) => kind === 'export')?.count;
const filesOf = async (tenant: TestTenant): Promise<number> => {
  await deleteUnusedContents(gateway.gateway.resources);
  const [row] = await gateway.database.query<{ n: number }>(
    'select count(*)::int as n from media_unused where tenant_id = $1 and due_at <= now()',
    [tenant.id],
  );
  return row?.n ?? 0;
};

test('of a file that has ended by its age nothing about its people remains', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const [ana, bob] = [
    await create(tenant, { phone: '+4915100000061', firstName: 'Ana' }),
    await create(tenant, { phone: '+4915100000062', firstName: 'Bob' }),
  ];
  const filter = { phone: { in: ['+4915100000061', '+4915100000062'] } };
  const late = await exported(tenant, { resource: { contacts: filter } });
  await gateway.database.query("update exports set expires_at = now() - interval '1 second' where tenant_id = $1", [
    tenant.id,
  ]);
  // Its time is over, but it was not deleted yet.
  expect(await erase(tenant, ana)).toBe(1);
  const row = await exported(tenant, { resource: { contacts: filter } });
  await gateway.database.query(
    "update exports set expires_at = now() - interval '1 second' where tenant_id = $1 and state = 'completed'",
    [tenant.id],
  );
  await cleanExports(gateway.gateway.resources);
  expect(await filesOf(tenant)).toBe(0);
  expect(await erase(tenant, bob)).toBe(0);
  const left = await gateway.database.query(
    `select filter, storage_key, contact_id, (select count(*)::int from export_people p where p.tenant_id = e.tenant_id) as people
     from exports e where tenant_id = $1 and id = any($2::uuid[])`,
    [tenant.id, [late.databaseId, row.databaseId]],
  );
  expect(left).toEqual(Array(2).fill({ filter: null, storage_key: null, contact_id: null, people: 0 }));
});

describe('erasing a person', () => {
  test('deletes the files that have the data of this person, and no others', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const [ana, bob] = [
      await create(tenant, { phone: '+4915100000031', firstName: 'Ana' }),
      await create(tenant, { phone: '+4915100000032', firstName: 'Bob' }),
    ];
    const all = await exported(tenant, { resource: { contacts: {} } });
    const onlyBob = await exported(tenant, { resource: { contacts: { id: { eq: bob } } } });
    const person = payloadOf(await gateway.mutate('exportContact', { id: ana }, EXPORT, tenant.token)).export;
    await drain(tenant);
    const ofAna = await exportOf(person.id, tenant.token);
    expect(await erase(tenant, ana)).toBe(2);
    for (const row of [all, ofAna]) {
      expect((await download(row)).status).toBe(404);
      expect(await exportOf(row.id, tenant.token)).toMatchObject({
        ...{ state: 'EXPIRED', url: null, error: expect.stringContaining('erased') },
      });
    }
    expect(await csv(onlyBob)).toEqual([expect.objectContaining({ firstname: 'Bob' })]);
    await eventually(async () => expect(await eventsOf(tenant)).toHaveLength(3));
    const keys = await gateway.database.query(
      'select storage_key from media_unused where tenant_id = $1 and due_at <= now()',
      [tenant.id],
    );
    expect(keys).toHaveLength(2);
    expect(await filesOf(tenant)).toBe(0);
    for (const { storage_key: key } of keys)
      expect(await gateway.gateway.resources.files.open(String(key), undefined)).toBeUndefined();
  });

  test('whose data was read already has the file written anew, without this person', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const ana = await create(tenant, { phone: '+4915100000041', firstName: 'Ana' });
    await create(tenant, { phone: '+4915100000042', firstName: 'Bob' });
    const { id } = await requested({ resource: { contacts: {} } }, tenant.token);
    const { files } = gateway.gateway.resources;
    let puts = 0;
    await drain(tenant, {
      files: {
        ...files,
        async put(key, file) {
          puts += 1;
          if (puts === 1) await erase(tenant, ana);
          return files.put(key, file);
        },
      },
    });
    const row = await exportOf(id, tenant.token);
    expect([puts, row]).toEqual([2, expect.objectContaining({ state: 'COMPLETED', rowCount: 1, error: null })]);
    expect(await csv(row)).toEqual([expect.objectContaining({ firstname: 'Bob' })]);
    expect(await filesOf(tenant)).toBe(0);
  });
});

test('an export whose process was killed is due for the next one, which writes it from its beginning', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  await create(tenant, { phone: '+4915100000051', firstName: 'Ana' });
  const { id } = await requested({ resource: { contacts: {} } }, tenant.token);
  const ended = new AbortController();
  const { files } = gateway.gateway.resources;
  const put = async () => {
    ended.abort();
    throw new Error('killed');
  };
  await drain(tenant, { files: { ...files, put } }, { signal: ended.signal });
  expect(await exportOf(id, tenant.token)).toMatchObject({ state: 'RUNNING', url: null });
  const due = 'select id from exports where tenant_id = $1 and due_at <= clock_timestamp()';
  expect(await gateway.database.query(due, [tenant.id])).toHaveLength(1);
  await drain(tenant);
  expect(await exportOf(id, tenant.token)).toMatchObject({ state: 'COMPLETED', rowCount: 1 });
});

test('an export waits while the store fails, and tells why', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const { id } = await requested({ resource: { contacts: {} } }, tenant.token);
  const { files } = gateway.gateway.resources;
  const put = async () => {
    throw new Error('disk full at /srv/secret');
  };
  await drain(tenant, { files: { ...files, put } });
  expect(await exportOf(id, tenant.token)).toMatchObject({ state: 'QUEUED', error: 'The file could not be written.' });
  expect(await eventsOf(tenant)).toEqual([]);
  await gateway.database.query(
    "update exports set attempts = 9, due_at = now() - interval '1 second' where tenant_id = $1",
    [tenant.id],
  );
  await drain(tenant, { files: { ...files, put } });
  expect(await exportOf(id, tenant.token)).toMatchObject({ state: 'FAILED', error: 'The file could not be written.' });
  await eventually(async () =>
    expect(await eventsOf(tenant)).toMatchObject([
      {
        ...{ type: 'EXPORT_FAILED', subjectId: id, actor: { kind: 'TOKEN' }, export: { id, state: 'FAILED' } },
        payload: { export: { state: 'failed', error: 'The file could not be written.' } },
      },
    ]),
  );
});

test('that a file is complete is an event, for those who may export', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const row = await exported(tenant, { resource: { contacts: {} } });
  await eventually(async () =>
    expect(await eventsOf(tenant)).toMatchObject([
      {
        ...{ type: 'EXPORT_COMPLETED', subjectId: row.id, actor: { kind: 'TOKEN' } },
        ...{ export: { id: row.id, state: 'COMPLETED' }, contact: null, consentEntry: null, receipt: null },
        payload: { export: { id: row.databaseId, state: 'completed', resource: 'contacts', row_count: 0 } },
      },
    ]),
  );
  const reader = await gateway.addToken(tenant, { scopes: ['contacts:read', 'events:read'] });
  const all = dataOf(await gateway.graphql('{ events(first: 50) { nodes { type } } }', {}, reader)).events.nodes;
  expect(all.filter(({ type }: { type: string }) => type.startsWith('EXPORT'))).toEqual([]);
  const named = await gateway.graphql('{ events(filter: { types: [EXPORT_COMPLETED] }) { nodes { id } } }', {}, reader);
  expect(codeOf(named)).toBe('INSUFFICIENT_SCOPE');
});

test('the file of an export ends after a day, and its row is listed for 90 days', async () => {
  const tenant = await gateway.addTenant({ channel: false });
  const row = await exported(tenant, { resource: { contacts: {} } });
  expect((await download(row)).status).toBe(200);
  await gateway.database.query("update exports set expires_at = now() - interval '1 second' where tenant_id = $1", [
    tenant.id,
  ]);
  expect((await download(row)).status).toBe(404);
  await cleanExports(gateway.gateway.resources);
  expect(await exportOf(row.id, tenant.token)).toMatchObject({ state: 'EXPIRED', url: null });
  expect(await filesOf(tenant)).toBe(0);
  await gateway.database.query("update exports set created_at = now() - interval '91 days' where tenant_id = $1", [
    tenant.id,
  ]);
  await cleanExports(gateway.gateway.resources);
  expect(await exportOf(row.id, tenant.token)).toBeNull();
});

test('a worker writes a requested export without a second request', async () => {
  const whole = await startGateway();
  try {
    const made = payloadOf(await whole.mutate('createExport', { resource: { contacts: {} } }, 'export { id }')).export;
    await eventually(async () => {
      const answer = await whole.graphql('query ($id: ID!) { export(id: $id) { state } }', { id: made.id });
      expect(dataOf(answer).export.state).toBe('COMPLETED');
    });
  } finally {
    await whole.stop();
  }
});
