import { Command } from 'commander';
import { BACKLOGS } from '../app/lanes/backlogs.ts';
import { loadConfig } from '../config.ts';
import { WEBHOOKS } from '../features/webhooks/delivery/lane.ts';
import { tenantOfLane } from '../lanes/lane.ts';
import { endLease, type LaneOverview, listLanes } from '../lanes/store/overview.sql.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { print } from './print.ts';

const shown = (lane: LaneOverview) => ({
  ...lane,
  oldest_seconds: lane.oldest_seconds === null ? null : Math.max(0, Math.round(lane.oldest_seconds)),
});

/** @param name for example `outbox:12:3` */
async function release(name: string, { json }: { json: boolean }): Promise<void> {
  const [queue = '', key = ''] = name.split(/:(.*)/s);
  if (!Object.hasOwn(BACKLOGS, queue) || key === '')
    throw new UserError(
      `"${name}" is not the name of a lane. Use <queue>:<key> as listed by \`parley lanes\`; queues are ${Object.keys(BACKLOGS).join(', ')}.`,
    );
  const tenantId = tenantOfLane({ isPerTenant: queue !== WEBHOOKS }, key);
  const released = Number.isSafeInteger(tenantId)
    ? await changeDatabase(loadConfig(), db => endLease(db.write, { tenantId, queue, key }))
    : undefined;
  if (!released) throw new UserError(`There is no lane ${name}. See \`parley lanes\`.`);
  if (json) return print([released], true);
  process.stdout.write(
    released.holder === null
      ? `No process held ${name}. If it paused, the pause has ended.\n`
      : `${released.holder} no longer holds ${name}. Another process may claim it from ${released.free_at} on.\n`,
  );
}

export function lanesCommand(): Command {
  const command = new Command('lanes')
    .description('list lanes that are held, have work or failed: holder, backlog, age of the oldest entry, last error')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const lanes = await withDatabase(loadConfig(), db => listLanes(db.write, BACKLOGS));
      print(lanes.map(shown), json);
    });

  command
    .command('release <lane>')
    .description(
      'release a lane such as outbox:12:3 and end its pause; another process claims it when the lease expires',
    )
    .option('--json', 'print JSON', false)
    // The command above takes a --json that comes after the name, too.
    .action((name: string, _options: unknown, released: Command) => release(name, released.optsWithGlobals()));

  return command;
}
