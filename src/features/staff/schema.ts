import { builder } from '../../builder.ts';
import { tenantOf } from '../caller.ts';
import type { StaffRow } from './staff-member.ts';
import { getStaff, listStaff } from './store.ts';

export const StaffMember = builder.objectRef<StaffRow>('StaffMember');

builder.node(StaffMember, {
  name: 'StaffMember',
  description:
    'A person of the tenant to whom contacts are assigned. The operator of the gateway adds and removes them (`parley tenant staff`).',
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
      description: 'The number that REST knows it by: `assigned_id` of a contact.',
      resolve: member => member.id,
    }),
    name: t.exposeString('name', { description: 'The name.' }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
  }),
});

builder.queryField('staffMembers', t =>
  t.field({
    type: [StaffMember],
    description: 'The people to whom contacts can be assigned, by name.',
    authScopes: { scope: 'contacts:read' },
    resolve: (_root, _args, context) => listStaff(context.db.read, tenantOf(context)),
  }),
);
