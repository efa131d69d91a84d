import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf, TIMESTAMP } from './client.ts';

let gateway: TestGateway;
let rest: Rest;

beforeAll(async () => {
  gateway = await startGateway();
  rest = restOf(gateway, await gateway.addTenant({ plan: 'standard', channel: false }));
});
afterAll(() => gateway.stop());

const contact = async (fields: object = {}): Promise<number> =>
  (await rest('POST', '/contacts', { phone: newPhone(), ...fields })).body.data.id;

describe.each([
  ['groups', 'Group', { contacts_count: 0 }],
  ['sources', 'Source', {}],
  ['statuses', 'Status', { color: expect.stringMatching(/^#[0-9A-F]{6}$/) }],
])('%s', (path, type, more) => {
  it('are created, read, listed, updated and deleted', async () => {
    const created = await rest('POST', `/${path}`, { name: ' First ' });
    expect(created.status).toBe(201);
    const row = {
      id: expect.any(Number),
      name: 'First',
      ...more,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    };
    expect(created.body).toMatchObject({ success: true, message: `${type} created` });
    expect(created.body.data).toEqual(row);
    const one = `/${path}/${created.body.data.id}`;

    expect((await rest('GET', one)).body.data).toEqual(created.body.data);
    await rest('POST', `/${path}`, { name: 'Second' });
    const list = await rest('GET', `/${path}?sort=-name&search=s`);
    expect(list.body.data.map(({ name }: { name: string }) => name)).toEqual(['Second', 'First']);
    expect(list.body.meta.pagination.total).toBe(2);
    expect((await rest('GET', `/${path}?fields=name&filter[name]=First`)).body.data).toEqual([{ name: 'First' }]);

    const changed = await rest('PATCH', one, { name: 'Renamed' });
    expect(changed.body).toMatchObject({ message: `${type} updated`, data: { ...row, name: 'Renamed' } });

    const removed = await rest('DELETE', one);
    expect(removed.body).toMatchObject({
      success: true,
      message: `${type} deleted`,
      data: { id: created.body.data.id },
    });
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      expect((await rest(method, one, body)).body.error).toEqual({ code: 'NOT_FOUND', message: `${type} not found.` });
    }
    expect((await rest('GET', `/${path}/first`)).status).toBe(404);
  });

  it('have unique names of 1 to 150 characters', async () => {
    await rest('POST', `/${path}`, { name: 'Taken' });
    for (const name of ['taken', '', 'x'.repeat(151), [], null, undefined, 'a\0']) {
      const { status, body } = await rest('POST', `/${path}`, { name });
      expect([name, status]).toEqual([name, 422]);
      expect(body.error.details).toHaveProperty('name');
    }
    const other = await rest('POST', `/${path}`, { name: 'Other' });
    expect(
      (await rest('PATCH', `/${path}/${other.body.data.id}`, { name: 'TAKEN' })).body.error.details,
    ).toHaveProperty('name');
  });
});

describe('a status', () => {
  it('has a colour as #RRGGBB', async () => {
    const { body } = await rest('POST', '/statuses', { name: 'Won', color: '#00ff00' });
    expect(body.data.color).toBe('#00FF00');
    expect((await rest('PATCH', `/statuses/${body.data.id}`, { color: '#FF0000' })).body.data).toMatchObject({
      name: 'Won',
      color: '#FF0000',
    });
    for (const color of ['green', {}, 5])
      expect((await rest('POST', '/statuses', { name: 'Green', color })).body.error.details).toHaveProperty('color');
  });
});

describe('sources and statuses in use', () => {
  it('cannot be deleted', async () => {
    const source = (await rest('POST', '/sources', { name: 'In use' })).body.data.id;
    const status = (await rest('POST', '/statuses', { name: 'In use' })).body.data.id;
    const id = await contact({ source_id: source, status_id: status });
    for (const path of [`/sources/${source}`, `/statuses/${status}`]) {
      const answer = await rest('DELETE', path);
      expect([answer.status, answer.body.error.code]).toEqual([409, 'CONFLICT']);
    }
    await rest('DELETE', `/contacts/${id}`);
    expect((await rest('DELETE', `/sources/${source}`)).status).toBe(200);
  });
});

describe('the members of a group', () => {
  it('are added and removed, and only changes are counted', async () => {
    const group = (await rest('POST', '/groups', { name: 'Members' })).body.data.id;
    const [one, two] = [await contact(), await contact()];
    const path = `/groups/${group}/contacts`;
    const added = await rest('POST', path, { contact_ids: [one] });
    expect(added.status).toBe(200);
    expect(added.body.data).toEqual({ group_id: group, contacts_added: 1 });
    expect((await rest('POST', path, { contact_ids: `${one},${two}` })).body.data).toEqual({
      group_id: group,
      contacts_added: 1,
    });
    expect((await rest('GET', `/groups/${group}`)).body.data.contacts_count).toBe(2);
    const removed = await rest('DELETE', path, { contact_ids: [String(two), 999_999] });
    expect(removed.status).toBe(200);
    expect(removed.body.data).toEqual({ group_id: group, contacts_removed: 1 });
  });

  it('are contacts of this tenant', async () => {
    const group = (await rest('POST', '/groups', { name: 'Own' })).body.data.id;
    for (const contact_ids of [[999_999], ['x'], [], undefined, {}]) {
      const { status, body } = await rest('POST', `/groups/${group}/contacts`, { contact_ids });
      expect([status, Object.keys(body.error.details)]).toEqual([422, ['contact_ids']]);
    }
    expect((await rest('POST', '/groups/999999/contacts', { contact_ids: [await contact()] })).body.error.message).toBe(
      'Group not found.',
    );
    expect((await rest('DELETE', '/groups/vip/contacts', { contact_ids: [1] })).status).toBe(404);
  });
});
