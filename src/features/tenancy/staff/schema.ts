import { tenantOf } from '../../../core/principal.ts';
import { builder } from '../../../schema/builder.ts';
import { rowLoader } from '../../../schema/loaders.ts';
import type { StaffRow } from './staff-member.ts';
import { getStaff, listStaff } from './store.ts';

export const staffLoader = rowLoader(getStaff);

export const StaffMember = builder.objectRef<StaffRow>('StaffMember');

builder.node(StaffMember, {
  name: 'StaffMember',
  description:
    'A person to whom contacts can be assigned. The operator adds and removes staff members with `parley tenant staff`.',
  id: { resolve: member => member.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('contacts:read')) return ids.map(() => undefined);
    const rows = await getStaff(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'Numeric id, as used by the REST API (`assigned_id` of a contact).',
      resolve: member => member.id,
    }),
    name: t.exposeString('name', { description: 'Name of the staff member.' }),
    email: t.exposeString('email', { description: 'E-mail address of the staff member.' }),
  }),
});

builder.queryField('staffMembers', t =>
  t.field({
    type: [StaffMember],
    description: 'Lists the staff members of the tenant, sorted by name.',
    authScopes: { scope: 'contacts:read' },
    resolve: (_root, _args, context) => listStaff(context.db.read, tenantOf(context)),
  }),
);
