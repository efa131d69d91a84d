import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { addStaff } from '../features/staff/add.ts';
import { removeStaff } from '../features/staff/remove.ts';
import { listStaff } from '../features/staff/store.ts';
import { requireTenant } from '../features/tenants/require.ts';
import { UserError } from '../platform/user-error.ts';
import { print, withDatabase } from './database.ts';

export function staffCommand(): Command {
  const command = new Command('staff').description('add, list and remove the people to whom contacts are assigned');

  command
    .command('add <slug>')
    .description('add a person, when the plan has room')
    .requiredOption('--name <name>', 'the name')
    .requiredOption('--email <email>', 'the e-mail address; nobody else of the tenant may have it')
    .action(async (slug: string, given: { name: string; email: string }) => {
      const member = await withDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        return db.transaction(trx => addStaff(trx, tenantId, given));
      });
      print([member], false);
    });

  command
    .command('list <slug>')
    .description('list the people of a tenant')
    .option('--json', 'as JSON', false)
    .action(async (slug: string, { json }: { json: boolean }) => {
      const staff = await withDatabase(loadConfig(), async db =>
        listStaff(db.read, (await requireTenant(db.read, slug)).tenant_id),
      );
      print(staff, json);
    });

  command
    .command('remove <slug> <person>')
    .description('remove a person, by e-mail address or id; their contacts stay, assigned to nobody')
    .action(async (slug: string, person: string) => {
      const removed = await withDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        return db.transaction(trx => removeStaff(trx, tenantId, person));
      });
      if (!removed)
        throw new UserError(`There is no ${person} among the staff. See \`parley tenant staff list ${slug}\`.`);
      print([{ ...removed.member, contacts_unassigned: removed.unassigned }], false);
    });

  return command;
}
