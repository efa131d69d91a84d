import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { STAFF_ROLES } from '../core/staff-roles.ts';
import { COMMAND_LINE } from '../features/tenancy/audit/author.ts';
import { addStaff } from '../features/tenancy/staff/add.ts';
import { removeStaff } from '../features/tenancy/staff/remove.ts';
import type { NewStaff } from '../features/tenancy/staff/staff-member.ts';
import { listStaff } from '../features/tenancy/staff/store.ts';
import { requireTenant } from '../features/tenancy/tenants/find.ts';
import { UserError } from '../platform/user-error.ts';
import { changeDatabase, withDatabase } from './database.ts';
import { print } from './print.ts';

export function staffCommand(): Command {
  const command = new Command('staff').description('add, list and remove staff members');

  command
    .command('add <slug>')
    .description('add a staff member, if the plan allows another')
    .requiredOption('--name <name>', 'full name')
    .requiredOption('--email <email>', 'e-mail address, unique within the tenant')
    .addOption(new Option('--role <role>', 'highest role of their sessions').choices(STAFF_ROLES).default('agent'))
    .option('--json', 'print JSON', false)
    .action(async (slug: string, { json, ...given }: Required<NewStaff> & { json: boolean }) => {
      const member = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        return db.transaction(trx => addStaff(trx, tenantId, given, COMMAND_LINE));
      });
      print([member], json);
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
    .option('--json', 'print JSON', false)
    .action(async (slug: string, person: string, { json }: { json: boolean }) => {
      const removed = await changeDatabase(loadConfig(), async db => {
        const { tenant_id: tenantId } = await requireTenant(db.read, slug);
        return removeStaff(db, tenantId, person, COMMAND_LINE);
      });
      if (!removed)
        throw new UserError(`There is no staff member ${person}. See \`parley tenant staff list ${slug}\`.`);
      print([{ ...removed.member, contacts_unassigned: removed.unassigned }], json);
    });

  return command;
}
