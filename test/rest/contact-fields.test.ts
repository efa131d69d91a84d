import { afterAll, beforeAll, expect, it } from 'vitest';
import { FIELD_COLUMNS, FIELDS, type FieldColumn } from '../../src/features/contacts/contact.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { legacyOf, type Rest, type RestAnswer, restOf } from './client.ts';
import { openApi, resolved } from './contract.ts';

let gateway: TestGateway;
let v1: Rest;
let v2: Rest;
/** A value of every field but the assignee, whom only the command line adds; a text that is new to this test has its own name. */
let values: Readonly<Partial<Record<FieldColumn, unknown>>>;

beforeAll(async () => {
  gateway = await startGateway();
  v1 = legacyOf(gateway, gateway.tenant);
  v2 = restOf(gateway, gateway.tenant);
  const created = async (path: string) => (await v2('POST', path, { name: 'One' })).body.data.id as number;
  const texts = FIELD_COLUMNS.filter(column => FIELDS[column].type === 'text').map(column => [column, column]);
  values = {
    ...Object.fromEntries(texts),
    type: 'customer',
    email: 'ana@example.com',
    phone: newPhone(),
    country_id: 276,
    time_zone: 'Europe/Berlin',
    source_id: await created('/sources'),
    status_id: await created('/statuses'),
  };
});
afterAll(() => gateway.stop());

it('every field of a contact is written and shown by both versions', async () => {
  const created = await v2('POST', '/contacts', values);
  expect(created).toMatchObject({ status: 201, body: { data: values } });
  const path = `/contacts/${created.body.data.id}`;
  expect((await v2('GET', path)).body.data).toMatchObject(values);
  expect((await v2('GET', '/contacts')).body.data).toEqual([expect.objectContaining(values)]);

  const { email: _email, ...others } = values;
  const replaced: RestAnswer = await v1('PUT', path, others);
  expect(replaced).toMatchObject({ status: 200, body: { data: { ...others, email: null } } });
  expect((await v2('PATCH', path, values)).body.data).toMatchObject(values);
  expect((await v1('GET', path)).body.data).toMatchObject(values);
  expect((await v1('GET', '/contacts')).body.data.data).toEqual([expect.objectContaining(values)]);

  const emptied = await v1('PUT', path, { phone: values.phone, firstname: 'Ana', type: 'lead' });
  const kept = new Set<FieldColumn>(['phone', 'firstname', 'type', 'source_id', 'status_id']);
  for (const column of FIELD_COLUMNS)
    if (!kept.has(column)) expect([column, emptied.body.data[column]]).toEqual([column, null]);
});

it.each(['v1', 'v2'] as const)('every field of a contact is in the bodies and the row that %s documents', version => {
  const document = openApi(version);
  const row = resolved(document, { $ref: '#/components/schemas/Contact' }) as { readonly properties?: object };
  expect(Object.keys(row.properties ?? {})).toEqual(expect.arrayContaining([...FIELD_COLUMNS]));
  const methods = { v1: ['post', 'put'], v2: ['post', 'patch'] }[version];
  for (const method of methods) {
    const path = method === 'post' ? '/contacts' : '/contacts/{id}';
    const media = document.paths[path]?.[method]?.requestBody?.content['application/json'];
    const { properties = {} } = (media?.schema ?? {}) as { readonly properties?: object };
    expect(Object.keys(properties)).toEqual(expect.arrayContaining([...FIELD_COLUMNS]));
  }
});
