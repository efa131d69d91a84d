import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { deleteMutation } from '../../../schema/delete-mutation.ts';
import { listQueries } from '../../../schema/list-queries.ts';
import { StringFilter } from '../../../schema/lists.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { changeTag, createTag, removeTag } from './change.ts';
import { getTags, TAG_COLUMNS } from './store.ts';
import { MAX_TAG_NAME, type TagRow } from './tag.ts';

export const Tag = builder.objectRef<TagRow>('Tag');

builder.node(Tag, {
  name: 'Tag',
  description: 'A word with a color by which conversations are sorted.',
  id: { resolve: tag => tag.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('conversations:read', getTags),
  fields: t => ({
    databaseId: databaseId(t),
    name: t.exposeString('name', { description: 'Name, unique in the account, ignoring case.' }),
    color: t.exposeString('color', { description: 'Color as `#rrggbb`.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const column = listColumns('tags', 't');
const id = column('id', 'bigint');
const name = column('name', 'text');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };
const TAGS: ListDefinition = {
  from: 'tags t',
  tenantColumn: 't.tenant_id',
  filters: { id: { ...id, node: 'Tag' }, name, ...dates },
  sorts: { id, name, ...dates },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: 'search_fold(t.name)',
};

listQueries(Tag, {
  list: 'tags',
  one: 'tag',
  noun: 'tag',
  plural: 'tags',
  description: 'Lists the tags of conversations, by name.',
  scope: 'conversations:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the tag.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the tag.' },
  },
  page: (context, args) =>
    readPage<TagRow>(
      context.db.read,
      TAGS,
      tenantOf(context),
      args,
      TAG_COLUMNS.map(one => `t.${one}` as const),
    ),
  get: getTags,
});

const TagPayload = entityPayload('tag', Tag, 'The tag after the mutation.');
const NAME = `Name, 1 to ${MAX_TAG_NAME} characters; unique in the account, ignoring case.`;
const COLOR = 'Color as `#RRGGBB`; default `#757575`.';

mutation('createTag', {
  description: 'Creates a tag.',
  scope: 'conversations:write',
  input: builder.inputType('CreateTagInput', {
    description: 'A tag to create.',
    fields: t => ({
      name: t.string({ required: true, description: NAME }),
      color: t.string({ description: COLOR }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: TagPayload,
  resolve: async (input, context) => ({ tag: await createTag(context, input) }),
});
mutation('updateTag', {
  description: 'Changes a tag.',
  scope: 'conversations:write',
  input: builder.inputType('UpdateTagInput', {
    description: 'Changes to a tag. Omitted fields keep their values.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the tag.' }),
      name: t.string({ description: NAME }),
      color: t.string({ description: COLOR }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: TagPayload,
  resolve: async ({ id: text, ...input }, context) => ({
    tag: await changeTag(context, requireId(tenantOf(context), 'Tag', text), input),
  }),
});
deleteMutation('Tag', {
  noun: 'tag',
  description: 'Deletes a tag, and takes it from all conversations.',
  scope: 'conversations:write',
  remove: removeTag,
});
