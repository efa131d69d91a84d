import { notFound } from '../../../core/errors.ts';
import { encodeGlobalId, inputId, parseId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Scope } from '../../../core/scopes.ts';
import type { Db } from '../../../database/database.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { listQueries } from '../../../schema/list-queries.ts';
import { StringFilter } from '../../../schema/lists.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { DeletePayload, entityPayload, mutation, payloadOf } from '../../../schema/payload.ts';
import { selectionOf } from '../../../schema/selection.ts';
import type { WithKey } from '../../tenancy/idempotency/once.ts';
import { memberCountLoader } from '../loaders.ts';
import { changeLabel, createLabel, removeLabel } from './change.ts';
import { LABELS, type LabelInput, type LabelKind, type LabelRow } from './label.ts';
import { labelPage } from './lists.ts';
import { changeMembers, MAX_MEMBERS, type MembersChange } from './members.ts';
import { getLabels } from './store.ts';

/** The type, connection, filter, order, two queries and three mutations of one kind of label. */
function defineLabel(kind: LabelKind) {
  const { type, table, one, list, description } = LABELS[kind];
  const scope = (action: 'read' | 'write' | 'delete') => `${table}:${action}` as Scope;
  const isStatus = kind === 'status';

  const get = (db: Db, tenantId: number, ids: readonly number[]) => getLabels(db, tenantId, kind, ids);

  const ref = builder.objectRef<LabelRow>(type);
  builder.node(ref, {
    name: type,
    description,
    id: { resolve: label => label.id },
    brandLoadedObjects: true,
    loadManyWithoutCache: nodesByNumber(scope('read'), get),
    fields: t => ({
      databaseId: databaseId(t),
      name: t.exposeString('name', { description: 'Name, unique in the tenant, ignoring case.' }),
      createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
      updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
    }),
  });
  if (isStatus) {
    builder.objectField(ref, 'color', t =>
      t.string({
        description: 'Color as `#RRGGBB`; `#757575` if none was set.',
        resolve: label => label.color ?? '#757575',
      }),
    );
  }

  listQueries(ref, {
    list,
    one,
    noun: kind,
    plural: table,
    description: `Lists the tenant's ${table}.`,
    scope: scope('read'),
    filter: t => ({ name: t.field({ type: StringFilter, description: `Name of the ${kind}.` }) }),
    order: { NAME: { value: 'name', description: `Name of the ${kind}.` } },
    page: (context, args, info) => labelPage(context, kind, args, selectionOf(info)),
    get,
  });

  const Payload = entityPayload(one, ref, `The ${kind} after the mutation.`);
  const fields = (t: InputFields) => ({
    ...(isStatus && { color: t.string({ description: 'Color as `#RRGGBB`.' }) }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  });
  const NAME = 'Name, 1 to 150 characters; unique in the tenant, ignoring case.';
  const id = (t: InputFields) => t.id({ required: true, description: `Global id or databaseId of the ${kind}.` });
  const CreateInput = builder.inputRef<WithKey<LabelInput>>(`Create${type}Input`).implement({
    description: `A new ${kind}.`,
    fields: t => ({ name: t.string({ required: true, description: NAME }), ...fields(t) }),
  });
  const UpdateInput = builder.inputRef<WithKey<LabelInput> & { readonly id: string }>(`Update${type}Input`).implement({
    description: `Changes to a ${kind}. Omitted fields keep their values.`,
    fields: t => ({ id: id(t), name: t.string({ description: NAME }), ...fields(t) }),
  });
  const DeleteInput = builder.inputRef<WithKey<{ readonly id: string }>>(`Delete${type}Input`).implement({
    description: `The ${kind} to delete.`,
    fields: t => ({ id: id(t), idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) }),
  });

  mutation(`create${type}`, {
    description: `Creates a ${kind}.`,
    scope: scope('write'),
    input: CreateInput,
    payload: Payload,
    resolve: async (input, context) => ({ [one]: await createLabel(context, kind, input) }),
  });
  mutation(`update${type}`, {
    description: `Changes a ${kind}.`,
    scope: scope('write'),
    input: UpdateInput,
    payload: Payload,
    resolve: async ({ id, ...input }, context) => ({
      [one]: await changeLabel(context, kind, labelId(context, kind, id), input),
    }),
  });
  mutation(`delete${type}`, {
    description: `Deletes a ${kind}. ${LABELS[kind].inUseBlocksDelete ? 'One that contacts use is refused with CONFLICT.' : 'Its members remain contacts.'}`,
    scope: scope('delete'),
    input: DeleteInput,
    payload: DeletePayload,
    resolve: async (input, context) => {
      const id = labelId(context, kind, input.id);
      await removeLabel(context, kind, id, input.idempotencyKey);
      return { deletedId: encodeGlobalId(type, tenantOf(context), id) };
    },
  });
  return ref;
}

/** @throws NOT_FOUND for text that is no id */
function labelId(context: Context, kind: LabelKind, text: string, field?: string): number {
  const id = parseId(tenantOf(context), LABELS[kind].type, text);
  if (id === undefined) throw notFound(LABELS[kind].name, field);
  return id;
}

export const Group = defineLabel('group');
export const Source = defineLabel('source');
export const Status = defineLabel('status');

builder.objectField(Group, 'contactsCount', t =>
  t.int({
    nullable: true,
    description: 'Number of contacts in the group.',
    authScopes: { anyScope: ['groups:read', 'groups:write', 'groups:delete'] },
    resolve: (group, _args, context) => memberCountLoader(context).load(group.id),
  }),
);

const GroupMembersPayload = payloadOf<MembersChange>(
  'GroupMembersPayload',
  'Result of a change of group members.',
  t => ({
    contactGroup: t.field({
      type: Group,
      nullable: true,
      description: 'The group after the change.',
      resolve: ({ group }) => group ?? null,
    }),
    changedCount: t.int({
      description: 'Number of contacts that were added or removed.',
      resolve: ({ count = 0 }) => count,
    }),
  }),
);

function defineMembersMutation(action: 'add' | 'remove', name: string, description: string): void {
  const input = builder.inputType(`${name.charAt(0).toUpperCase()}${name.slice(1)}Input`, {
    description: `Contacts to ${action === 'add' ? 'add to' : 'remove from'} a group.`,
    fields: t => ({
      groupId: t.id({ required: true, description: 'Global id or databaseId of the group.' }),
      contactIds: t.idList({
        required: true,
        description: `Global ids or databaseIds of 1 to ${MAX_MEMBERS} contacts.`,
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  });
  mutation(name, {
    description,
    scope: 'groups:write',
    input,
    payload: GroupMembersPayload,
    resolve: ({ groupId, contactIds, idempotencyKey }, context) =>
      changeMembers(context, action, {
        groupId: labelId(context, 'group', groupId, 'groupId'),
        contactIds: contactIds.map(id => inputId(tenantOf(context), 'Contact', String(id), 'contactIds')),
        idempotencyKey,
      }),
  });
}

defineMembersMutation('add', 'addContactsToGroup', 'Adds contacts to a group; present members are not counted again.');
defineMembersMutation('remove', 'removeContactsFromGroup', 'Removes contacts from a group; they remain contacts.');
