import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import type { Db } from '../database/database.ts';
import { getAccount, listAccounts } from '../features/tenancy/account/account.sql.ts';
import type { AccountRow } from '../features/tenancy/account/account.ts';
import { changeTenant } from '../features/tenancy/tenants/change.ts';
import { createTenant } from '../features/tenancy/tenants/create.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { listPlans, type PlanRow, type TenantRow } from '../features/tenancy/tenants/store.ts';
import { monthOf } from '../features/tenancy/usage/month.ts';
import { systemClock } from '../platform/clock.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, print, withDatabase } from './database.ts';
import { country, instant, positive } from './option-values.ts';
import { staffCommand } from './staff.ts';

const thisMonth = (): string => monthOf(systemClock.now());

const limit = (maximum: number | null): number | string => maximum ?? 'unlimited';

const shown = (account: AccountRow) => ({
  slug: account.slug,
  name: account.name,
  status: account.status,
  plan: account.plan_name,
  contacts: `${account.contacts}/${limit(account.max_contacts)}`,
  conversations: `${account.conversations}/${limit(account.max_conversations)}`,
  messages: `${account.messages}/${limit(account.max_messages)}`,
  staff: `${account.staff}/${limit(account.max_staff)}`,
  calls_per_minute: account.calls_per_minute,
  window_policy: account.window_policy,
  expires_at: account.plan_expires_at,
  created_at: account.created_at,
  keep_messages_days: account.keep_messages_days ?? 'forever',
  default_country: account.default_country,
});

const shownPlan = (plan: PlanRow) => ({
  id: plan.id,
  name: plan.name,
  contacts: limit(plan.max_contacts),
  conversations_a_month: limit(plan.max_conversations),
  messages_a_month: limit(plan.max_messages),
  staff: limit(plan.max_staff),
  calls_per_minute: plan.calls_per_minute,
  features: plan.features.join(','),
});

/** Prints a tenant as `list` does. */
async function printTenant(db: Db, tenantId: number): Promise<void> {
  const account = await getAccount(db, tenantId, thisMonth());
  print(account ? [shown(account)] : [], false);
}

const windowPolicy = () =>
  new Option('--window-policy <policy>', 'handling of free-form messages outside the 24-hour service window').choices([
    'network',
    'refuse',
  ] as const);

/** A keyword, because commander turns a null from an option's parser into an empty text. */
const NEVER = 'never';
const neverOrInstant = (text: string): string => (text === NEVER ? NEVER : instant(text));

const FOREVER = 'forever';
const foreverOrDays = (text: string): number | typeof FOREVER => (text === FOREVER ? FOREVER : positive(text));

const NONE = 'none';
const noneOrCountry = (text: string): string => (text === NONE ? NONE : country(text));

interface CreateOptions {
  readonly name?: string;
  readonly plan: string;
  readonly expiresAt?: string;
  readonly windowPolicy: TenantRow['window_policy'];
}

interface UpdateOptions {
  readonly name?: string;
  readonly plan?: string;
  readonly expiresAt?: string;
  readonly status?: TenantRow['status'];
  readonly windowPolicy?: TenantRow['window_policy'];
  readonly optOutWords?: string;
  readonly keepMessagesDays?: number | typeof FOREVER;
  readonly defaultCountry?: string;
}

async function create(slug: string, { name = slug, plan, expiresAt, windowPolicy }: CreateOptions): Promise<void> {
  const tenant = { slug, name, plan, windowPolicy, planExpiresAt: expiresAt };
  await changeDatabase(loadConfig(), async db => {
    const { tenant_id: id } = await db.transaction(trx => createTenant(trx, tenant));
    await printTenant(db.write, id);
  });
}

async function update(
  slug: string,
  { optOutWords, expiresAt, keepMessagesDays: days, defaultCountry, ...change }: UpdateOptions,
): Promise<void> {
  const words = optOutWords
    ?.split(',')
    .map(word => word.trim().toLowerCase())
    .filter(Boolean);
  const keepMessagesDays = days === FOREVER ? null : days;
  const changes = {
    ...change,
    keepMessagesDays,
    defaultCountry: defaultCountry === NONE ? null : defaultCountry,
    planExpiresAt: expiresAt === NEVER ? null : expiresAt,
    optOutWords: words,
  };
  if (Object.values(changes).every(value => value === undefined))
    throw new UserError('Nothing to change: see `parley tenant update --help`.');
  await changeDatabase(loadConfig(), async db => {
    const { tenant_id: id } = await requireTenant(db.read, slug);
    await db.transaction(trx => changeTenant(trx, id, changes, thisMonth()));
    await printTenant(db.write, id);
  });
}

export function tenantCommand(): Command {
  const command = new Command('tenant').description('create, list and update tenants, and manage their staff');

  command
    .command('create <slug>')
    .description('create a tenant')
    .option('--name <name>', 'display name (default: the slug)')
    .option('--plan <plan>', 'plan', 'standard')
    .option(
      '--expires-at <when>',
      'end of the plan: 30d, or an ISO 8601 time (default: never); reported, not enforced',
      instant,
    )
    .addOption(windowPolicy().default('network'))
    .action(create);

  command
    .command('list')
    .description('list all tenants with their usage; conversations and messages of the current month')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const accounts = await withDatabase(loadConfig(), db => listAccounts(db.read, thisMonth()));
      print(accounts.map(shown), json);
    });

  command
    .command('plans')
    .description('list the plans')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const plans = await withDatabase(loadConfig(), db => listPlans(db.read));
      print(plans.map(shownPlan), json);
    });

  command
    .command('update <slug>')
    .description('update a tenant; omitted options keep their value. Takes effect within 5 seconds')
    .option('--name <name>', 'display name')
    .option('--plan <plan>', 'plan; the usage of the current month is kept')
    .option(
      '--expires-at <when>',
      'end of the plan: 30d, an ISO 8601 time, or never; reported, not enforced',
      neverOrInstant,
    )
    .addOption(
      new Option('--status <status>', 'suspended: all requests of the tenant are rejected').choices([
        'active',
        'suspended',
      ]),
    )
    .addOption(windowPolicy())
    .option(
      '--keep-messages-days <days>',
      'delete older messages, hourly; or forever (the default). Counters are kept',
      foreverOrDays,
    )
    .option(
      '--default-country <code>',
      'country whose national phone numbers searches read, for example DE; or none (the default)',
      noneOrCountry,
    )
    .option('--opt-out-words <words>', 'comma-separated words that opt a person out')
    .action(update);

  return command.addCommand(staffCommand());
}
