import { builder } from '../../builder.ts';
import type { Context } from '../../context.ts';
import { invalid, notFound } from '../../errors.ts';
import { inputId, numericId } from '../../global-ids.ts';
import { selectionOf } from '../../graphql/selection.ts';
import type { Scope } from '../../scopes.ts';
import { tenantOf } from '../caller.ts';
import { connectionOf, DateTimeFilter, IDFilter, listArgs, orderOf, StringFilter } from '../lists/schema.ts';
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
const KEY = 'Makes a repeated request the same one for 24 hours (at most 255 characters).';

const BatchError = builder.objectRef<LabelBatchError>('BatchError').implement({
  description: 'Why one row of a batch was not accepted.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Which row, counted from 0.' }),
    field: t.exposeString('field', { description: 'Which of its fields.' }),
    messages: t.exposeStringList('messages', { description: 'What is wrong with it.' }),
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
        description: 'The number that REST knows it by.',
        resolve: label => label.id,
      }),
      name: t.exposeString('name', { description: 'Its name, unique in the tenant whatever the case.' }),
      createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
      updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed.' }),
    }),
  });
  if (isStatus) {
    builder.objectField(ref, 'color', t =>
      t.string({ description: 'As `#RRGGBB`.', resolve: label => label.color ?? '#757575' }),
    );
  }

  const Filter = builder.inputType(`${type}Filter`, {
    description: `Which ${list} a list shows.`,
    fields: t => ({
      id: t.field({ type: IDFilter, description: 'By id.' }),
      name: t.field({ type: StringFilter, description: 'By name.' }),
      createdAt: t.field({ type: DateTimeFilter, description: 'By when it was made.' }),
      updatedAt: t.field({ type: DateTimeFilter, description: 'By when it was last changed.' }),
    }),
  });
  const Order = orderOf(type, list, {
    ID: { value: 'id', description: 'The order in which they were made.' },
    NAME: { value: 'name', description: 'The name.' },
    CREATED_AT: { value: 'createdAt', description: 'When it was made.' },
    UPDATED_AT: { value: 'updatedAt', description: 'When it was last changed.' },
  });

  const input = (name: string, about: string, nameRequired: boolean, withKey: boolean) =>
    builder.inputRef<LabelInput & { idempotencyKey?: string | null }>(name).implement({
      description: about,
      fields: t => ({
        name: t.string({ required: nameRequired as false, description: 'Its name (1 to 150 characters).' }),
        ...(isStatus && { color: t.string({ description: 'As `#RRGGBB`.' }) }),
        ...(withKey && { idempotencyKey: t.string({ description: KEY }) }),
      }),
    });
  const CreateInput = input(`Create${type}Input`, `A new ${kind}.`, true, true);
  const UpdateInput = input(`Update${type}Input`, `What to change of a ${kind}; what is not given stays.`, false, true);
  const BatchInput = input(`Create${plural}Item`, `A new ${kind} in a batch.`, true, false);

  const Created = builder.objectRef<CreatedLabels>(`Create${plural}Result`).implement({
    description: `What a batch of new ${list} came to.`,
    fields: t => ({
      created: t.field({ type: [ref], description: 'What was made.', resolve: result => [...result.created] }),
      errors: t.field({
        type: [BatchError],
        description: 'What was not, and why.',
        resolve: result => [...result.errors],
      }),
    }),
  });
  const idList = (ids: readonly number[]) => ids.map(id => id);
  const Deleted = builder.objectRef<DeletedLabels>(`Delete${plural}Result`).implement({
    description: `What the removal of several ${list} came to.`,
    fields: t => ({
      deletedIds: t.field({
        type: ['BigInt'],
        description: 'Database ids of what was removed.',
        resolve: result => idList(result.deletedIds),
      }),
      notFoundIds: t.field({
        type: ['BigInt'],
        description: 'Database ids that do not exist.',
        resolve: result => idList(result.notFoundIds),
      }),
      inUseIds: t.field({
        type: ['BigInt'],
        description: 'Database ids that contacts still use.',
        resolve: result => idList(result.inUseIds),
      }),
    }),
  });

  builder.queryFields(t => ({
    [list]: t.field({
      type: connectionOf(type, ref),
      description: `The ${list} of the tenant.`,
      authScopes: scope('read'),
      args: {
        ...listArgs(Filter, Order),
      },
      resolve: (_root, args, context, info) => labelPage(context, kind, args, selectionOf(info)),
    }),
    [kind]: t.field({
      type: ref,
      nullable: true,
      description: `One ${kind}, by global id or databaseId.`,
      authScopes: scope('read'),
      args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
      resolve: (_root, { id }, context) => labelById(context, kind, numericId(type, id)),
    }),
  }));

  builder.mutationFields(t => ({
    [`create${type}`]: t.field({
      type: ref,
      description: `Makes a ${kind}.`,
      authScopes: scope('write'),
      args: { input: t.arg({ type: CreateInput, required: true, description: 'What it is to be.' }) },
      resolve: (_root, args, context) => createLabel(context, kind, args.input),
    }),
    [`update${type}`]: t.field({
      type: ref,
      description: `Changes a ${kind}.`,
      authScopes: scope('write'),
      args: {
        id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
        input: t.arg({ type: UpdateInput, required: true, description: 'What to change; what is left out stays.' }),
      },
      resolve: (_root, args, context) => changeLabel(context, kind, numericId(type, args.id), args.input),
    }),
    [`delete${type}`]: t.field({
      type: ref,
      description: `Removes a ${kind}${LABELS[kind].inUseBlocksDelete ? ' that no contact uses' : '; its members stay contacts'}. Answers what it was.`,
      authScopes: scope('delete'),
      args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
      resolve: (_root, args, context) => removeLabel(context, kind, numericId(type, args.id)),
    }),
    [`create${plural}`]: t.field({
      type: Created,
      description: `Makes up to ${MAX_BATCH} ${list} in one transaction.`,
      authScopes: scope('write'),
      args: {
        input: t.arg({ type: [BatchInput], required: true, description: 'What they are to be.' }),
        idempotencyKey: t.arg.string({ description: KEY }),
      },
      resolve: (_root, args, context) => createLabels(context, kind, batch(args.input, 'input'), args.idempotencyKey),
    }),
    [`delete${plural}`]: t.field({
      type: Deleted,
      description: `Removes up to ${MAX_BATCH} ${list} in one transaction.`,
      authScopes: scope('delete'),
      args: { ids: t.arg.idList({ required: true, description: 'Their global ids or databaseIds.' }) },
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
    description: 'How many contacts are in it.',
    resolve: (group, _args, context) => context.loaders.memberCount.load(group.id),
  }),
);

const GroupMembersInput = builder.inputType('GroupMembersInput', {
  description: 'Contacts of a group.',
  fields: t => ({
    groupId: t.id({ required: true, description: 'The group.' }),
    contactIds: t.idList({ required: true, description: `1 to ${MAX_MEMBERS} contacts.` }),
    idempotencyKey: t.string({ description: KEY }),
  }),
});

const GroupMembersResult = builder.objectRef<MembersChange>('GroupMembersResult').implement({
  description: 'What a change of members came to.',
  fields: t => ({
    group: t.field({ type: Group, description: 'The group.', resolve: change => change.group }),
    count: t.exposeInt('count', { description: 'How many contacts are new in it, or gone from it.' }),
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
    addContactsToGroup: members('add', 'Puts contacts into a group; those already there stay.'),
    removeContactsFromGroup: members('remove', 'Takes contacts out of a group; they stay contacts.'),
  };
});
