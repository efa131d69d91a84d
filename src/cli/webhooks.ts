import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import type { Db } from '../database/database.ts';
import { type ListedChange, listUnhandled } from '../features/inbox/changes.sql.ts';
import { reprocess } from '../features/inbox/reprocess.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { changeDatabase, secretBoxOf, withDatabase } from './database.ts';
import { positive } from './option-values.ts';
import { print } from './print.ts';
import { createProgress } from './progress.ts';

const RAW_LENGTH = 100;

const shown = ({ id, tenant, field, reason, error, received_at, raw }: ListedChange) => ({
  id,
  received_at,
  tenant: tenant ?? '(none)',
  field: field === '' ? '(none)' : field,
  reason: error === null ? reason : `${reason}: ${error}`,
  raw: JSON.stringify(raw).slice(0, RAW_LENGTH),
});

const tenantIdOf = async (db: Db, slug: string | undefined): Promise<number | undefined> =>
  slug === undefined ? undefined : (await requireTenant(db, slug)).tenant_id;

interface UnhandledOptions {
  readonly tenant?: string;
  readonly unrouted: boolean;
  readonly field?: string;
  readonly limit: number;
  readonly json: boolean;
}

export function webhooksCommand(): Command {
  const command = new Command('webhooks').description('list and reprocess webhook changes that were not applied');

  command
    .command('unhandled')
    .description('list webhook changes that could not be applied or have no tenant, newest first')
    .option('--tenant <slug>', 'only changes of this tenant')
    .option('--unrouted', 'only changes without a tenant', false)
    .option('--field <field>', 'only changes of this webhook field')
    .option('--limit <number>', 'maximum number of rows', positive, 100)
    .option('--json', 'print JSON, with the complete change', false)
    .action(async ({ tenant, unrouted, field, limit, json }: UnhandledOptions) => {
      const changes = await withDatabase(loadConfig(), async db =>
        listUnhandled(db.read, { tenantId: unrouted ? null : await tenantIdOf(db.read, tenant), field, limit }),
      );
      print(json ? changes : changes.map(shown), json);
    });

  command
    .command('reprocess')
    .description('parse unhandled changes again; a running worker applies them (automatic after an upgrade)')
    .option('--tenant <slug>', 'only changes of this tenant')
    .option('--field <field>', 'only changes of this webhook field')
    .option('--json', 'print JSON', false)
    .action(async ({ tenant, field, json }: { tenant?: string; field?: string; json: boolean }) => {
      const config = loadConfig();
      const progress = createProgress('Reading', { unit: 'changes', lines: true });
      const { read, readable, routed } = await changeDatabase(config, async db =>
        reprocess(
          { db, secrets: await secretBoxOf(config, db) },
          {
            tenantId: await tenantIdOf(db.read, tenant),
            field,
            isUpgrade: false,
            onProgress: done => progress.set(done.read, undefined, `${done.readable + done.routed} to apply`),
          },
        ),
      ).finally(progress.end);
      print([{ read, readable, routed }], json);
    });

  return command;
}
