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
import { draftOf } from '../content/draft.ts';
import { MessageContent } from '../content/union-schema.ts';
import { ContentInput } from '../send/content-schema.ts';
import { type CannedReplyRow, MAX_SHORTCUT, MAX_TITLE } from './canned-reply.ts';
import { changeCannedReply, createCannedReply, removeCannedReply } from './change.ts';
import { CANNED_REPLY_COLUMNS, getCannedReplies } from './store.ts';

export const CannedReply = builder.objectRef<CannedReplyRow>('CannedReply');

builder.node(CannedReply, {
  name: 'CannedReply',
  description: 'A message written in advance, which staff send by a shortcut.',
  id: { resolve: reply => reply.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('conversations:read', getCannedReplies),
  fields: t => ({
    databaseId: databaseId(t),
    shortcut: t.exposeString('shortcut', {
      description: 'What staff type to find it; unique in the account, ignoring case.',
    }),
    title: t.exposeString('title', { description: 'What lists show.' }),
    content: t.field({
      type: MessageContent,
      description: 'The content, with merge fields that are not filled yet.',
      resolve: ({ content }, _args, context) => draftOf(tenantOf(context), content),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const column = listColumns('canned_replies', 't');
const id = column('id', 'bigint');
const shortcut = column('shortcut', 'text');
const title = column('title', 'text');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };
const CANNED_REPLIES: ListDefinition = {
  from: 'canned_replies t',
  tenantColumn: 't.tenant_id',
  filters: { id: { ...id, node: 'CannedReply' }, shortcut, title, ...dates },
  sorts: { id, shortcut, title, ...dates },
  id,
  defaultOrder: [{ column: shortcut, descending: false }],
  search: "search_fold(t.shortcut || ' ' || t.title)",
};

listQueries(CannedReply, {
  list: 'cannedReplies',
  one: 'cannedReply',
  noun: 'canned reply',
  plural: 'canned replies',
  description: 'Lists the canned replies, by shortcut.',
  scope: 'conversations:read',
  filter: t => ({
    shortcut: t.field({ type: StringFilter, description: 'Shortcut of the reply.' }),
    title: t.field({ type: StringFilter, description: 'Title of the reply.' }),
  }),
  order: {
    SHORTCUT: { value: 'shortcut', description: 'Shortcut of the reply.' },
    TITLE: { value: 'title', description: 'Title of the reply.' },
  },
  page: (context, args) =>
    readPage<CannedReplyRow>(
      context.db.read,
      CANNED_REPLIES,
      tenantOf(context),
      args,
      CANNED_REPLY_COLUMNS.map(one => `t.${one}` as const),
    ),
  get: getCannedReplies,
});

const CannedReplyPayload = entityPayload('cannedReply', CannedReply, 'The canned reply after the mutation.');
const SHORTCUT = `What staff type to find it: 1 to ${MAX_SHORTCUT} characters without white space; unique in the account, ignoring case.`;
const TITLE = `What lists show, 1 to ${MAX_TITLE} characters.`;
const CONTENT = 'The content, without `cannedReplyId`. Merge fields are filled when it is sent.';

mutation('createCannedReply', {
  description: 'Creates a canned reply.',
  scope: 'conversations:write',
  input: builder.inputType('CreateCannedReplyInput', {
    description: 'A new canned reply.',
    fields: t => ({
      shortcut: t.string({ required: true, description: SHORTCUT }),
      title: t.string({ required: true, description: TITLE }),
      content: t.field({ type: ContentInput, required: true, description: CONTENT }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: CannedReplyPayload,
  resolve: async (input, context) => ({ cannedReply: await createCannedReply(context, input) }),
});
mutation('updateCannedReply', {
  description: 'Changes a canned reply.',
  scope: 'conversations:write',
  input: builder.inputType('UpdateCannedReplyInput', {
    description: 'Changes to a canned reply. Omitted fields keep their values.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the canned reply.' }),
      shortcut: t.string({ description: SHORTCUT }),
      title: t.string({ description: TITLE }),
      content: t.field({ type: ContentInput, description: CONTENT }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: CannedReplyPayload,
  resolve: async ({ id: text, ...input }, context) => ({
    cannedReply: await changeCannedReply(context, requireId(tenantOf(context), 'CannedReply', text), input),
  }),
});
deleteMutation('CannedReply', {
  noun: 'canned reply',
  description: 'Deletes a canned reply.',
  scope: 'conversations:write',
  remove: removeCannedReply,
});
