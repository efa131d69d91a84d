import { expect, test } from 'vitest';
import { createDatabase } from '../../src/database/database.ts';
import { adoptLog } from '../../src/events/origin.ts';
import { createLog } from '../../src/platform/log.ts';
import { useCommandLine } from './command-line.ts';
import type { Finished } from './program.ts';

const cli = useCommandLine();

const parley = (...args: string[]): Promise<Finished> => cli.run(args, cli.env());

/** Makes the origin row look as after a dump and restore: written by another transaction than the one that it names. */
const restore = async (): Promise<void> => {
  await cli.database.query('create table saved as select * from log_origin');
  await cli.database.query('delete from log_origin');
  await cli.database.query('insert into log_origin select * from saved');
  await cli.database.query('drop table saved');
};

test('on a restored database, commands that write refer to restore-log and write nothing; commands that read work', async () => {
  expect((await parley('tenant', 'create', 'acme')).code).toBe(0);
  expect((await parley('token', 'create', '--tenant', 'acme')).code).toBe(0);
  const [tenant] = await cli.database.query<{ id: number }>(
    "select tenant_id::int as id from tenants where slug = 'acme'",
  );
  for (const phone of ['+4915112340001', '+4915112340002'])
    await cli.database.query('insert into contacts (tenant_id, firstname, phone, phone_key) values ($1, $2, $3, $3)', [
      tenant?.id,
      'Ana',
      phone,
    ]);
  const [first = '', second = ''] = (
    await cli.database.query<{ id: string }>('select id from contacts order by id')
  ).map(({ id }) => String(id));
  // What a process records at its start.
  const db = createDatabase({ url: cli.database.url, poolSize: 2, readers: 1, log: createLog('silent') });
  await adoptLog(db);
  await db.close();
  expect((await parley('contact', 'consent', 'acme', first, '--out', 'marketing')).code).toBe(0);
  await restore();

  const state = async () => [
    await cli.database.query('select id from events order by id'),
    await cli.database.query('select * from contacts order by id'),
    await cli.database.query('select * from tenants order by 1'),
    await cli.database.query('select * from consent_entries order by id'),
    await cli.database.query('select * from access_tokens order by id'),
    await cli.database.query('select * from log_origin'),
  ];
  const before = await state();
  const credentials = ['--access-token', 'a', '--app-secret', 'b', '--verify-token', 'c'];
  for (const args of [
    ['contact', 'erase', 'acme', first, '--reason', 'subject_request'],
    ['contact', 'merge', 'acme', first, second],
    ['contact', 'unmerge', 'acme', '99'],
    ['contact', 'consent', 'acme', first, '--in', 'all'],
    ['tenant', 'create', 'other'],
    ['tenant', 'update', 'acme', '--name', 'Other'],
    ['tenant', 'staff', 'add', 'acme', '--name', 'Bo', '--email', 'bo@example.com'],
    ['tenant', 'staff', 'remove', 'acme', 'bo@example.com'],
    ['token', 'create', '--tenant', 'acme'],
    ['token', 'revoke', '1', '--tenant', 'acme'],
    ['channel', 'connect', '--tenant', 'acme', '--phone-number-id', '1', '--waba-id', '2', ...credentials],
    ['channel', 'disconnect', '--tenant', 'acme', '--channel', '1'],
    ['channel', 'portfolio', '--tenant', 'acme', '--channel', '1', '--portfolio-id', '123456'],
    ['webhooks', 'reprocess'],
    ['outbox', 'release'],
    ['lanes', 'release', 'outbox:1:1'],
    ['rotate-secrets'],
  ]) {
    const { code, output } = await parley(...args);
    expect([args.join(' '), code, output]).toEqual([
      args.join(' '),
      1,
      expect.stringMatching(
        /^This database was restored or copied: it was made by dump and restore.*`parley restore-log`/,
      ),
    ]);
  }
  expect(await state()).toEqual(before);

  for (const args of [
    ['contact', 'merges', 'acme'],
    ['contact', 'consent', 'acme', first],
    ['contact', 'export', 'acme', first, '--out', '-'],
    ['tenant', 'list'],
    ['plan', 'list'],
    ['tenant', 'staff', 'list', 'acme'],
    ['token', 'list', '--tenant', 'acme'],
    ['channel', 'list', '--tenant', 'acme'],
    ['webhooks', 'unhandled'],
    ['outbox', 'status'],
    ['lanes'],
    ['audit', 'acme'],
    ['rotate-secrets', '--status'],
    ['migrate'],
    ['restore-log'],
    ['contact', 'consent', 'acme', first, '--in', 'all'],
  ]) {
    const { code, output } = await parley(...args);
    expect([args.join(' '), code], output).toEqual([args.join(' '), 0]);
  }
});
