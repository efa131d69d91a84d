import { Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../config.ts';
import { FEATURES, type Feature } from '../core/plan-features.ts';
import type { Db } from '../database/database.ts';
import { changePlan, createPlan, type PlanChange, planNameFault } from '../features/tenancy/tenants/plans.ts';
import { listPlans, type PlanRow } from '../features/tenancy/tenants/store.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { features, limit, maximum, maximumOf, positive } from './option-values.ts';
import { print } from './print.ts';

const shown = (plan: PlanRow) => ({
  id: plan.id,
  name: plan.name,
  contacts: limit(plan.max_contacts),
  conversations_a_month: limit(plan.max_conversations),
  messages_a_month: limit(plan.max_messages),
  staff: limit(plan.max_staff),
  calls_per_minute: plan.calls_per_minute,
  features: plan.features.join(','),
});

type Maximum = ReturnType<typeof maximum>;

interface Options {
  readonly contacts?: Maximum;
  readonly conversations?: Maximum;
  readonly messages?: Maximum;
  readonly staff?: Maximum;
  readonly callsPerMinute?: number;
  readonly features?: readonly Feature[];
  readonly json: boolean;
}

const changeOf = (options: Options): PlanChange => ({
  max_contacts: maximumOf(options.contacts),
  max_conversations: maximumOf(options.conversations),
  max_messages: maximumOf(options.messages),
  max_staff: maximumOf(options.staff),
  calls_per_minute: options.callsPerMinute,
  features: options.features,
});

async function write(options: Options, work: (trx: Db, change: PlanChange) => Promise<PlanRow>): Promise<void> {
  const change = changeOf(options);
  const plan = await changeDatabase(loadConfig(), db => db.transaction(trx => work(trx, change)));
  print([shown(plan)], options.json);
}

function planName(text: string): string {
  const fault = planNameFault(text);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return text;
}

/** Adds the limits of a plan as options. */
const withLimits = (command: Command): Command =>
  command
    .option('--contacts <n>', 'contacts, or unlimited', maximum)
    .option('--conversations <n>', 'conversations a month, or unlimited', maximum)
    .option('--messages <n>', 'messages a month, or unlimited', maximum)
    .option('--staff <n>', 'staff members, or unlimited', maximum)
    .option('--calls-per-minute <n>', 'API calls a minute', positive)
    .option('--features <names>', `comma-separated, or * for all: ${FEATURES.join(', ')}`, features)
    .option('--json', 'print JSON', false);

export function planCommand(): Command {
  const command = new Command('plan').description('create, edit and list plans: limits and features of tenants');

  withLimits(
    command.command('create').argument('<name>', 'lower-case letters, digits, hyphens and underscores', planName),
  )
    .description('create a plan (default: unlimited, 600 calls a minute, all features)')
    .action((name: string, options: Options) => write(options, (trx, change) => createPlan(trx, name, change)));

  withLimits(command.command('edit <name>'))
    .description('edit a plan; omitted options keep their value. Applies to its tenants within 5 seconds')
    .action(async (name: string, options: Options) => {
      if (Object.values(changeOf(options)).every(value => value === undefined))
        throw new UserError('Nothing to change: see `parley plan edit --help`.');
      await write(options, (trx, change) => changePlan(trx, name, change));
    });

  command
    .command('list')
    .description('list the plans')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const plans = await withDatabase(loadConfig(), db => listPlans(db.read));
      print(plans.map(shown), json);
    });

  return command;
}
