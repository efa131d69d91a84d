import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { addStaff } from '../features/tenancy/staff/add.ts';
import { removeStaff } from '../features/tenancy/staff/remove.ts';
import { listStaff } from '../features/tenancy/staff/store.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, print, withDatabase } from './database.ts';

export function staffCommand(): Command {
  const command = new Command('staff').description('add, list and remove staff members, to whom contacts are assigned');

  command
    .command('add <slug>')
    .description('add a staff member, if the plan allows another')
    .requiredOption('--name <name>', 'full name')
    .requiredOption('--email <email>', 'e-mail address, unique within the tenant')
    .action(async (slug: string, given: { name: string; email: string }) => {
      const member = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        return db.transaction(trx => addStaff(trx, tenantId, given));
      });
      print([member], false);
    });

  command
    .command('list <slug>')
    .description('list the staff members of a tenant')
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { json }: { json: boolean }) => {
      const staff = await withDatabase(loadConfig(), async db =>
        listStaff(db.read, (await requireTenant(db.read, slug)).tenant_id),
      );
      print(staff, json);
    });

  command
    .command('remove <slug> <person>')
    .description('remove a staff member, by e-mail address or id; their contacts become unassigned')
    .action(async (slug: string, person: string) => {
      const removed = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        return db.transaction(trx => removeStaff(trx, tenantId, person));
      });
      if (!removed)
        throw new UserError(`There is no staff member ${person}. See \`parley tenant staff list ${slug}\`.`);
      print([{ ...removed.member, contacts_unassigned: removed.unassigned }], false);
    });

  return command;
}
