import { expect, test } from 'vitest';
import { useCommandLine } from './command-line.ts';

const cli = useCommandLine();

const tenant = (...args: string[]) => cli.run(['tenant', ...args], cli.env());
const shown = async () => JSON.parse((await tenant('show', 'acme', '--json')).output)[0];

test('the settings of a tenant are shown and changed on the command line, by names and ids, with an audit entry', async () => {
  expect((await tenant('create', 'acme')).code).toBe(0);
  expect(
    (await tenant('staff', 'add', 'acme', '--name', 'Ana', '--email', 'ana@example.com', '--role', 'admin')).output,
  ).toMatch(/admin/);
  const [source] = await cli.database.query<{ id: string }>(
    "insert into sources (tenant_id, name) select tenant_id, 'Web' from tenants where slug = 'acme' returning id",
  );
  const [staff] = await cli.database.query<{ id: string }>('select id from staff');
  const changed = await tenant(
    ...['update', 'acme', '--time-zone', 'Europe/Berlin', '--opt-in-words', 'Start, Début'],
    ...['--default-source', 'WEB', '--default-assignee', 'ANA@example.com', '--default-country', 'de'],
  );
  expect(changed.code, changed.output).toBe(0);
  expect(await shown()).toMatchObject({
    time_zone: 'Europe/Berlin',
    opt_in_words: 'start,début',
    default_country: 'DE',
    default_source: Number(source?.id),
    default_status: null,
    default_assignee: Number(staff?.id),
  });
  expect((await tenant('show', 'acme')).output).toMatch(/time_zone\s+Europe\/Berlin/);
  for (const [option, value, says] of [
    ['--time-zone', 'Mars/Olympus', 'IANA time zone'],
    ['--default-status', 'Lead', 'The tenant has no status Lead.'],
    ['--opt-out-words', 'stop,start', 'Already opts a person in'],
  ] as const) {
    const refused = await tenant('update', 'acme', option, value);
    expect([refused.code === 0, refused.output]).toEqual([false, expect.stringContaining(says)]);
    expect(refused.output).not.toMatch(/\n\s+at /);
  }
  const all = await tenant(
    ...['update', 'acme', '--name', ' ', '--plan', 'gold', '--time-zone', 'Mars/Olympus', '--default-country', 'XX'],
    ...['--default-source', 'Fax', '--default-status', 'Lead', '--default-assignee', 'bob@example.com'],
  );
  expect(all.output.split('\n').map(line => line.split(':')[0])).toEqual([
    ...['--name', '--plan', '--default-source', '--default-status', '--default-assignee'],
    ...['--default-country', '--time-zone', ''],
  ]);
  expect((await tenant('update', 'acme', '--default-source', 'none')).code).toBe(0);
  expect(await shown()).toMatchObject({ default_source: null, default_assignee: Number(staff?.id) });
  const entries = await cli.database.query(
    "select author->>'name' as author from audit_log where action = 'account.updated' order by id",
  );
  expect(entries).toEqual([{ author: 'command line' }, { author: 'command line' }]);
});

test('words of one language are changed without changing others, and removed by an empty list', async () => {
  expect((await tenant('create', 'words')).code).toBe(0);
  const update = (...args: string[]) => tenant('update', 'words', ...args);
  const words = async () => {
    const settings = JSON.parse((await tenant('show', 'words', '--json')).output)[0];
    return Object.fromEntries(Object.entries(settings).filter(([name]) => /^opt_.*_words/.test(name)));
  };
  const before = await words();
  expect(before).toMatchObject({ 'opt_out_words.de': 'stopp,abmelden', 'opt_in_words.es': 'alta' });
  expect((await update('--language', 'nl', '--opt-out-words', 'afmelden')).code).toBe(0);
  expect(await words()).toEqual({ ...before, 'opt_out_words.nl': 'afmelden', 'opt_in_words.nl': '' });
  expect((await update('--language', 'nl', '--opt-out-words', '')).code).toBe(0);
  expect(await words()).toEqual(before);
  expect((await update('--language', 'nl')).output).toContain('--language needs --opt-out-words or --opt-in-words.');
});
