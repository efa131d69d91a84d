import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, TIMESTAMP, UUID } from './client.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;

beforeAll(async () => {
  gateway = await startGateway();
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = restOf(gateway, tenant);
});
afterAll(() => gateway.stop());

async function label(kind: 'groups' | 'sources' | 'statuses', name: string): Promise<number> {
  return (await rest('POST', `/${kind}`, { name })).body.data.id;
}

describe('creating a contact', () => {
  it('needs only a phone number, and answers 201 with the whole row in the envelope', async () => {
    const phone = newPhone();
    const { status, headers, body } = await rest('POST', '/contacts', { phone });
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      data: {
        id: expect.any(Number),
        firstname: null,
        lastname: null,
        company: null,
        type: 'lead',
        email: null,
        phone,
        status_id: null,
        source_id: null,
        description: null,
        city: null,
        state: null,
        zip: null,
        time_zone: null,
        address: null,
        country_id: null,
        assigned_id: null,
        group_id: [],
        is_opted_out: false,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: expect.stringMatching(TIMESTAMP),
        service_window: { open: false, expires_at: null },
        groups: [],
      },
      message: 'Contact created',
      meta: { request_id: expect.stringMatching(UUID), timestamp: expect.stringMatching(TIMESTAMP) },
    });
    expect(headers.get('x-request-id')).toBe(body.meta.request_id);
    expect(headers.get('ratelimit')).toBeTruthy();
  });

  it('accepts every field, as numbers or text, as lists or separated by commas', async () => {
    const [group, other, source, state] = [
      await label('groups', 'VIP'),
      await label('groups', 'Press'),
      await label('sources', 'Fair'),
      await label('statuses', 'New'),
    ];
    const given = {
      firstname: 'Ada',
      lastname: 'Lovelace',
      company: 'Engines Ltd',
      type: 'Customer',
      email: 'ada@example.org',
      phone: newPhone(),
      description: 'Notes',
      city: 'London',
      state: 'England',
      zip: 10_115,
      address: '12 St James Square',
      country_id: '826',
      status_id: String(state),
      source_id: source,
      groups: `${group},${other}`,
    };
    const { body } = await rest('POST', '/contacts?include=source,status', given);
    expect(body.data).toMatchObject({
      ...given,
      type: 'customer',
      zip: '10115',
      country_id: 826,
      status_id: state,
      source_id: source,
      group_id: expect.arrayContaining([group, other]),
      groups: [
        {
          id: other,
          name: 'Press',
          created_at: expect.stringMatching(TIMESTAMP),
          updated_at: expect.stringMatching(TIMESTAMP),
        },
        {
          id: group,
          name: 'VIP',
          created_at: expect.stringMatching(TIMESTAMP),
          updated_at: expect.stringMatching(TIMESTAMP),
        },
      ],
      source: { id: source, name: 'Fair' },
      status: { id: state, name: 'New', color: expect.stringMatching(/^#[0-9A-F]{6}$/) },
    });
  });

  it('reports every invalid field under its name on the wire', async () => {
    const wrongTypes = await rest('POST', '/contacts', {
      firstname: {},
      type: 'boss',
      source_id: 'x',
      groups: ['a'],
      country_id: 'Atlantis',
    });
    expect(wrongTypes.status).toBe(422);
    expect(wrongTypes.body).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } });
    expect(Object.keys(wrongTypes.body.error.details).sort()).toEqual([
      'country_id',
      'firstname',
      'groups',
      'phone',
      'source_id',
      'type',
    ]);

    const wrongValues = await rest('POST', '/contacts', {
      phone: '123',
      firstname: 'x'.repeat(256),
      email: 'no',
      zip: 'x'.repeat(21),
      country_id: 1,
    });
    expect(wrongValues.status).toBe(422);
    expect(Object.keys(wrongValues.body.error.details).sort()).toEqual([
      'country_id',
      'email',
      'firstname',
      'phone',
      'zip',
    ]);
  });

  it('reports an unknown id under the field that contains it', async () => {
    const { status, body } = await rest('POST', '/contacts', {
      phone: newPhone(),
      source_id: 9_999,
      status_id: 9_999,
      assigned_id: 9_999,
      groups: [9_999],
    });
    expect(status).toBe(422);
    expect(Object.keys(body.error.details).sort()).toEqual(['assigned_id', 'groups', 'source_id', 'status_id']);
  });

  it('refuses a phone number or an e-mail address that another contact has', async () => {
    const [phone, email] = [newPhone(), 'taken@example.org'];
    await rest('POST', '/contacts', { phone, email });
    const again = await rest('POST', '/contacts', { phone });
    expect(again.status).toBe(422);
    expect(again.body.error.details).toHaveProperty('phone');
    const sameMail = await rest('POST', '/contacts', { phone: newPhone(), email });
    expect(sameMail.body.error.details).toHaveProperty('email');
  });

  it('answers 403 beyond the limit of the plan', async () => {
    const small = await gateway.addTenant({ plan: 'starter', channel: false });
    await gateway.database.query(
      'update tenant_usage set contacts_maximum = 0, contacts_ceiling = contacts where tenant_id = $1',
      [small.id],
    );
    const { status, body } = await restOf(gateway, small)('POST', '/contacts', { phone: newPhone() });
    expect(status).toBe(403);
    expect(body.error).toMatchObject({ code: 'FEATURE_LIMIT_EXCEEDED', details: { feature: 'contacts', maximum: 0 } });
  });

  it('stores half a surrogate pair as any encoder would, and refuses U+0000', async () => {
    const half = await rest('POST', '/contacts', `{"phone":"${newPhone()}","firstname":"A\\ud800"}`);
    expect(half.status).toBe(201);
    expect(half.body.data.firstname).toBe('A\ufffd');
    const nul = await rest('POST', '/contacts', `{"phone":"${newPhone()}","city":"A\\u0000"}`);
    expect(nul.status).toBe(422);
    expect(nul.body.error.details).toHaveProperty('city');
  });
});

describe('one contact', () => {
  it('is read, changed and removed', async () => {
    const group = await label('groups', 'Readers');
    const created = await rest('POST', '/contacts', {
      phone: newPhone(),
      firstname: 'Ada',
      company: 'Engines',
      groups: [group],
    });
    const path = `/contacts/${created.body.data.id}`;

    const read = await rest('GET', path);
    expect(read.status).toBe(200);
    const { groups, ...plain } = created.body.data;
    expect(groups).toHaveLength(1);
    expect(read.body.data).toEqual(plain);

    const changed = await rest('PATCH', path, { lastname: 'Byron', company: null, groups: [], is_opted_out: '1' });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      message: 'Contact updated',
      data: { firstname: 'Ada', lastname: 'Byron', company: null, groups: [], group_id: [], is_opted_out: true },
    });

    const removed = await rest('DELETE', path);
    expect(removed.status).toBe(200);
    expect(removed.body).toMatchObject({
      success: true,
      data: { id: created.body.data.id },
      message: 'Contact deleted',
    });
    expect((await rest('GET', path)).status).toBe(404);
    expect((await rest('DELETE', path)).status).toBe(404);
    expect((await rest('PATCH', path, { firstname: 'x' })).status).toBe(404);
  });

  it('keeps the fields that a PATCH leaves out', async () => {
    const created = await rest('POST', '/contacts', {
      phone: newPhone(),
      firstname: 'Ada',
      email: 'still@example.org',
    });
    const { created_at: _created, updated_at: _updated, ...before } = created.body.data;
    for (const body of [{}, undefined])
      expect((await rest('PATCH', `/contacts/${before.id}`, body)).body.data).toMatchObject(before);
  });

  it('can be sent back as it was read', async () => {
    const group = await label('groups', 'Round trip');
    const created = await rest('POST', '/contacts', {
      phone: newPhone(),
      firstname: 'Ada',
      country_id: 276,
      groups: [group],
    });
    const read = await rest('GET', `/contacts/${created.body.data.id}?include=groups,source,status`);
    const { updated_at: _before, ...row } = read.body.data;
    const { status, body } = await rest('PATCH', `/contacts/${row.id}?include=source,status`, read.body.data);
    expect(status).toBe(200);
    expect(body.data).toMatchObject(row);
  });

  it('shows the requested fields and the included objects only', async () => {
    const created = await rest('POST', '/contacts', { phone: newPhone() });
    const { id, phone } = created.body.data;
    expect((await rest('GET', `/contacts/${id}?fields=phone,id`)).body.data).toEqual({ id, phone });
    expect((await rest('GET', `/contacts/${id}?fields=id&include=source`)).body.data).toEqual({ id, source: null });
  });

  it.each(['abc', '0x1', '-1', '1.5', '99999999999999999999', '999999999'])(
    'with the id %s does not exist',
    async id => {
      for (const [method, body] of [
        ['GET', undefined],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const) {
        const answer = await rest(method, `/contacts/${id}`, body);
        expect([method, answer.status, answer.body.error.code]).toEqual([method, 404, 'NOT_FOUND']);
      }
    },
  );

  it('of another tenant is not found, with the same message', async () => {
    const { body } = await rest('POST', '/contacts', { phone: newPhone() });
    const stranger = restOf(gateway, await gateway.addTenant({ plan: 'standard', channel: false }));
    const [foreign, missing] = [
      await stranger('GET', `/contacts/${body.data.id}`),
      await stranger('GET', '/contacts/999999'),
    ];
    expect(foreign.status).toBe(404);
    expect(foreign.body.error).toEqual(missing.body.error);
    expect((await stranger('PATCH', `/contacts/${body.data.id}`, { firstname: 'x' })).status).toBe(404);
    expect((await stranger('DELETE', `/contacts/${body.data.id}`)).status).toBe(404);
    expect((await rest('GET', `/contacts/${body.data.id}`)).status).toBe(200);
  });
});

describe('a batch of contacts', () => {
  const create = (contacts: unknown, options?: object) =>
    rest('POST', '/contacts/batch', { contacts, ...(options && { options }) });

  it('is answered without the envelope: created rows, and faults by row', async () => {
    const [phone, twice] = [newPhone(), newPhone()];
    await rest('POST', '/contacts', { phone });
    const rows = [
      { phone: twice, firstname: 'Ada' },
      { phone },
      { phone: twice },
      { phone: 'x' },
      { phone: newPhone(), firstname: {} },
      'no object',
      { firstname: 'no phone' },
    ];
    const { status, body } = await create(rows);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['success', 'summary', 'created', 'skipped', 'errors']);
    expect(body).toMatchObject({
      success: true,
      summary: { total: 7, created: 1, skipped: 0, failed: 6 },
      skipped: [],
    });
    expect(body.created).toMatchObject([
      { phone: twice, firstname: 'Ada', group_id: [], service_window: { open: false, expires_at: null } },
    ]);
    expect(
      body.errors.map((row: { index: number; data: unknown; errors: object }) => [
        row.index,
        row.data,
        Object.keys(row.errors),
      ]),
    ).toEqual([
      [1, rows[1], ['phone']],
      [2, rows[2], ['phone']],
      [3, rows[3], ['phone']],
      [4, rows[4], ['firstname']],
      [5, rows[5], ['body']],
      [6, rows[6], ['phone']],
    ]);
  });

  it('shows in `created` the same row as GET does', async () => {
    const { body } = await create([{ phone: newPhone(), country_id: 276 }]);
    expect((await rest('GET', `/contacts/${body.created[0].id}`)).body.data).toEqual(body.created[0]);
  });

  it('skips duplicates with skip_duplicates', async () => {
    const phone = newPhone();
    const { body } = await create([{ phone }, { phone }], { skip_duplicates: 'true' });
    expect(body).toMatchObject({
      success: true,
      summary: { total: 2, created: 1, skipped: 1, failed: 0 },
      skipped: [{ index: 1, reason: expect.any(String), data: { phone } }],
    });
  });

  it('rolls back at the first error without continue_on_error, and accounts for every row', async () => {
    const phone = newPhone();
    const { status, body } = await create([{ phone }, { phone: newPhone(), city: [] }], { continue_on_error: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: false,
      summary: { total: 2, created: 0, skipped: 0, failed: 2 },
      created: [],
    });
    expect(body.errors[1]).toMatchObject({ index: 1, errors: { city: ['Must be text.'] } });
    expect((await rest('GET', `/contacts?search=${encodeURIComponent(phone)}`)).body.data).toEqual([]);
  });

  it('has 1 to 1,000 rows', async () => {
    for (const contacts of [undefined, 'x', {}, [], Array.from({ length: 1_001 }, () => ({ phone: '1' }))]) {
      const { status, body } = await create(contacts);
      expect(status).toBe(422);
      expect(body.error.details).toHaveProperty('contacts');
    }
    const full = await create(Array.from({ length: 1_000 }, () => ({ phone: newPhone() })));
    expect(full.body.summary).toEqual({ total: 1_000, created: 1_000, skipped: 0, failed: 0 });
  });

  it('is removed by ids; unknown ones are failed', async () => {
    const { body } = await create([{ phone: newPhone() }, { phone: newPhone() }]);
    const ids = body.created.map(({ id }: { id: number }) => id);
    const removed = await rest('DELETE', '/contacts/batch', { ids: [...ids, 999_999] });
    expect(removed.status).toBe(200);
    expect(removed.body).toEqual({ success: true, summary: { total: 3, deleted: 2, failed: 1 } });
    for (const wrong of [
      {},
      { ids: [] },
      { ids: ['x'] },
      undefined,
      { ids: Array.from({ length: 1_001 }, (_, index) => index) },
    ]) {
      const answer = await rest('DELETE', '/contacts/batch', wrong);
      expect([answer.status, Object.keys(answer.body.error.details)]).toEqual([422, ['ids']]);
    }
  });
});
