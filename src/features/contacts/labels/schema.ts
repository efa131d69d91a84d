import { invalid, notFound } from '../../../core/errors.ts';
import { inputId, numericId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Scope } from '../../../core/scopes.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { connectionOf, DateTimeFilter, IDFilter, listArgs, orderOf, StringFilter } from '../../../schema/lists.ts';
import { selectionOf } from '../../../schema/selection.ts';
import { memberCountLoader } from '../loaders.ts';
import {
  type CreatedLabels,
  changeLabel,
  createLabel,
  createLabels,
  type DeletedLabels,
  type LabelBatchError,
  removeLabel,
  removeLabels,
} from './change.ts';
import { LABELS, type LabelInput, type LabelKind, type LabelRow } from './label.ts';
import { labelPage } from './lists.ts';
import { changeMembers, MAX_MEMBERS, type MembersChange } from './members.ts';
import { getLabels } from './store.ts';

const MAX_BATCH = 1_000;
const BatchError = builder.objectRef<LabelBatchError>('BatchError').implement({
  description: 'Errors of one field in one row of a batch.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position of the row in the batch, starting at 0.' }),
    field: t.exposeString('field', { description: 'Name of the invalid field.' }),
    messages: t.exposeStringList('messages', { description: 'What is wrong with the value.' }),
  }),
});

const batch = <T>(items: readonly T[], field: string): readonly T[] => {
  if (items.length === 0 || items.length > MAX_BATCH) throw invalid({ [field]: [`Takes 1 to ${MAX_BATCH} rows.`] });
  return items;
};

/** The type, connection, filter, order, two queries and five mutations of one kind of label. */
function defineLabel(kind: LabelKind) {
  const { type, plural, description } = LABELS[kind];
  const list = LABELS[kind].table;
  const scope = (action: string) => ({ scope: `${list}:${action}` as Scope });
  const isStatus = kind === 'status';

  const ref = builder.objectRef<LabelRow>(type);
  builder.node(ref, {
    name: type,
    description,
    id: { resolve: label => label.id },
    brandLoadedObjects: true,
    loadMany: async (ids, context) => {
      if (!context.principal?.scopes.has(`${list}:read`)) return ids.map(() => undefined);
      const rows = await getLabels(
        context.db.read,
        tenantOf(context),
        kind,
        ids.map(Number).filter(Number.isSafeInteger),
      );
      return ids.map(id => rows.find(row => row.id === Number(id)));
    },
    fields: t => ({
      databaseId: t.field({
        type: 'BigInt',
        description: 'Numeric id, as used by the REST API.',
        resolve: label => label.id,
      }),
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

  const Filter = builder.inputType(`${type}Filter`, {
    description: `Conditions for ${list}; all of them must hold.`,
    fields: t => ({
      id: t.field({ type: IDFilter, description: `Id of the ${kind}.` }),
      name: t.field({ type: StringFilter, description: `Name of the ${kind}.` }),
      createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
      updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
    }),
  });
  const Order = orderOf(type, list, {
    ID: { value: 'id', description: 'Order of creation.' },
    NAME: { value: 'name', description: `Name of the ${kind}.` },
    CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
    UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
  });

  const input = (name: string, about: string, nameRequired: boolean, withKey: boolean) =>
    builder.inputRef<LabelInput & { idempotencyKey?: string | null }>(name).implement({
      description: about,
      fields: t => ({
        name: t.string({
          required: nameRequired as false,
          description: 'Name, 1 to 150 characters; unique in the tenant, ignoring case.',
        }),
        ...(isStatus && { color: t.string({ description: 'Color as `#RRGGBB`.' }) }),
        ...(withKey && { idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) }),
      }),
    });
  const CreateInput = input(`Create${type}Input`, `A new ${kind}.`, true, true);
  const UpdateInput = input(
    `Update${type}Input`,
    `Changes to a ${kind}. Omitted fields keep their values.`,
    false,
    true,
  );
  const BatchInput = input(`Create${plural}Item`, `A new ${kind} in a batch.`, true, false);

  const Created = builder.objectRef<CreatedLabels>(`Create${plural}Result`).implement({
    description: `Result of creating several ${list}.`,
    fields: t => ({
      created: t.field({ type: [ref], description: `The created ${list}.`, resolve: result => [...result.created] }),
      errors: t.field({
        type: [BatchError],
        description: 'Errors of rows that were not created.',
        resolve: result => [...result.errors],
      }),
    }),
  });
  const idList = (ids: readonly number[]) => ids.map(id => id);
  const Deleted = builder.objectRef<DeletedLabels>(`Delete${plural}Result`).implement({
    description: `Result of deleting several ${list}.`,
    fields: t => ({
      deletedIds: t.field({
        type: ['BigInt'],
        description: 'The databaseIds of deleted rows.',
        resolve: result => idList(result.deletedIds),
      }),
      notFoundIds: t.field({
        type: ['BigInt'],
        description: 'The databaseIds that do not exist.',
        resolve: result => idList(result.notFoundIds),
      }),
      inUseIds: t.field({
        type: ['BigInt'],
        description: 'The databaseIds that contacts still use; these were not deleted.',
        resolve: result => idList(result.inUseIds),
      }),
    }),
  });

  builder.queryFields(t => ({
    [list]: t.field({
      type: connectionOf(type, ref),
      description: `Lists the tenant's ${list}.`,
      authScopes: scope('read'),
      args: {
        ...listArgs(Filter, Order),
      },
      resolve: (_root, args, context, info) => labelPage(context, kind, args, selectionOf(info)),
    }),
    [kind]: t.field({
      type: ref,
      nullable: true,
      description: `Returns one ${kind}. Errors: NOT_FOUND.`,
      authScopes: scope('read'),
      args: { id: t.arg.id({ required: true, description: `Global id or databaseId of the ${kind}.` }) },
      resolve: (_root, { id }, context) => labelById(context, kind, numericId(type, id)),
    }),
  }));

  builder.mutationFields(t => ({
    [`create${type}`]: t.field({
      type: ref,
      description: `Creates a ${kind}. Errors: VALIDATION_ERROR.`,
      authScopes: scope('write'),
      args: { input: t.arg({ type: CreateInput, required: true, description: `Values of the ${kind}.` }) },
      resolve: (_root, args, context) => createLabel(context, kind, args.input),
    }),
    [`update${type}`]: t.field({
      type: ref,
      description: `Changes a ${kind}. Errors: NOT_FOUND, VALIDATION_ERROR.`,
      authScopes: scope('write'),
      args: {
        id: t.arg.id({ required: true, description: `Global id or databaseId of the ${kind}.` }),
        input: t.arg({
          type: UpdateInput,
          required: true,
          description: 'Fields to change; omitted fields keep their values.',
        }),
      },
      resolve: (_root, args, context) => changeLabel(context, kind, numericId(type, args.id), args.input),
    }),
    [`delete${type}`]: t.field({
      type: ref,
      description: `Deletes a ${kind} and returns its last state. ${LABELS[kind].inUseBlocksDelete ? 'Errors: NOT_FOUND; CONFLICT if contacts use it.' : 'Its members remain contacts. Errors: NOT_FOUND.'}`,
      authScopes: scope('delete'),
      args: { id: t.arg.id({ required: true, description: `Global id or databaseId of the ${kind}.` }) },
      resolve: (_root, args, context) => removeLabel(context, kind, numericId(type, args.id)),
    }),
    [`create${plural}`]: t.field({
      type: Created,
      description: `Creates up to ${MAX_BATCH} ${list} in one transaction; invalid rows are reported in \`errors\`.`,
      authScopes: scope('write'),
      args: {
        input: t.arg({ type: [BatchInput], required: true, description: `Values of 1 to ${MAX_BATCH} new ${list}.` }),
        idempotencyKey: t.arg.string({ description: IDEMPOTENCY_KEY }),
      },
      resolve: (_root, args, context) => createLabels(context, kind, batch(args.input, 'input'), args.idempotencyKey),
    }),
    [`delete${plural}`]: t.field({
      type: Deleted,
      description: `Deletes up to ${MAX_BATCH} ${list} in one transaction.`,
      authScopes: scope('delete'),
      args: {
        ids: t.arg.idList({ required: true, description: `Global ids or databaseIds of 1 to ${MAX_BATCH} ${list}.` }),
      },
      resolve: (_root, args, context) =>
        removeLabels(
          context,
          kind,
          batch(args.ids, 'ids').map(id => inputId(type, String(id), 'ids')),
        ),
    }),
  }));
  return ref;
}

async function labelById(context: Context, kind: LabelKind, id: number): Promise<LabelRow> {
  const [label] = await getLabels(context.db.read, tenantOf(context), kind, [id]);
  if (!label) throw notFound(LABELS[kind].type);
  return label;
}

export const Group = defineLabel('group');
export const Source = defineLabel('source');
export const Status = defineLabel('status');

builder.objectField(Group, 'contactsCount', t =>
  t.int({
    description: 'Number of contacts in the group.',
    authScopes: { anyScope: ['groups:read', 'groups:write', 'groups:delete'] },
    resolve: (group, _args, context) => memberCountLoader(context).load(group.id),
  }),
);

const GroupMembersInput = builder.inputType('GroupMembersInput', {
  description: 'Contacts to add to a group or to remove from it.',
  fields: t => ({
    groupId: t.id({ required: true, description: 'Global id or databaseId of the group.' }),
    contactIds: t.idList({ required: true, description: `Global ids or databaseIds of 1 to ${MAX_MEMBERS} contacts.` }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const GroupMembersResult = builder.objectRef<MembersChange>('GroupMembersResult').implement({
  description: 'Result of a change of group members.',
  fields: t => ({
    group: t.field({ type: Group, description: 'The group after the change.', resolve: change => change.group }),
    count: t.exposeInt('count', { description: 'Number of contacts that were added or removed.' }),
  }),
});

builder.mutationFields(t => {
  const members = (action: 'add' | 'remove', description: string) =>
    t.field({
      type: GroupMembersResult,
      description,
      authScopes: { scope: 'groups:write' },
      args: { input: t.arg({ type: GroupMembersInput, required: true, description: 'The group and the contacts.' }) },
      resolve: (_root, { input }, context) =>
        changeMembers(context, action, {
          groupId: numericId('Group', input.groupId),
          contactIds: input.contactIds.map(id => inputId('Contact', String(id), 'contactIds')),
          idempotencyKey: input.idempotencyKey,
        }),
    });
  return {
    addContactsToGroup: members(
      'add',
      'Adds contacts to a group; present members are not counted again. Errors: NOT_FOUND, VALIDATION_ERROR.',
    ),
    removeContactsFromGroup: members(
      'remove',
      'Removes contacts from a group; they remain contacts. Errors: NOT_FOUND, VALIDATION_ERROR.',
    ),
  };
});
