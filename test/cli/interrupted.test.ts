import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { holdLock } from '../support/lock.ts';
import { useCommandLine } from './command-line.ts';
import { Program } from './program.ts';

const cli = useCommandLine();

test('a command that a signal interrupts says what it leaves', async () => {
  const { directory, database, env, run } = cli;
  await run(['tenant', 'create', 'acme'], env());
  await database.query(
    `insert into contacts (tenant_id, phone, phone_key) select tenant_id, '+4915112345678', '4915112345678' from tenants`,
  );
  await writeFile(
    join(directory, 'consent.csv'),
    'phone,category,state,evidence\n+4915112345678,all,opted_in,letter\n',
  );
  await writeFile(join(directory, 'people.csv'), 'phone\n+4915112345679\n');
  // Readers are let through by a lock in share mode.
  const cases = [
    ['kysely_migration in access exclusive mode', ['migrate'], 'Run `parley migrate` again.'],
    [
      'consent_entries in share mode',
      ['contact', 'import-consent', 'acme', 'consent.csv'],
      '0 of 1 entries were imported.',
    ],
    ['campaign_lists in share mode', ['campaign', 'upload', 'acme', 'people.csv'], 'no list was made'],
    [
      'contacts in share mode',
      ['contact', 'erase', 'acme', '+4915112345678', '--reason', 'other'],
      'completes the erasure',
    ],
    ['tenants in share mode', ['tenant', 'delete', 'acme', '--yes'], 'Run the command again'],
  ] as const;
  for (const [lockedTable, args, says] of cases) {
    const lock = await holdLock(database, `lock table ${lockedTable}`);
    const command = new Program(directory, args, env());
    await expect.poll(() => lock.waiting(), { message: args.join(' ') }).toHaveLength(1);
    const { signal, output } = await command.kill('SIGINT');
    await lock.release();
    expect({ args, signal, output }).toEqual({
      args,
      signal: 'SIGINT',
      output: expect.stringMatching(/^Interrupted: .*\.\n$/),
    });
    expect(output).toContain(says);
  }
});
