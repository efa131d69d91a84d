import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FieldErrorList } from '../../../src/core/errors.ts';
import { body, names, readBody } from '../../../src/rest/runtime/fields.ts';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { legacyOf, type Rest, restOf } from '../client.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;
let v2: Rest;

beforeAll(async () => {
  gateway = await startGateway();
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = legacyOf(gateway, tenant);
  v2 = restOf(gateway, tenant);
});
afterAll(() => gateway.stop());

const create = (body: object = {}) => rest('POST', '/contacts', { phone: newPhone(), ...body });
let emails = 0;
const freshEmail = (): string => {
  emails += 1;
  return `put-${emails}@example.com`;
};
const groupNames = async (search: string): Promise<string[]> =>
  (await rest('GET', `/groups?search=${search}&sort=name`)).body.data.data.map((group: { name: string }) => group.name);

describe('a list of group names', () => {
  const read = (groups: unknown) => {
    const errors = new FieldErrorList();
    const result = readBody(body({ groups: names() }), { groups }, errors);
    return { names: result?.groups, faults: errors.fields };
  };
  const name = fc.string({ minLength: 1, maxLength: 20 }).filter(text => !text.includes(',') && text.trim() !== '');

  it('is the same with commas and as an array, whatever the white space', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.constantFrom('', ' ', '\t'))), parts => {
        const wanted = parts.map(([text]) => text.trim());
        const padded = parts.map(([text, blank]) => blank + text + blank);
        expect(read(padded.join(',')).names).toEqual(wanted);
        expect(read(padded).names).toEqual(wanted);
        expect(read(wanted.map(text => ({ id: 1, name: text }))).names).toEqual(wanted);
      }),
    );
  });

  it('ignores empty names, keeps a comma in an array, and differs from no list', () => {
    expect(read(' , VIP,,').names).toEqual(['VIP']);
    expect(read(['Silva, Ana', '']).names).toEqual(['Silva, Ana']);
    expect(read('').names).toEqual([]);
    expect(read(null).names).toBeNull();
    expect(read(undefined).names).toBeUndefined();
    expect(read(2024).names).toEqual(['2024']);
    expect(read(['half \ud800']).names).toEqual(['half \ufffd']);
    for (const groups of [[[]], [{}], true, [null], 'a\0', ['a\0']])
      expect(Object.keys(read(groups).faults)).toEqual(['groups']);
  });
});

describe('groups by name', () => {
  it('are found in any case, created if missing, and each once', async () => {
    await rest('POST', '/groups', { name: 'Known' });
    const { body } = await create({ groups: 'KNOWN, Fresh one, fresh ONE' });
    expect(body.data.groups.map((group: { name: string }) => group.name)).toEqual(['Fresh one', 'Known']);
    expect(body.data.group_id).toHaveLength(2);
  });

  it('are created once by concurrent requests, whatever the order of names', async () => {
    const names = ['Race a', 'Race b', 'Race c', 'Race d'];
    const rotated = (by: number) => names.map((_, index) => names[(index + by) % names.length]);
    const before = dataOf(await gateway.graphql('{ groups: contactGroups { totalCount } }', {}, tenant.token)).groups
      .totalCount;
    const answers = await Promise.all(Array.from({ length: 12 }, (_, by) => create({ groups: rotated(by).join(',') })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const ids = new Set(answers.map(({ body }) => [...body.data.group_id].sort().join()));
    expect(ids.size).toBe(1);
    expect(await groupNames('Race')).toEqual(names);
    const after = dataOf(await gateway.graphql('{ groups: contactGroups { totalCount } }', {}, tenant.token)).groups
      .totalCount;
    expect(after - before).toBe(names.length);
    const events = await gateway.database.query<{ name: string }>(
      `select payload->'group'->>'name' as name from events where tenant_id = $1 and type = 'group.created'`,
      [tenant.id],
    );
    expect(
      events
        .map(event => event.name)
        .filter(text => text.startsWith('Race'))
        .sort(),
    ).toEqual(names);
  });

  it('are created by concurrent updates, creations and createContactGroup without internal errors', async () => {
    const ids: number[] = [];
    for (let index = 0; index < 4; index += 1) ids.push((await create()).body.data.id);
    const [first] = (await rest('GET', '/groups?search=Known')).body.data.data;
    for (let round = 0; round < 3; round += 1) {
      const name = `Storm ${round}`;
      const answers = await Promise.all([
        ...ids.map(id =>
          rest('PUT', `/contacts/${id}`, {
            firstname: 'A',
            phone: newPhone(),
            type: 'lead',
            groups: `${name}, Known`,
          }),
        ),
        create({ groups: `Known,${name}` }),
        rest('POST', '/groups', { name }),
        rest('PUT', `/groups/${first.id}`, { name: 'Known' }),
        rest('DELETE', `/contacts/${(await create({ groups: name })).body.data.id}`),
      ]);
      expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([]);
      expect(await groupNames(`Storm ${round}`)).toEqual([name]);
    }
  });

  it('are created in one order, to avoid deadlocks', async () => {
    const contacts = [(await create()).body.data, (await create()).body.data];
    const names = ['Ring x', 'Ring m', 'Ring y'];
    // Who holds the name in the middle stops both where each has made the name that the other wants next.
    const holder = await gateway.gateway.resources.db.connect();
    await holder.query('begin');
    await holder.query("insert into groups (tenant_id, name) values ($1, 'Ring m')", [tenant.id]);
    const puts = contacts.map(({ id, phone }, index) => {
      const groups = index === 0 ? names : names.toReversed();
      return rest('PUT', `/contacts/${id}`, { firstname: 'A', phone, type: 'lead', groups });
    });
    await eventually(async () => {
      const waiting = await gateway.database.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(waiting).toHaveLength(2);
    });
    await holder.query('rollback');
    await holder.end();
    for (const { status, body } of await Promise.all(puts))
      expect([status, body.data?.groups.map((group: { name: string }) => group.name)]).toEqual([
        200,
        [...names].sort(),
      ]);
  });

  it('are not created if the contact is not', async () => {
    const { body } = await create();
    const again = await rest('POST', '/contacts', { phone: body.data.phone, groups: 'Never made' });
    expect([again.status, again.body.errors]).toEqual([422, { phone: [expect.any(String)] }]);
    const missing = await rest('PUT', '/contacts/999999', {
      firstname: 'A',
      phone: newPhone(),
      type: 'lead',
      groups: 'Never made',
    });
    expect(missing.status).toBe(404);
    expect(await groupNames('Never')).toEqual([]);
  });

  it('are checked by GraphQL under their index, and are not an input of version 2', async () => {
    const faults = async (groupNames: string[]) =>
      Object.keys(faultsOf(await gateway.mutate('createContact', { phone: newPhone(), groupNames }, '', tenant.token)));
    expect(await faults(['Fine', '', 'x'.repeat(151)])).toEqual(['groupNames.1', 'groupNames.2']);
    expect(await faults(Array.from({ length: 101 }, (_, index) => `g${index}`))).toEqual(['groupNames']);
    const { body } = await v2('POST', '/contacts', { phone: newPhone(), group_names: ['By v2'] });
    expect(body.data.group_id).toEqual([]);
  });
});

describe('PUT', () => {
  const whole = () => ({
    email: freshEmail(),
    firstname: 'Ana',
    lastname: 'Silva',
    type: 'customer',
    company: 'Silva Flowers',
    city: 'Lisbon',
    country_id: 620,
    groups: 'VIP',
    description: 'Notes',
  });

  it('replaces: missing fields are empty, source and status are the defaults of the tenant', async () => {
    const source = (await rest('POST', '/sources', { name: 'Default' })).body.data.id;
    const other = (await rest('POST', '/sources', { name: 'Other' })).body.data.id;
    const { body } = await create({ ...whole(), source_id: other });
    await gateway.database.query('update tenants set default_source_id = $2 where tenant_id = $1', [tenant.id, source]);
    const token = await gateway.addToken(tenant, {});
    const fresh = legacyOf(gateway, { slug: tenant.slug, token });
    gateway.gateway.resources.tokens.forgetAll();
    const { phone, id } = body.data;
    const replaced = await fresh('PUT', `/contacts/${id}`, { firstname: 'Bea', phone, type: 'lead' });
    expect(replaced.body.data).toMatchObject({
      id,
      firstname: 'Bea',
      lastname: null,
      type: 'lead',
      email: null,
      company: null,
      city: null,
      country_id: null,
      description: null,
      assigned_id: null,
      group_id: [],
      groups: [],
      source_id: source,
      phone,
    });
    const none = await fresh('PUT', `/contacts/${id}`, { firstname: 'Bea', phone, type: 'lead', source_id: null });
    expect(none.body.data.source_id).toBeNull();
    // A default that has gone since this process learned of it is none.
    await gateway.database.query('delete from contacts where tenant_id = $1 and source_id = $2', [tenant.id, source]);
    await gateway.database.query('delete from sources where tenant_id = $1 and id = $2', [tenant.id, source]);
    const gone = await fresh('PUT', `/contacts/${id}`, { firstname: 'Bea', phone, type: 'lead' });
    expect([gone.status, gone.body.data.source_id]).toEqual([200, null]);
    gateway.gateway.resources.tokens.forgetAll();
  });

  it('accepts the answer of GET, and changes only the time', async () => {
    const { body } = await create(whole());
    const sent = { ...body.data };
    const { updated_at: _then, ...before } = body.data;
    const { updated_at: _now, ...after } = (await rest('PUT', `/contacts/${sent.id}`, sent)).body.data;
    expect(after).toEqual(before);
  });

  it('requires firstname, phone and type', async () => {
    const { body } = await create(whole());
    for (const name of ['firstname', 'phone', 'type']) {
      const { [name as 'type']: _left, ...others } = { ...whole(), phone: body.data.phone, email: null };
      const answer = await rest('PUT', `/contacts/${body.data.id}`, others);
      expect([answer.status, answer.body.errors]).toEqual([422, { [name]: ['Is required.'] }]);
    }
    expect((await rest('GET', `/contacts/${body.data.id}`)).body.data).toEqual(body.data);
  });

  it('keeps the opt-out unless it is given', async () => {
    const { body } = await create({ is_opted_out: 1 });
    expect(body.data).toMatchObject({ is_opted_out: 1, is_enabled: 0 });
    const { id, phone } = body.data;
    const put = async (more: object) =>
      (await rest('PUT', `/contacts/${id}`, { firstname: 'A', phone, type: 'lead', ...more })).body;
    expect((await put({})).data.is_opted_out).toBe(1);
    for (const value of [0, '0', false, 'false']) {
      expect((await put({ is_opted_out: value })).data).toMatchObject({ is_opted_out: 0, is_enabled: 1 });
      expect((await put({ is_enabled: value })).data).toMatchObject({ is_opted_out: 1, is_enabled: 0 });
    }
    expect((await put({ is_enabled: 1, is_opted_out: 1 })).errors).toEqual({ is_enabled: [expect.any(String)] });
    expect((await put({ is_opted_out: 2 })).errors).toEqual({ is_opted_out: [expect.any(String)] });
  });

  it('is a GraphQL mutation with its own idempotency key and events', async () => {
    const { id, phone } = (await create(whole())).body.data;
    await rest('PUT', `/contacts/${id}`, { ...whole(), email: null, phone });
    const ask = (input: object) =>
      gateway.mutate('replaceContact', { id: String(id), ...input }, 'contact { databaseId city }', tenant.token);
    const input = { phone, firstName: 'Ana', type: 'LEAD', idempotencyKey: 'replace-1' };
    expect(dataOf(await ask(input)).replaceContact.contact).toEqual({ databaseId: String(id), city: null });
    expect(dataOf(await ask(input)).replaceContact.contact.databaseId).toBe(String(id));
    expect(codeOf(await ask({ ...input, firstName: 'Bea' }))).toBe('IDEMPOTENCY_MISMATCH');
    const [event] = await gateway.database.query<{ city: string }>(
      `select payload->'previous'->>'city' as city from events
       where tenant_id = $1 and type = 'contact.updated' and (payload->'contact'->>'id')::bigint = $2 order by id desc limit 1`,
      [tenant.id, id],
    );
    expect(event?.city).toBe('Lisbon');
  });
});

describe('a guest', () => {
  it('of version 2 is shown and filtered as a lead', async () => {
    const other = await gateway.addTenant();
    const [mine, theirs] = [legacyOf(gateway, other), restOf(gateway, other)];
    for (const type of ['lead', 'customer', 'guest'])
      await theirs('POST', '/contacts', { phone: newPhone(), type, firstname: type });
    const shown = async (filter: string) =>
      (await mine('GET', `/contacts?sort=firstname&${filter}`)).body.data.data.map(
        (row: { firstname: string; type: string }) => `${row.firstname}: ${row.type}`,
      );
    expect(await shown('')).toEqual(['customer: customer', 'guest: lead', 'lead: lead']);
    const leads = ['guest: lead', 'lead: lead'];
    expect(await shown('filter[type]=lead')).toEqual(leads);
    expect(await shown('filter[type][ne]=customer')).toEqual(leads);
    expect(await shown('filter[type][ne]=lead')).toEqual(['customer: customer']);
    expect(await shown('filter[type][in]=lead,customer')).toHaveLength(3);
    expect(await shown('filter[type][not_in]=lead')).toEqual(['customer: customer']);
    expect(await shown('filter[type][like]=le')).toEqual(leads);
    expect(await shown('filter[type][null]=true')).toEqual([]);
    expect(await shown('filter[type]=lead&filter[type][ne]=lead')).toEqual([]);
    for (const filter of ['filter[type]=guest', 'filter[type][near]=le'])
      expect((await mine('GET', `/contacts?${filter}`)).body.errors).toEqual({ 'filter.type': [expect.any(String)] });
  });

  it('is not accepted as a type', async () => {
    const answers = [
      await create({ type: 'guest' }),
      await rest('PUT', '/contacts/1', { firstname: 'A', phone: newPhone(), type: 'guest' }),
    ];
    for (const { status, body } of answers)
      expect([status, body.errors]).toEqual([422, { type: ['Must be one of: lead, customer.'] }]);
  });
});

describe('a list', () => {
  it('has 15 rows a page by default, 100 at most, complete rows, and neither fields nor include', async () => {
    const many = await gateway.addTenant();
    const mine = legacyOf(gateway, many);
    await gateway.database.query(
      `insert into groups (tenant_id, name) select $1, 'g' || n from generate_series(1, 240) n`,
      [many.id],
    );
    const { data } = (await mine('GET', '/groups?fields=id&include=nothing')).body;
    expect([data.data.length, data.per_page, data.last_page, data.total]).toEqual([15, 15, 16, 240]);
    expect(Object.keys(data.data[0])).toEqual(['id', 'name', 'contacts_count', 'created_at', 'updated_at']);
    const middle = (await mine('GET', '/groups?page=8&sort=id')).body.data;
    expect(middle.links.map(({ label }: { label: string }) => label).join(' ')).toBe(
      '&laquo; Previous 1 2 ... 5 6 7 8 9 10 11 ... 15 16 Next &raquo;',
    );
    expect([middle.from, middle.to]).toEqual([106, 120]);
    const next = await fetch(middle.next_page_url, { headers: { authorization: `Bearer ${many.token}` } });
    expect(((await next.json()) as { data: { from: number } }).data.from).toBe(121);
  });
});
