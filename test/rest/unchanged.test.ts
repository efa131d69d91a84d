import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { legacyOf, type Rest, restOf } from './client.ts';

let gateway: TestGateway;
let rest: Rest;
let legacy: Rest;

beforeAll(async () => {
  gateway = await startGateway();
  rest = restOf(gateway, gateway.tenant);
  legacy = legacyOf(gateway, gateway.tenant);
});
afterAll(() => gateway.stop());

/** When the row says that it was changed last, to the microsecond, and how many events there are. */
async function standOf(table: string, id: number): Promise<unknown> {
  const [row] = await gateway.database.query(
    `select updated_at::text, (select count(*)::int from events where tenant_id = t.tenant_id) as events
     from ${table} t where tenant_id = $1 and id = $2`,
    [gateway.tenant.id, id],
  );
  return row;
}

const CONTACT = { firstname: 'Ana', type: 'lead', email: 'ana@example.com', country_id: 276 };
const REPLY = { interactive: { body: 'Which?', buttons: [{ id: 'a', title: 'A' }] } };
const BOT = { name: 'One', trigger: 'contains', keywords: ['price', 'cost'], reply: REPLY };
const WEBHOOK = { url: 'https://example.com/hook', events: ['message.*', 'contact.created'], description: 'One' };

it.each([
  ['/contacts', 'contacts', { ...CONTACT, phone: newPhone() }, { firstname: 'Anna' }],
  ['/groups', 'groups', { name: 'One' }, { name: 'Two' }],
  ['/sources', 'sources', { name: 'One' }, { name: 'Two' }],
  ['/statuses', 'statuses', { name: 'One', color: '#aabbcc' }, { color: '#000000' }],
  ['/bots', 'bots', BOT, { priority: 5 }],
  ['/webhooks', 'webhook_endpoints', WEBHOOK, { enabled: false }],
])('PATCH %s without a change keeps updated_at, and is no event', async (path, table, body, change) => {
  const { data } = (await rest('POST', path, body)).body;
  const one = `${path}/${data.id}`;
  const before = await standOf(table, data.id);
  const { secret: _secret, headers: _names, ...row } = data;
  const asShown = path === '/contacts' ? { ...row, groups: row.group_id } : row;
  for (const nothing of [{}, body, asShown]) {
    const answer = await rest('PATCH', one, nothing);
    expect([answer.status, answer.body.data]).toEqual([
      200,
      (await rest('GET', `${one}${GROUPS[path] ?? ''}`)).body.data,
    ]);
    expect(await standOf(table, data.id)).toEqual(before);
  }
  expect((await rest('PATCH', one, change)).body.data).toMatchObject(change);
  expect(await standOf(table, data.id)).not.toEqual(before);
});
/** What an answer to PATCH shows always. */
const GROUPS: Readonly<Record<string, string>> = { '/contacts': '?include=groups' };

it('joining or leaving a group changes a contact', async () => {
  const group = (await rest('POST', '/groups', { name: 'Members' })).body.data.id;
  const { id } = (await rest('POST', '/contacts', { phone: newPhone() })).body.data;
  let last = await standOf('contacts', id);
  for (const [groups, isChange] of [
    [[group], true],
    [[group], false],
    [[], true],
    [[], false],
  ] as const) {
    await rest('PATCH', `/contacts/${id}`, { groups });
    const now = await standOf('contacts', id);
    if (isChange) expect(now).not.toEqual(last);
    else expect(now).toEqual(last);
    last = now;
  }
});

it.each([
  ['/contacts', 'contacts', { ...CONTACT, email: 'eva@example.com', phone: newPhone(), groups: 'VIP, News' }],
  ['/groups', 'groups', { name: 'Three' }],
  ['/statuses', 'statuses', { name: 'Three', color: '#aabbcc' }],
])('PUT %s of version 1 with the current values is no change', async (path, table, body) => {
  const { id } = (await legacy('POST', path, body)).body.data;
  const before = await standOf(table, id);
  expect((await legacy('PUT', `${path}/${id}`, body)).status).toBe(200);
  expect(await standOf(table, id)).toEqual(before);
});
