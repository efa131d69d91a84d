import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { createTenant, requirePlan } from '../features/tenants/create.ts';
import { findTenant, listTenants, type TenantRow, updateTenant } from '../features/tenants/store.ts';
import type { Db } from '../platform/database.ts';
import { UserError } from '../platform/user-error.ts';
import { print, withDatabase } from './database.ts';

/** @throws UserError */
export async function requireTenant(db: Db, slug: string): Promise<TenantRow> {
  const tenant = await findTenant(db, slug);
  if (!tenant) throw new UserError(`There is no tenant ${slug}. See \`parley tenant list\`.`);
  return tenant;
}

const shown = (tenant: TenantRow) => ({
  slug: tenant.slug,
  name: tenant.name,
  status: tenant.status,
  plan: tenant.plan_name,
  contacts: `${tenant.contacts}/${tenant.max_contacts ?? 'unlimited'}`,
  calls_per_minute: tenant.calls_per_minute,
  window_policy: tenant.window_policy,
  created_at: tenant.created_at,
});

const windowPolicy = () =>
  new Option('--window-policy <policy>', 'what becomes of free-form messages outside the 24-hour window').choices([
    'network',
    'refuse',
  ] as const);

interface UpdateOptions {
  readonly name?: string;
  readonly plan?: string;
  readonly status?: TenantRow['status'];
  readonly windowPolicy?: TenantRow['window_policy'];
  readonly optOutWords?: string;
}

export function tenantCommand(): Command {
  const command = new Command('tenant').description('make, list and change tenants');

  command
    .command('create <slug>')
    .description('make a tenant')
    .option('--name <name>', 'its name (default: the slug)')
    .option('--plan <plan>', 'its plan', 'standard')
    .addOption(windowPolicy().default('network'))
    .action(
      async (slug: string, options: { name?: string; plan: string; windowPolicy: TenantRow['window_policy'] }) => {
        const tenant = await withDatabase(loadConfig(), db =>
          db.transaction(trx =>
            createTenant(trx, {
              slug,
              name: options.name ?? slug,
              plan: options.plan,
              windowPolicy: options.windowPolicy,
            }),
          ),
        );
        print([shown(tenant)], false);
      },
    );

  command
    .command('list')
    .description('list all tenants')
    .option('--json', 'as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const tenants = await withDatabase(loadConfig(), db => listTenants(db.read));
      print(tenants.map(shown), json);
    });

  command
    .command('update <slug>')
    .description('change a tenant; what is not given stays')
    .option('--name <name>', 'its name')
    .option('--plan <plan>', 'its plan')
    .addOption(
      new Option('--status <status>', 'a suspended tenant is refused everywhere').choices(['active', 'suspended']),
    )
    .addOption(windowPolicy())
    .option('--opt-out-words <words>', 'comma-separated words by which people stop messages')
    .action(async (slug: string, options: UpdateOptions) => {
      if (Object.keys(options).length === 0)
        throw new UserError('Nothing to change: see `parley tenant update --help`.');
      const tenant = await withDatabase(loadConfig(), db =>
        db.transaction(async trx => {
          const { tenant_id: id } = await requireTenant(trx, slug);
          if (options.plan !== undefined) await requirePlan(trx, options.plan);
          const { optOutWords, ...change } = options;
          const words = optOutWords
            ?.split(',')
            .map(word => word.trim().toLowerCase())
            .filter(Boolean);
          await updateTenant(trx, id, { ...change, optOutWords: words });
          return requireTenant(trx, slug);
        }),
      );
      print([shown(tenant)], false);
    });

  return command;
}
