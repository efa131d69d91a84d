import { encodeGlobalId, numericId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { StaffRole } from '../../../core/staff-roles.ts';
import { Actor } from '../../../schema/actor.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../../schema/lists.ts';
import { rowLoader } from '../../../schema/loaders.ts';
import { findByNumber, nodesByNumber } from '../../../schema/nodes.ts';
import { DeletePayload, entityPayload, mutation } from '../../../schema/payload.ts';
import { changeStaff, createStaff, deleteStaffMember } from './change.ts';
import { staffPage } from './list.ts';
import type { StaffRow } from './staff-member.ts';
import { getStaff } from './store.ts';

export const staffLoader = rowLoader(getStaff);

export const StaffRoleEnum = builder.enumType('StaffRole', {
  description: 'What a staff member may do in a session. Roles are scopes only: an agent reads the whole account.',
  values: {
    ADMIN: { value: 'admin', description: 'Everything but tokens and integrations.' },
    AGENT: {
      value: 'agent',
      description: 'Reads all, sends messages, changes contacts, groups, conversations and notes.',
    },
    VIEWER: { value: 'viewer', description: 'Reads all but webhooks, tokens and integrations.' },
  } as const satisfies Record<string, { value: StaffRole; description: string }>,
});

export const StaffMember = builder.objectRef<StaffRow>('StaffMember');

builder.node(StaffMember, {
  name: 'StaffMember',
  description: 'A person of the account, to whom contacts and conversations can be assigned.',
  interfaces: [Actor],
  id: { resolve: member => member.id },
  brandLoadedObjects: true,
  loadMany: nodesByNumber('staff:read', getStaff),
  fields: t => ({
    databaseId: databaseId(t),
    displayName: t.exposeString('name', { description: 'Name of the staff member.' }),
    name: t.exposeString('name', { description: 'Name of the staff member.' }),
    email: t.exposeString('email', { description: 'E-mail address of the staff member.' }),
    role: t.expose('role', {
      type: StaffRoleEnum,
      description: 'The widest role that a session of this person can have.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
  }),
});

const Filter = filterOf('StaffMember', 'staff members', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the staff member.' }),
  name: t.field({ type: StringFilter, description: 'Name of the staff member.' }),
  email: t.field({ type: StringFilter, description: 'E-mail address of the staff member.' }),
  role: t.field({ type: enumFilter(StaffRoleEnum), description: 'Role of the staff member.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
}));
const Order = orderOf('StaffMember', 'staff members', {
  ID: { value: 'id', description: 'Order of creation.' },
  NAME: { value: 'name', description: 'Name of the staff member.' },
  EMAIL: { value: 'email', description: 'E-mail address of the staff member.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
});

builder.queryFields(t => ({
  staffMembers: t.field({
    type: connectionOf('StaffMember', StaffMember),
    description: 'Lists the staff members of the account, sorted by name by default.',
    authScopes: { scope: 'staff:read' },
    args: { ...listArgs(Filter, Order) },
    resolve: (_root, args, context) => staffPage(context, args),
  }),
  staffMember: t.field({
    type: StaffMember,
    nullable: true,
    description: 'Returns one staff member; null if there is none.',
    authScopes: { scope: 'staff:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the staff member.' }) },
    resolve: (_root, { id }, context) => findByNumber(context, 'StaffMember', id, getStaff),
  }),
}));

export const StaffMemberPayload = entityPayload('staffMember', StaffMember, 'The staff member after the mutation.');

const NAME = 'Name, 1 to 255 characters.';
const EMAIL = 'E-mail address, unique in the account, ignoring case.';
const id = (t: InputFields) => t.id({ required: true, description: 'Global id or databaseId of the staff member.' });

mutation('createStaffMember', {
  description: 'Adds a staff member, if the plan has room for another one.',
  scope: 'staff:write',
  input: builder.inputType('CreateStaffMemberInput', {
    description: 'A new staff member.',
    fields: t => ({
      name: t.string({ required: true, description: NAME }),
      email: t.string({ required: true, description: EMAIL }),
      role: t.field({
        type: StaffRoleEnum,
        required: true,
        defaultValue: 'agent',
        description: 'The widest role that a session of this person can have.',
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: StaffMemberPayload,
  resolve: async ({ idempotencyKey, ...input }, context) => ({
    staffMember: await createStaff(context, input, idempotencyKey),
  }),
});

mutation('updateStaffMember', {
  description:
    'Changes a staff member. A narrower role ends their sessions. The only ADMIN keeps this role: CONFLICT otherwise.',
  scope: 'staff:write',
  input: builder.inputType('UpdateStaffMemberInput', {
    description: 'Changes to a staff member. Omitted fields keep their values.',
    fields: t => ({
      id: id(t),
      name: t.string({ description: NAME }),
      email: t.string({ description: EMAIL }),
      role: t.field({ type: StaffRoleEnum, description: 'The widest role that a session of this person can have.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: StaffMemberPayload,
  resolve: async ({ id, idempotencyKey, ...input }, context) => ({
    staffMember: await changeStaff(context, numericId(tenantOf(context), 'StaffMember', id), input, idempotencyKey),
  }),
});

mutation('deleteStaffMember', {
  description:
    'Removes a staff member. Their contacts and conversations become unassigned, their sessions end. The only ADMIN is not removed: CONFLICT.',
  scope: 'staff:write',
  input: builder.inputType('DeleteStaffMemberInput', {
    description: 'The staff member to remove.',
    fields: t => ({ id: id(t), idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) }),
  }),
  payload: DeletePayload,
  resolve: async (input, context) => {
    const memberId = numericId(tenantOf(context), 'StaffMember', input.id);
    await deleteStaffMember(context, memberId, input.idempotencyKey);
    return { deletedId: encodeGlobalId('StaffMember', tenantOf(context), memberId) };
  },
});
