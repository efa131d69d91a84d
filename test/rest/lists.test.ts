import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FilterKind, operatorsOf } from '../../src/rest/runtime/filter.ts';
import { ROUTES_V2 } from '../../src/rest/v2/api.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Rest, restOf } from './client.ts';

let gateway: TestGateway;
let rest: Rest;
let group: number;
let source: number;

beforeAll(async () => {
  const sale = {
    name: 'sale',
    language: 'en',
    category: 'MARKETING',
    components: [{ type: 'BODY', text: 'Sale!' }],
  } as const;
  gateway = await startGateway({ templates: [sale] });
  const tenant = await gateway.addTenant({ plan: 'unlimited' });
  rest = restOf(gateway, tenant);
  group = (await rest('POST', '/groups', { name: 'VIP' })).body.data.id;
  source = (await rest('POST', '/sources', { name: 'Fair' })).body.data.id;
  await rest('POST', '/statuses', { name: 'Won', color: '#2E7D32' });
  const names = ['Ada', 'Bob', 'Cyd', 'Dan', 'Eve', 'Fay', 'Gus'];
  const contacts = names.map((firstname, index) => ({
    firstname,
    lastname: index % 2 ? 'Odd' : 'Even',
    phone: `+4915112345${600 + index}`,
    type: index < 3 ? 'customer' : 'lead',
    company: 'Engines',
    ...(index === 0 && { source_id: source }),
  }));
  const { body } = await rest('POST', '/contacts/batch', { contacts });
  await rest('POST', `/groups/${group}/contacts`, {
    contact_ids: body.created.slice(0, 2).map(({ id }: { id: number }) => id),
  });
  await rest('POST', '/messages/text', { phone: '+4915112345600', message: 'Hello' }, { prefer: 'respond-async' });
  // Its last status: tests compare rows of several requests.
  await eventually(async () => expect((await rest('GET', '/messages')).body.data[0].status).toBe('read'));
});
afterAll(() => gateway.stop());

const names = async (query: string): Promise<string[]> =>
  (await rest('GET', `/contacts?${query}`)).body.data.map((row: { firstname: string }) => row.firstname);

describe('a list', () => {
  it('has its page numbers, and links to other pages that keep every parameter', async () => {
    const { body } = await rest('GET', '/contacts?per_page=3&page=2&sort=firstname&q=engines&fields=firstname');
    const address = (page: number) =>
      `${gateway.url}/api/v2/contacts?per_page=3&sort=firstname&q=engines&fields=firstname&page=${page}`;
    expect(body).toEqual({
      success: true,
      data: [{ firstname: 'Dan' }, { firstname: 'Eve' }, { firstname: 'Fay' }],
      message: 'Contacts',
      links: { first: address(1), last: address(3), prev: address(1), next: address(3) },
      meta: {
        request_id: expect.any(String),
        timestamp: expect.any(String),
        pagination: { current_page: 2, per_page: 3, total: 7, last_page: 3, from: 4, to: 6 },
      },
    });
  });

  it('links to other pages with all of a text that has question marks', async () => {
    for (const path of ['/contacts?q=who?&per_page=1', '/contacts?per_page=1&q=a?b?c']) {
      const { body } = await rest('GET', path);
      expect(body.links.first).toBe(`${gateway.url}/api/v2${path}&page=1`);
    }
  });

  it('has 15 rows a page, newest first, by default', async () => {
    const { body } = await rest('GET', '/contacts');
    expect(body.meta.pagination).toEqual({ current_page: 1, per_page: 15, total: 7, last_page: 1, from: 1, to: 7 });
    expect(body.links).toMatchObject({ prev: null, next: null });
    expect(body.data[0].firstname).toBe('Gus');
  });

  it('is empty beyond its end, with a link back', async () => {
    const { body } = await rest('GET', '/contacts?page=9&per_page=5');
    expect(body.data).toEqual([]);
    expect(body.meta.pagination).toEqual({
      current_page: 9,
      per_page: 5,
      total: 7,
      last_page: 2,
      from: null,
      to: null,
    });
    expect(body.links.prev).toMatch(/page=2$/);
    expect(body.links.next).toBeNull();
  });

  it('is sorted by several keys', async () => {
    expect(await names('sort=lastname,-firstname')).toEqual(['Gus', 'Eve', 'Cyd', 'Ada', 'Fay', 'Dan', 'Bob']);
  });

  it.each([
    ['filter[type]=customer', ['Ada', 'Bob', 'Cyd']],
    ['filter[type][ne]=customer', ['Dan', 'Eve', 'Fay', 'Gus']],
    ['filter[type][in]=customer,lead', ['Ada', 'Bob', 'Cyd', 'Dan', 'Eve', 'Fay', 'Gus']],
    ['filter[type][not_in]=lead', ['Ada', 'Bob', 'Cyd']],
    ['filter[type][like]=CUST', ['Ada', 'Bob', 'Cyd']],
    ['filter[source_id][null]=false', ['Ada']],
    ['filter[assigned_id][null]=false', []],
    ['filter[created_at][gte]=2020-01-01&filter[created_at][lt]=2021-01-01', []],
    ['filter[created_at][between]=2020-01-01,2100-01-01&filter[type]=customer', ['Ada', 'Bob', 'Cyd']],
    ['filter[created_at][ne]=2020-01-01&filter[type]=customer', ['Ada', 'Bob', 'Cyd']],
    ['filter[created_at][]=2020-01-01&filter[created_at][]=2020-01-02', []],
    ['search=ada', ['Ada']],
    ['q=15112345601', ['Bob']],
    ['search=%2B4915112345602', ['Cyd']],
  ])('shows what %s says', async (query, expected) => {
    expect(await names(`${query}&sort=firstname`)).toEqual(expected);
  });

  it('is filtered by several whole days, or by their complement', async () => {
    const { body } = await rest('GET', '/contacts?fields=created_at');
    const days = new Set(body.data.map((row: { created_at: string }) => row.created_at.slice(0, 10)));
    const list = ['2020-01-01', ...days].join(',');
    expect(await names(`filter[created_at][in]=${list}&filter[type]=customer&sort=id`)).toEqual(['Ada', 'Bob', 'Cyd']);
    expect(await names(`filter[created_at][not_in]=${list}`)).toEqual([]);
  });

  it('is filtered by a group and a source', async () => {
    expect(await names(`filter[group_id]=${group}&sort=firstname`)).toEqual(['Ada', 'Bob']);
    expect(await names(`filter[group_id][ne]=${group}&sort=firstname`)).toEqual(['Cyd', 'Dan', 'Eve', 'Fay', 'Gus']);
    expect(await names(`filter[source_id]=${source}`)).toEqual(['Ada']);
  });

  it('reads included objects, and no column that is not shown', async () => {
    const { body } = await rest('GET', '/contacts?include=groups,source,status&sort=firstname&per_page=1');
    expect(body.data[0]).toMatchObject({
      firstname: 'Ada',
      source_id: source,
      source: { id: source, name: 'Fair' },
      status: null,
      groups: [{ id: group, name: 'VIP' }],
      group_id: [group],
    });
    gateway.statements.length = 0;
    expect((await rest('GET', '/contacts?fields=id,phone&sort=firstname')).body.data[0]).toEqual({
      id: expect.any(Number),
      phone: '+4915112345600',
    });
    // Housekeeping looks contacts up, too.
    const reads = gateway.statements.filter(text => /from contacts c where c\.tenant_id = \$1 .*limit/s.test(text));
    expect(reads).toHaveLength(1);
    expect(reads[0]).not.toMatch(/sources|statuses|staff|groups|conversations/);
  });

  it.each([
    [
      '/contacts?fields=phone,updated_at&per_page=1',
      /from contacts c where c\.tenant_id = \$1 .*limit/s,
      ['id', 'phone', 'updated_at'],
    ],
    ['/contacts?fields=group_id', /from contacts c where c\.tenant_id = \$1 .*limit/s, ['id']],
    [
      '/contacts?fields=country_id,is_opted_out',
      /from contacts c where c\.tenant_id = \$1 .*limit/s,
      ['id', 'country_id', 'opted_out_at'],
    ],
    ['/groups?fields=name', /from groups l where l\.tenant_id = \$1 .*limit/s, ['id', 'name', 'k0']],
    ['/sources?fields=id', /from sources l where l\.tenant_id = \$1 .*limit/s, ['id', 'k0']],
    ['/statuses?fields=color', /from statuses l where l\.tenant_id = \$1 .*limit/s, ['id', 'color', 'k0']],
    ['/messages?fields=url', /from messages m where m\.tenant_id = \$1 .*limit/s, ['id', 'type', 'content', 'k0']],
  ])('%s reads only the columns of the shown fields', async (path, from, columns) => {
    gateway.statements.length = 0;
    expect((await rest('GET', path)).status).toBe(200);
    const [text = '', ...others] = gateway.statements.filter(
      sql => from.test(sql) && !/count\(|cross-tenant/.test(sql),
    );
    expect(others).toEqual([]);
    const [, list = ''] =
      /select ((?:(?!select).)*?) from (?:contacts c|groups l|sources l|statuses l|messages m)\b/.exec(text) ?? [];
    const names = list.split(', ').map(column => column.replace(/^\w\.\w+ as |^\w\./, ''));
    expect(names).toEqual(columns);
  });

  it('of messages looks up states for the rows of the page alone, and of those the columns that are shown', async () => {
    gateway.statements.length = 0;
    expect((await rest('GET', '/messages?fields=status,sent_at')).status).toBe(200);
    expect(gateway.statements.filter(sql => /from messages m/.test(sql) && !/count\(|cross-tenant/.test(sql))).toEqual([
      expect.stringMatching(
        /^select m\.id, s\.status, s\.sent_at, m\.k0\s+from \(select m\.id, m\.id as k0 from messages m .* limit .*\) m join message_states s/,
      ),
    ]);
  });

  it('of groups counts members only where the count is shown', async () => {
    const counts = async (query: string) => {
      gateway.statements.length = 0;
      await rest('GET', `/groups${query}`);
      return gateway.statements.filter(text => /contact_groups/.test(text)).length;
    };
    expect([await counts('?fields=id,name'), await counts('')]).toEqual([0, 1]);
  });

  it.each(['/contacts', '/groups', '/sources', '/statuses', '/messages'])(
    '%s shows with each of its fields alone what it shows with all of them',
    async path => {
      const { data: whole } = (
        await rest('GET', `${path}?include=${path === '/contacts' ? 'groups,source,status' : ''}`)
      ).body;
      for (const field of Object.keys(whole[0] ?? {})) {
        const { data } = (await rest('GET', `${path}?fields=${field}`)).body;
        expect(data).toEqual(whole.map((row: Record<string, unknown>) => ({ [field]: row[field] })));
      }
    },
  );

  it('costs one statement and its count, whatever is shown', async () => {
    gateway.statements.length = 0;
    await rest('GET', '/contacts?include=groups,source,status');
    expect(
      gateway.statements.filter(
        text =>
          /\b(contacts|groups|sources|statuses|staff|conversations|tenant_usage)\b/.test(text) &&
          !text.includes('cross-tenant'),
      ),
    ).toHaveLength(2);
  });

  it('supports every operator of every filter, and every sort key', async () => {
    const values = { text: 'a', word: 'sent', id: '1', time: '2026-01-01', flag: 'true' };
    const valueFor = (kind: FilterKind): string =>
      typeof kind === 'string' ? values[kind] : `${Object.keys(kind)[0]}`;
    const operators = operatorsOf('text').map(([operator]) => operator);
    // A list of what belongs to something has its id in the path.
    const hook = await rest('POST', '/webhooks', {
      url: 'https://hooks.example/',
      events: ['group.*'],
      enabled: false,
    });
    // The templates are those of the first tenant's business account.
    const first = restOf(gateway, gateway.tenant);
    await eventually(async () => expect((await first('GET', '/templates')).body.data).toHaveLength(1));
    const campaign = await first('POST', '/campaigns', {
      name: 'Sale',
      template: { name: 'sale', language: 'en' },
      audience: { phones: ['+4915112345600'] },
    });
    const lists = ROUTES_V2.map(({ path, list }) => {
      const { id } = (path.startsWith('/campaigns') ? campaign : hook).body.data;
      return { path: path.replace(':id', String(id)), list };
    });
    const queries = lists.flatMap(({ path, list }) => [
      ...Object.entries(list?.filters ?? {}).flatMap(([field, [, kind]]) =>
        operators.map(operator => {
          const value =
            operator === 'null'
              ? 'true'
              : operator === 'between'
                ? `${valueFor(kind)},${valueFor(kind)}`
                : valueFor(kind);
          const refused = !operatorsOf(kind).some(([known]) => known === operator);
          return [`${path}?filter[${field}][${operator}]=${value}`, refused ? 422 : 200] as const;
        }),
      ),
      ...Object.keys(list?.sorts ?? {}).flatMap(key => [
        [`${path}?sort=-${key}`, 200] as const,
        [`${path}?sort=${key}`, 200] as const,
      ]),
    ]);
    expect(queries.length).toBeGreaterThan(300);
    const answers = await Promise.all(
      queries.map(async ([path]) => {
        const ask = path.startsWith('/campaigns') ? first : rest;
        return [path, (await ask('GET', path)).status];
      }),
    );
    expect(answers).toEqual(queries.map(query => [...query]));
  });

  it.each([
    ['/contacts?filter[foo]=1', 'filter.foo'],
    ['/contacts?filter[type][almost]=1', 'filter.type'],
    ['/contacts?filter[status_id]=new', 'filter.status_id'],
    ['/contacts?filter[created_at]=soon', 'filter.created_at'],
    ['/contacts?filter[created_at][gte]=2026-02-30', 'filter.created_at'],
    ['/contacts?filter[created_at][gte]=2026-01-31 at noon (2)', 'filter.created_at'],
    ['/contacts?filter=1', 'filter'],
    ['/contacts?sort=phone', 'sort'],
    ['/contacts?fields=password', 'fields'],
    ['/contacts?include=messages', 'include'],
    ['/contacts?page=x', 'page'],
    ['/contacts?page=0', 'page'],
    ['/contacts?page=99999999999999', 'page'],
    ['/contacts?per_page=101', 'per_page'],
    ['/contacts?per_page=0', 'per_page'],
    ['/contacts?search=%00', 'search'],
    ['/groups?sort=color', 'sort'],
    ['/groups?filter[color]=x', 'filter.color'],
    ['/messages?filter[text]=x', 'filter.text'],
    ['/messages?sort=id', 'sort'],
    ['/messages?include=contact', 'include'],
    ['/contacts/1?fields=password', 'fields'],
  ])('refuses %s and names %s', async (path, parameter) => {
    const { status, body } = await rest('GET', path);
    expect(status).toBe(422);
    expect(body.error.code).toBe('VALIDATION_ERROR');
    expect(Object.keys(body.error.details)).toEqual([parameter]);
  });

  it('trusts the address of a proxy only if configured', async () => {
    const { body } = await rest('GET', '/contacts?per_page=1', undefined, { 'x-forwarded-host': 'elsewhere.example' });
    expect(body.links.next).toBe(`${gateway.url}/api/v2/contacts?per_page=1&page=2`);
  });
});
