import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { heldSince, releaseHold } from '../database/outbox-hold.sql.ts';
import { stopRestored } from '../features/campaigns/run/stop-restored.ts';
import { readBacklog } from '../features/messages/dispatch/release.sql.ts';
import { cancelQueuedBefore } from '../features/messages/dispatch/release.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { print, printLine } from './print.ts';
import { createProgress } from './progress.ts';

const HELP = `
After \`parley restore-log\` the outbox is held: new sends are accepted and stay queued, nothing is submitted to the network. Messages
queued in the backup may have been sent after the backup was made.`;

export function outboxCommand(): Command {
  return new Command('outbox')
    .description('inspect waiting messages, and release them after a restore')
    .addHelpText('after', HELP)
    .addCommand(statusCommand())
    .addCommand(releaseCommand());
}

function statusCommand(): Command {
  return new Command('status')
    .description('show whether the outbox is held, and its waiting messages by tenant and channel')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      await withDatabase(loadConfig(), async db => {
        const [since, backlog] = await Promise.all([heldSince(db.read), readBacklog(db.read)]);
        if (json) {
          process.stdout.write(`${JSON.stringify({ heldSince: since ?? null, backlog }, null, 2)}\n`);
          return;
        }
        printLine(
          since === undefined ? 'The outbox is not held.' : `The outbox is held since ${since}: nothing is sent.`,
        );
        print(backlog, false);
      });
    });
}

function releaseCommand(): Command {
  return new Command('release')
    .description('resume sending: all waiting messages, or only those queued since a time')
    .option(
      '--cancel-before <time>',
      'cancel messages queued before this time and not scheduled for later, such as 2027-01-31T09:30:00Z',
      timeWithZone,
    )
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      `
Examples:
  parley outbox release                                      send all; messages sent since the backup are sent again
  parley outbox release --cancel-before 2027-01-31T09:30:00Z cancel messages queued in the backup (with events), stop its
                                                             campaigns, send the rest`,
    )
    .action(async ({ cancelBefore, json }: { cancelBefore?: Date; json: boolean }) => {
      await changeDatabase(loadConfig(), async db => {
        if ((await heldSince(db.read)) === undefined)
          throw new UserError('The outbox is not held: there is nothing to release.');
        const stopped = cancelBefore && (await stopBefore(db, cancelBefore));
        await releaseHold(db.write);
        if (json)
          return print([{ cancelled: stopped?.messages ?? 0, stopped_campaigns: stopped?.campaigns ?? 0 }], true);
        printLine(
          `${stopped ? `Cancelled ${stopped.messages} messages, stopped ${stopped.campaigns} campaigns. ` : ''}The outbox is released: workers send within seconds.`,
        );
      });
    });
}

/** Messages before campaigns: a campaign that is paused takes those that still wait back, to send them when it is resumed. */
async function stopBefore(db: Database, before: Date) {
  const progress = createProgress('Cancelling', { unit: 'messages', lines: true });
  const messages = await cancelQueuedBefore(db, before, progress.set).finally(progress.end);
  return { messages, campaigns: await stopRestored(db, before) };
}

/** Unlike `instant` of option-values.ts, not relative to now: the time of a backup. */
function timeWithZone(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(text) || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Must be a time with its zone, such as 2027-01-31T09:30:00Z.');
  return time;
}
