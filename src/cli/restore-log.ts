import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { checkOrigin } from '../events/origin.ts';
import { restoreLog } from '../events/restore.ts';
import { renumberListening } from '../features/webhooks/endpoints/targets.sql.ts';
import { UserError } from '../platform/user-error.ts';
import { withDatabase } from './database.ts';
import { interruptible } from './interrupted.ts';
import { print, printLine } from './print.ts';
import { createProgress } from './progress.ts';

export function restoreLogCommand(): Command {
  return new Command('restore-log')
    .description('adopt the event log of a restored or copied database, and hold its outbox')
    .option('--force', 'run even if the database does not look restored', false)
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
Stop all processes on the database first. Events are renumbered in one transaction (about a minute for a million). Webhooks and bots
continue where they were; subscribers must start again (CURSOR_EXPIRED). Queued messages are held, because processes on the original
database may have sent part of them: see \`parley outbox --help\`.`,
    )
    .action(async ({ force, json }: { force: boolean; json: boolean }) => {
      const restore = async (db: Database): Promise<void> => {
        const { reason } = await checkOrigin(db);
        if (reason === undefined && !force)
          throw new UserError(
            'This database does not look restored: nothing was done. If it was (for example, its disk was rolled back while no process ran), use --force.',
          );
        if (!json) printLine(`Restoring the event log${reason === undefined ? '' : `: ${reason}`}.`);
        const progress = createProgress('Renumbering', { unit: 'events', lines: true });
        const count = await interruptible(
          () => 'nothing has changed. Run `parley restore-log` again.',
          () => restoreLog(db, { renumberOthers: renumberListening, progress: progress.set }),
        ).finally(progress.end);
        if (json) return print([{ reason: reason ?? null, renumbered: count }], true);
        printLine(`Renumbered ${count} events. Cursors of subscribers have expired.`);
        printLine('The outbox is held: nothing is sent until you release it. Next: `parley outbox status`.');
      };
      // Counting a long log may exceed the gateway's statement timeout.
      await withDatabase(loadConfig(), restore, { statementTimeoutMs: 0 });
    });
}
