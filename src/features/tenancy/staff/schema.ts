import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { StaffRole } from '../../../core/staff-roles.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { Actor } from '../../../schema/actor.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { deleteMutation } from '../../../schema/delete-mutation.ts';
import { DATES, listQueries } from '../../../schema/list-queries.ts';
import { enumFilter, StringFilter } from '../../../schema/lists.ts';
import { rowLoader } from '../../../schema/loaders.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { changeStaff, createStaff, deleteStaffMember } from './change.ts';
import type { StaffRow } from './staff-member.ts';
import { getStaff, STAFF_COLUMNS } from './store.ts';

export const staffLoader = rowLoader(getStaff);

export const StaffRoleEnum = builder.enumType('StaffRole', {
  description: 'What a staff member may do in a session. Roles are scopes only: an agent reads the whole account.',
  values: {
    ADMIN: { value: 'admin', description: 'Everything but tokens.' },
    AGENT: {
      value: 'agent',
      description: 'Reads what a viewer reads, sends messages, changes contacts, groups, conversations and notes.',
    },
    VIEWER: {
      value: 'viewer',
      description: 'Reads all but costs, trusted documents, webhooks, integrations and tokens.',
    },
  } as const satisfies Record<string, { value: StaffRole; description: string }>,
});

export const StaffMember = builder.objectRef<StaffRow>('StaffMember');

builder.node(StaffMember, {
  name: 'StaffMember',
  description: 'A person of the account, to whom contacts and conversations can be assigned.',
  interfaces: [Actor],
  id: { resolve: member => member.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('staff:read', getStaff),
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

const column = listColumns('staff', 's');
const id = column('id', 'bigint');
const name = column('name', 'text');
const email = column('email', 'text');
const createdAt = column('created_at', 'timestamptz');

const STAFF: ListDefinition = {
  from: 'staff s',
  tenantColumn: 's.tenant_id',
  filters: { id: { ...id, node: 'StaffMember' }, name, email, role: column('role', 'text'), createdAt },
  sorts: { id, name, email, createdAt },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: `search_fold(s.name || ' ' || s.email)`,
};

const SELECT = STAFF_COLUMNS.map(name => `s.${name}` as const);

listQueries(StaffMember, {
  list: 'staffMembers',
  one: 'staffMember',
  noun: 'staff member',
  plural: 'staff members',
  description: 'Lists the staff members of the account, sorted by name by default.',
  scope: 'staff:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the staff member.' }),
    email: t.field({ type: StringFilter, description: 'E-mail address of the staff member.' }),
    role: t.field({ type: enumFilter(StaffRoleEnum), description: 'Role of the staff member.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the staff member.' },
    EMAIL: { value: 'email', description: 'E-mail address of the staff member.' },
  },
  dates: { createdAt: DATES.createdAt },
  page: (context, args) => readPage<StaffRow>(context.db.read, STAFF, tenantOf(context), args, SELECT),
  get: getStaff,
});

export const StaffMemberPayload = entityPayload('staffMember', StaffMember, 'The staff member after the mutation.');

const NAME = 'Name, 1 to 255 characters.';
const EMAIL = 'E-mail address, unique in the account, ignoring case.';
const idOfMember = (t: InputFields) =>
  t.id({ required: true, description: 'Global id or databaseId of the staff member.' });

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
      id: idOfMember(t),
      name: t.string({ description: NAME }),
      email: t.string({ description: EMAIL }),
      role: t.field({ type: StaffRoleEnum, description: 'The widest role that a session of this person can have.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: StaffMemberPayload,
  resolve: async ({ id, idempotencyKey, ...input }, context) => ({
    staffMember: await changeStaff(context, requireId(tenantOf(context), 'StaffMember', id), input, idempotencyKey),
  }),
});

deleteMutation('StaffMember', {
  noun: 'staff member',
  description:
    'Removes a staff member. Their contacts and conversations become unassigned, their sessions end. The only ADMIN is not removed: CONFLICT.',
  scope: 'staff:write',
  remove: deleteStaffMember,
});
