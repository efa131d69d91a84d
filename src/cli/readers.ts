import { Command } from 'commander';
import { createReaders } from '../app/log-readers.ts';
import { loadConfig } from '../config.ts';
import { retrySetAside } from '../events/retry-set-aside.ts';
import { listSetAside, readReaderStatus } from '../events/set-aside.sql.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { print, printLine } from './print.ts';

export function readersCommand(): Command {
  const command = new Command('readers')
    .description('list how far webhooks, bots and campaigns have read the event log, and the events they set aside')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const [readers, setAside] = await withDatabase(loadConfig(), db =>
        Promise.all([readReaderStatus(db.read), listSetAside(db.read)]),
      );
      const rows = readers.map(({ name, lag_seconds, set_aside }) => ({
        reader: name,
        lag_seconds: Math.round(lag_seconds),
        set_aside,
      }));
      if (json) return printLine(JSON.stringify({ readers: rows, setAside }, null, 2));
      print(rows, false);
      if (setAside.length > 0) {
        printLine('\nEvents that a reader could not consume; see `parley readers retry`:');
        print(setAside, false);
      }
    });

  command
    .command('retry')
    .description('consume the events that were set aside, after their cause is fixed; those that fail again stay')
    .option('--json', 'print JSON', false)
    // The command above takes a --json, too.
    .action(async (_options: unknown, retry: Command) => {
      const retried = await changeDatabase(loadConfig(), db => retrySetAside(db, createReaders()));
      print(retried, retry.optsWithGlobals()['json'] === true);
      if (retried.some(({ outcome }) => outcome === 'failed')) throw new UserError('Some events failed again.');
    });

  return command;
}
