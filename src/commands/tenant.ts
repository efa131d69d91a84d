import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import type { AccountRow } from '../features/account/account.ts';
import { getAccount, listAccounts } from '../features/account/store.ts';
import { changeTenant } from '../features/tenants/change.ts';
import { createTenant } from '../features/tenants/create.ts';
import { requireTenant } from '../features/tenants/require.ts';
import { listPlans, type PlanRow, type TenantRow } from '../features/tenants/store.ts';
import { monthOf } from '../features/usage/month.ts';
import { systemClock } from '../platform/clock.ts';
import type { Db } from '../platform/database.ts';
import { UserError } from '../platform/user-error.ts';
import { print, withDatabase } from './database.ts';
import { instant } from './instant.ts';
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
  new Option('--window-policy <policy>', 'what becomes of free-form messages outside the 24-hour window').choices([
    'network',
    'refuse',
  ] as const);

/** The parser of an option cannot answer null: commander would make it an empty text. */
const NEVER = 'never';
const neverOrInstant = (text: string): string => (text === NEVER ? NEVER : instant(text));

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
}

async function create(slug: string, { name = slug, plan, expiresAt, windowPolicy }: CreateOptions): Promise<void> {
  const tenant = { slug, name, plan, windowPolicy, planExpiresAt: expiresAt };
  await withDatabase(loadConfig(), async db => {
    const { tenant_id: id } = await db.transaction(trx => createTenant(trx, tenant));
    await printTenant(db.write, id);
  });
}

async function update(slug: string, { optOutWords, expiresAt, ...change }: UpdateOptions): Promise<void> {
  const words = optOutWords
    ?.split(',')
    .map(word => word.trim().toLowerCase())
    .filter(Boolean);
  const changes = { ...change, planExpiresAt: expiresAt === NEVER ? null : expiresAt, optOutWords: words };
  if (Object.values(changes).every(value => value === undefined))
    throw new UserError('Nothing to change: see `parley tenant update --help`.');
  await withDatabase(loadConfig(), async db => {
    const { tenant_id: id } = await requireTenant(db.read, slug);
    await db.transaction(trx => changeTenant(trx, id, changes, thisMonth()));
    await printTenant(db.write, id);
  });
}

export function tenantCommand(): Command {
  const command = new Command('tenant').description('make, list and change tenants, and their staff');

  command
    .command('create <slug>')
    .description('make a tenant')
    .option('--name <name>', 'its name (default: the slug)')
    .option('--plan <plan>', 'its plan', 'standard')
    .option(
      '--expires-at <when>',
      'when the plan ends: 30d, or an instant (default: never); told, not enforced',
      instant,
    )
    .addOption(windowPolicy().default('network'))
    .action(create);

  command
    .command('list')
    .description(
      'list all tenants with what they use of their plans; conversations and messages are those of this month',
    )
    .option('--json', 'as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const accounts = await withDatabase(loadConfig(), db => listAccounts(db.read, thisMonth()));
      print(accounts.map(shown), json);
    });

  command
    .command('plans')
    .description('list the plans')
    .option('--json', 'as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const plans = await withDatabase(loadConfig(), db => listPlans(db.read));
      print(plans.map(shownPlan), json);
    });

  command
    .command('update <slug>')
    .description('change a tenant; what is not given stays. Running processes know of it within 5 seconds')
    .option('--name <name>', 'its name')
    .option('--plan <plan>', 'its plan; the month goes on with what it has used')
    .option('--expires-at <when>', 'when the plan ends: 30d, an instant, or never; told, not enforced', neverOrInstant)
    .addOption(
      new Option('--status <status>', 'a suspended tenant is refused everywhere').choices(['active', 'suspended']),
    )
    .addOption(windowPolicy())
    .option('--opt-out-words <words>', 'comma-separated words by which people stop messages')
    .action(update);

  return command.addCommand(staffCommand());
}
