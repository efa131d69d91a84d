import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { Session } from './program.ts';

let directory: string;
let database: TestDatabase;
let session: Session;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-settings-'));
  database = await createTestDatabase();
  session = new Session();
});
afterAll(async () => {
  session.child.kill('SIGKILL');
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

const tenant = (...args: string[]) =>
  session.run(directory, ['tenant', ...args], {
    DATABASE_URL: database.url,
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
const shown = async () => JSON.parse((await tenant('show', 'acme', '--json')).output)[0];

test('the settings of a tenant are shown and changed on the command line, by names and ids, with an audit entry', async () => {
  expect((await tenant('create', 'acme')).code).toBe(0);
  expect(
    (await tenant('staff', 'add', 'acme', '--name', 'Ana', '--email', 'ana@example.com', '--role', 'admin')).output,
  ).toMatch(/admin/);
  const [source] = await database.query<{ id: string }>(
    "insert into sources (tenant_id, name) select tenant_id, 'Web' from tenants where slug = 'acme' returning id",
  );
  const [staff] = await database.query<{ id: string }>('select id from staff');
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
  expect((await tenant('update', 'acme', '--default-source', 'none')).code).toBe(0);
  expect(await shown()).toMatchObject({ default_source: null, default_assignee: Number(staff?.id) });
  const entries = await database.query(
    "select author->>'name' as author from audit_log where action = 'account.updated' order by id",
  );
  expect(entries).toEqual([{ author: 'command line' }, { author: 'command line' }]);
});
