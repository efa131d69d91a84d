import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TENANT_TABLES, tenantFault } from '../support/statements.ts';

test('TENANT_TABLES lists every table that the migrations create with a tenant_id', () => {
  const made = new Set<string>();
  for (const file of readdirSync('migrations').sort()) {
    const text = readFileSync(`migrations/${file}`, 'utf8');
    for (const [, table = ''] of text.matchAll(/^drop table (\w+);/gm)) made.delete(table);
    for (const [, table = '', columns = ''] of text.matchAll(/^create table (\w+) \(\n(.*?)^\)/gms))
      if (/^ {2}tenant_id\b/m.test(columns) && !/_(default|old)$/.test(table)) made.add(table);
  }
  expect(TENANT_TABLES).toEqual(expect.arrayContaining([...made]));
  expect(TENANT_TABLES).toContain('contacts');
  expect(TENANT_TABLES).not.toContain('plans');
});

test.each([
  ['a read', 'select * from contacts where id = $1'],
  ['a read by the builder', 'select * from "contacts" where "id" = $1'],
  ['a join', 'select * from messages m join contacts c on c.id = m.contact_id where m.tenant_id = $1'],
  [
    'a table after a comma',
    'update messages m set contact_id = c.id from unnest($1::uuid[]) v (id), contacts c where m.id = v.id',
  ],
  ['an update', 'update contacts set name = $1 where id = $2'],
  ['an update by the builder', 'update "contacts" set "first_name" = $1 where "id" = $2'],
  ['a deletion by the builder', 'delete from "contacts" where "id" = $1'],
  ['an insertion without a tenant', 'insert into "contacts" ("phone") values ($1)'],
  ['a lock', 'select 1 from contacts'],
  [
    'a joined table with a foreign key alone',
    'select * from contacts c join messages m on m.contact_id = c.id where c.tenant_id = $1',
  ],
  [
    'the left side of a left join',
    'select * from contacts c left join messages m on m.tenant_id = $1 and c.tenant_id = m.tenant_id',
  ],
  ['one branch of an or', 'select * from contacts where tenant_id = $1 or phone = $2'],
  ['a negated condition', 'select * from contacts where not (tenant_id = $1)'],
  ['a constant', 'select * from contacts where tenant_id = 1'],
  [
    'a subquery of the select list',
    'select (select count(*) from messages m where m.contact_id = c.id) from contacts c where c.tenant_id = $1',
  ],
  [
    'a common table expression',
    'with gone as (delete from contacts where id = $2) select * from messages where tenant_id = $1',
  ],
  [
    'a join with the rows of a common table expression by their id alone',
    'with c as (select tenant_id, id from contacts where tenant_id = $1) select * from messages m join c on c.id = m.contact_id',
  ],
  ['a branch of a union', 'select id from contacts where tenant_id = $1 union all select id from bots'],
  ['an insertion of the rows of other tenants', 'insert into contacts (tenant_id, id) select tenant_id, id from bots'],
])('a statement without a tenant predicate is detected: %s', (_name, text) => {
  expect(tenantFault(text)).toMatch(/without its tenant/);
});

test.each([
  ['a read', 'select * from contacts where tenant_id = $1 and id = $2'],
  ['a read by the builder', 'select * from "contacts" where "tenant_id" = $1 and "id" = $2'],
  ['an insertion by the builder', 'insert into "contacts" ("tenant_id", "phone") values ($1, $2)'],
  ['a join', 'select * from messages m join contacts c on c.tenant_id = m.tenant_id where m.tenant_id = $1'],
  ['a reason', '/* cross-tenant: the sweep */ select * from lanes'],
  ['a table of no tenant', 'select * from plans'],
  [
    'a list of columns of tables’ names',
    'update monthly_usage u set a = g.messages from unnest($1::bigint[]) as g (messages, conversations, n) where u.tenant_id = $2',
  ],
  ['a column of a table’s name', 'select events, groups from plans'],
  ['a join by using', 'select * from messages m join contacts c using (tenant_id) where c.tenant_id = $1'],
  ['a left join', 'select * from contacts c left join messages m on m.tenant_id = c.tenant_id where c.tenant_id = $1'],
  [
    'a correlated subquery',
    'select * from contacts c where tenant_id = $1 and exists (select from messages m where m.tenant_id = c.tenant_id)',
  ],
  [
    'a lateral subquery',
    'select * from contacts c cross join lateral (select id from messages where tenant_id = c.tenant_id limit 1) m where c.tenant_id = $1',
  ],
  [
    'rows of several tenants given as parameters',
    'update contacts c set phone = v.phone from unnest($1::bigint[], $2::bigint[], $3::text[]) v (tenant, id, phone) where (c.tenant_id, c.id) = (v.tenant, v.id)',
  ],
  [
    'a deletion of rows that a common table expression has found',
    'with old as (select tenant_id, id from contacts where tenant_id = $1 for update) delete from contacts where (tenant_id, id) in (select tenant_id, id from old)',
  ],
  [
    'an insertion of rows of the tenant',
    'insert into contacts (tenant_id, id) select b.tenant_id, b.id from bots b where b.tenant_id = $1 on conflict do nothing',
  ],
  [
    'each branch of an or',
    'select * from contacts where (tenant_id = $1 and id = $2) or (tenant_id = $1 and phone = $3)',
  ],
])('a statement with a tenant predicate is accepted: %s', (_name, text) => {
  expect(tenantFault(text)).toBeUndefined();
});
