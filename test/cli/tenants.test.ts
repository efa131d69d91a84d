import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useCommandLine } from './command-line.ts';
import { run } from './program.ts';

/** What an operator does with plans, tenants and consent. */
const cli = useCommandLine();
const { env, run: parley } = cli;

test('plans are created and edited, and their new limits apply to the tenants of the plan', async () => {
  const plan = (...args: string[]) => parley(['plan', ...args], env());
  expect(await plan('create', 'Gold Plan')).toMatchObject({ code: 1, output: expect.stringContaining('plan name') });
  const created = await plan('create', 'gold', '--contacts', '5', '--features', 'media,bots', '--json');
  expect(JSON.parse(created.output)).toMatchObject([
    { name: 'gold', contacts: 5, messages_a_month: 'unlimited', calls_per_minute: 600, features: 'media,bots' },
  ]);
  expect((await plan('create', 'gold')).output).toContain('parley plan edit gold');
  await parley(['tenant', 'create', 'golden', '--plan', 'gold'], env());
  const edited = await plan('edit', 'gold', '--contacts', 'unlimited', '--messages', '9', '--features', '*');
  expect(edited.output).toMatch(/gold\s+unlimited\s+unlimited\s+9\s+unlimited\s+600\s+bots,/);
  const tenants = await parley(['tenant', 'list', '--json'], env());
  expect(JSON.parse(tenants.output)).toContainEqual(
    expect.objectContaining({ slug: 'golden', contacts: '0/unlimited', messages: '0/9' }),
  );
  expect((await plan('edit', 'gold')).output).toContain('Nothing to change');
  expect((await plan('edit', 'silver', '--contacts', '1')).output).toMatch(/no plan silver\. There are .*gold/);
  expect((await plan('edit', 'gold', '--features', 'media,magic')).output).toContain('Unknown features: magic');
  expect((await plan('edit', 'gold', '--contacts', '-1')).code).toBe(1);
});

test('deleting a tenant removes all its rows, and no row of another tenant', async () => {
  const environment = { ...env(), PARLEY_MEDIA_DIR: join(cli.directory, 'media') };
  const tenant = (...args: string[]) => parley(['tenant', ...args], environment);
  for (const slug of ['leaving', 'staying']) {
    await tenant('create', slug);
    await parley(['token', 'create', '--tenant', slug], environment);
    await tenant('staff', 'add', slug, '--name', 'Ana', '--email', 'ana@example.com');
    await cli.database.query(
      `insert into contacts (tenant_id, phone, firstname) select tenant_id, '+4915112345678', 'Ana' from tenants where slug = $1`,
      [slug],
    );
  }
  const rowsOf = async (slug: string): Promise<[table: string, rows: number][]> => {
    const tables = await cli.database.query(
      `select table_name as name from information_schema.columns where column_name = 'tenant_id' and table_schema = 'public' order by 1`,
    );
    const counts: [string, number][] = [];
    for (const { name } of tables) {
      const [row] = await cli.database.query(
        `select count(*)::integer as rows from ${name} where tenant_id = (select tenant_id from tenants where slug = $1)`,
        [slug],
      );
      counts.push([name as string, row?.['rows'] as number]);
    }
    return counts.filter(([, rows]) => rows > 0);
  };
  const before = await rowsOf('staying');
  expect(before.map(([table]) => table)).toEqual(
    expect.arrayContaining(['access_tokens', 'contacts', 'staff', 'tenants']),
  );
  const [{ tenant_id: id } = {}] = await cli.database.query(`select tenant_id from tenants where slug = 'leaving'`);
  expect(await tenant('delete', 'leaving')).toMatchObject({ code: 1, output: expect.stringContaining('--yes') });
  expect(await rowsOf('leaving')).toEqual(before);
  const deleted = await tenant('delete', 'leaving', '--yes', '--json');
  expect(JSON.parse(deleted.output)).toEqual([{ tenant: 'leaving', rows_deleted: expect.any(Number) }]);
  expect(await rowsOf('staying')).toEqual(before);
  for (const [table] of before)
    expect(await cli.database.query(`select 1 from ${table} where tenant_id = $1`, [id])).toEqual([]);
  expect((await tenant('delete', 'leaving', '--yes')).output).toContain('leaving');
});

test('consent is imported from a CSV file with its evidence, all rows or none, and once', async () => {
  await parley(['tenant', 'create', 'consenting'], env());
  await cli.database.query(
    `insert into contacts (tenant_id, phone, phone_key, firstname) select tenant_id, phone, substr(phone, 2), 'Ana' from tenants,
       unnest(array['+4915112345601', '+4915112345602']) as phone where slug = 'consenting'`,
  );
  const file = join(cli.directory, 'consent.csv');
  const importFile = (...args: string[]) => parley(['contact', 'import-consent', 'consenting', file, ...args], env());
  const good = [
    'Phone;Category;State;Evidence;occurred_at',
    '+49 151 12345601;marketing;opted_in;"Form; 3 May";2026-05-03',
    '+4915112345602;all;opted_out;Letter;2026-05-04T10:00:00Z',
  ];
  await writeFile(file, [...good, '+4915112345699;marketing;opted_in;Form;', '12;news;yes;;soon'].join('\n'));
  const refused = await importFile();
  expect(refused.code).toBe(1);
  for (const fault of [/4 +phone +No contact has this number/, /5 +phone/, /5 +category/, /5 +state/, /5 +evidence/])
    expect(refused.output).toMatch(fault);
  expect(refused.output).toMatch(/5 +occurred_at[\s\S]*Nothing was imported/);
  const skipped = await importFile('--skip-faulty', '--json');
  expect(JSON.parse(skipped.output)).toMatchObject([{ imported: 2, faulty: 2 }]);
  await writeFile(file, good.join('\n'));
  expect((await importFile('--dry-run')).code).toBe(0);
  expect((await importFile()).code).toBe(0);
  const entries = await cli.database.query(
    `select e.category, e.state, e.source, e.evidence, e.occurred_at from consent_entries e
       join tenants t using (tenant_id) where slug = 'consenting' order by e.id`,
  );
  expect(entries).toMatchObject([
    { category: 'marketing', state: 'opted_in', source: 'import', evidence: 'Form; 3 May' },
    { category: 'all', state: 'opted_out', source: 'import', evidence: 'Letter' },
  ]);
  expect((await importFile('--dry-run', '--json')).output).toContain('"importable": 2');
  const shifted = '+4915112345601,marketing,opted_in,Form, 3 May';
  await writeFile(file, ['phone,category,state,evidence', shifted].join('\n'));
  expect((await importFile()).output).toMatch(/2 +row +Has 5 cells, the first line has 4: [\s\S]*Nothing was imported/);
  const undated = '+4915112345601,utility,opted_in,List of 2025';
  await writeFile(file, ['phone,category,state,evidence', undated].join('\n'));
  expect((await importFile()).code).toBe(0);
  await cli.database.query(
    `insert into consent_entries (tenant_id, contact_id, category, state, source, occurred_at)
     select tenant_id, contact_id, category, 'opted_out', 'keyword', now() from consent_entries where evidence = 'List of 2025'`,
  );
  // The same file again: what the person said since then stands.
  expect((await importFile()).code).toBe(0);
  const utility = await cli.database.query(`select state from consent_entries where category = 'utility' order by id`);
  expect(utility).toEqual([{ state: 'opted_in' }, { state: 'opted_out' }]);
  const twice = '+4915112345601,marketing,opted_out,Letter,opted_in';
  await writeFile(file, ['phone,category,state,evidence,State', twice].join('\n'));
  expect((await importFile('--skip-faulty', '--json')).output).toMatch(
    /"imported": 0,[\s\S]*The file has this column twice/,
  );
  await writeFile(file, 'phone,state\n1,2');
  expect((await importFile()).output).toMatch(/category +The file has no such column[\s\S]*evidence/);
});

test('consent is read from a file that is larger than the memory', async () => {
  await parley(['tenant', 'create', 'many'], env());
  await cli.database.query(
    `insert into contacts (tenant_id, phone, phone_key) select tenant_id, '+4915112345603', '4915112345603' from tenants where slug = 'many'`,
  );
  const file = join(cli.directory, 'many.csv');
  const line = `+4915112345603,marketing,opted_in,${'x'.repeat(990)}\n`;
  await writeFile(file, `phone,category,state,evidence\n${line.repeat(60_000)}`);
  const small = { ...env(), NODE_OPTIONS: '--max-old-space-size=100' };
  const args = ['contact', 'import-consent', 'many', file, '--dry-run', '--json'];
  const checked = await run(cli.directory, args, small);
  expect(checked.code).toBe(0);
  expect(JSON.parse(checked.output)).toMatchObject([{ importable: 60_000, faulty: 0 }]);
});

test('the plan, its expiry and the staff of a tenant are managed from the command line', async () => {
  const tenant = (...args: string[]) => parley(['tenant', ...args], env());
  expect((await parley(['plan', 'list'], env())).output).toMatch(
    /starter\s+1000\s+1000\s+10000\s+3\s+120\s+media,templates,interactive,otp,webhooks\n/,
  );
  const created = await tenant('create', 'shop', '--plan', 'starter', '--expires-at', '2030-01-31T00:00:00Z');
  expect(created.output).toMatch(
    /shop\s+shop\s+active\s+starter\s+0\/1000\s+0\/1000\s+0\/10000\s+0\/3\s.*2030-01-31T00/,
  );
  expect((await tenant('update', 'shop', '--plan', 'standard', '--expires-at', 'never')).output).toMatch(
    /standard\s+0\/50000\s+0\/50000\s+0\/500000\s+0\/50\s+600\s+network\s+\d{4}-/,
  );
  const token = await parley(['token', 'create', '--tenant', 'shop', '--scopes', 'contacts:read', '--json'], env());
  expect(JSON.parse(token.output)).toMatchObject([{ scopes: 'contacts:read', token: expect.any(String) }]);
  expect((await tenant('staff', 'add', 'shop', '--name', 'Ana', '--email', 'ana@example.com')).output).toMatch(
    /\d+\s+Ana\s+ana@example\.com/,
  );
  const again = await tenant('staff', 'add', 'shop', '--name', '', '--email', 'Ana');
  expect(again).toMatchObject({
    code: 1,
    output: '--name: Must have 1 to 255 characters.\n--email: Must be an e-mail address.\n',
  });
  const [ana] = JSON.parse((await tenant('staff', 'list', 'shop', '--json')).output);
  expect(ana).toMatchObject({ name: 'Ana', email: 'ana@example.com' });
  const [shop] = JSON.parse((await tenant('list', '--json')).output).filter(
    ({ slug }: { slug: string }) => slug === 'shop',
  );
  expect(shop).toMatchObject({ contacts: '0/50000', messages: '0/500000', staff: '1/50', expires_at: null });
  expect((await tenant('staff', 'remove', 'shop', 'bob@example.com')).output).toMatch(
    /There is no staff member bob@example\.com/,
  );
  expect((await tenant('staff', 'remove', 'shop', String(ana.id))).output).toMatch(
    /ana@example\.com\s+agent\s+\S+\s+0/,
  );
});

test('statements of a command have the time-out that is configured', async () => {
  const { query } = cli.database;
  const lock = query(`do $$ begin lock table tenants in access exclusive mode; perform pg_sleep(10); end $$`).catch(
    () => undefined,
  );
  const isLocked = `from pg_locks where relation = 'tenants'::regclass and mode = 'AccessExclusiveLock' and granted`;
  await expect.poll(() => query(`select pid ${isLocked}`)).toHaveLength(1);
  const listed = await parley(['tenant', 'list'], { ...env(), PARLEY_DATABASE_STATEMENT_TIMEOUT_MS: '500' });
  await query(`select pg_cancel_backend(pid) ${isLocked}`);
  await lock;
  expect(listed).toMatchObject({ code: 1, output: expect.stringContaining('statement timeout') });
});
