import { FieldErrorList } from '../../core/errors.ts';
import { inputId, optionalInputId, parseId, parseUuid, requireId } from '../../core/global-ids.ts';
import { NIL_UUID } from '../../core/ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { databaseId } from '../../schema/database-id.ts';
import { connectionOf, listArgs } from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { entityPayload, mutation } from '../../schema/payload.ts';
import { selectionOf } from '../../schema/selection.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import { messageLoader } from '../messages/loaders.ts';
import { Message, MessageConnection } from '../messages/schema.ts';
import { threadPage } from '../messages/thread.ts';
import { windowOf } from '../messages/window.ts';
import { ServiceWindow } from '../messages/window-schema.ts';
import { StaffMember, staffLoader } from '../tenancy/staff/schema.ts';
import { type ConversationUpdate, updateConversation } from './change.ts';
import {
  ConversationFilter,
  ConversationOrder,
  ConversationStatusEnum,
  MarkConversationReadInput,
  UpdateConversationInput,
} from './inputs.ts';
import { conversationPage } from './list.ts';
import { conversationLoader, tagLoader } from './loaders.ts';
import { markConversationRead } from './mark-read.ts';
import type { ConversationRow } from './page.sql.ts';
import { currentIds, getConversations, resolveConversation } from './state.sql.ts';
import { Tag } from './tags/schema.ts';
import type { TagRow } from './tags/tag.ts';
import { Thread, threadArgs } from './thread.ts';

export const Conversation = builder.objectRef<ConversationRow>('Conversation');

const loadTags = async (context: Context, ids: readonly number[]): Promise<readonly TagRow[]> =>
  (await tagLoader(context).loadMany(ids)).filter(tag => tag !== undefined && !(tag instanceof Error)) as TagRow[];

builder.node(Conversation, {
  name: 'Conversation',
  description: 'The messages between a contact and a channel, with their assignee and status.',
  interfaces: [Thread],
  id: { resolve: conversation => conversation.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('conversations:read', getConversations, currentIds),
  fields: t => ({
    databaseId: databaseId(t),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact.',
      authScopes: { scope: 'contacts:read' },
      // A list reads related rows with the page; elsewhere loaders batch them.
      resolve: ({ contact, contact_id }, _args, context) =>
        contact === undefined ? contactLoader(context).load(contact_id) : contact,
    }),
    contactId: t.id({
      description: 'The databaseId of the contact.',
      resolve: conversation => String(conversation.contact_id),
    }),
    status: t.expose('status', {
      type: ConversationStatusEnum,
      description: 'Who has to do something.',
    }),
    snoozedUntil: t.expose('snoozed_until', {
      type: 'DateTime',
      nullable: true,
      description: 'When a snoozed conversation opens again; null: when the person writes.',
    }),
    assignee: t.field({
      type: StaffMember,
      nullable: true,
      description: 'The assigned staff member; null if unassigned.',
      resolve: ({ assignee, assignee_id }, _args, context) =>
        assignee === undefined && assignee_id !== null ? staffLoader(context).load(assignee_id) : (assignee ?? null),
    }),
    unreadCount: t.exposeInt('unread_count', {
      description: 'Number of unread inbound messages, without reactions.',
    }),
    waitingSince: t.expose('waiting_since', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the oldest inbound message without an answer; null if the person does not wait.',
    }),
    serviceWindow: t.field({
      type: ServiceWindow,
      description: 'Whether free-form messages can be sent now.',
      resolve: ({ window_expires_at }, _args, context) => windowOf(window_expires_at, context.clock.now()),
    }),
    tags: t.field({
      type: [Tag],
      description: 'Tags of the conversation.',
      resolve: ({ tags, tag_ids }, _args, context) => (tags ?? loadTags(context, tag_ids)) as never,
    }),
    lastMessage: t.field({
      type: Message,
      nullable: true,
      description: 'The last message, without reactions; null if there is none.',
      authScopes: { scope: 'messages:read' },
      resolve: ({ last_message, last_message_id }, _args, context) =>
        last_message === undefined && last_message_id !== null
          ? messageLoader(context).load(last_message_id)
          : (last_message ?? null),
    }),
    lastActivityAt: t.expose('last_activity_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last message; one-time passwords do not count.',
    }),
    messages: t.field({
      type: MessageConnection,
      nullable: true,
      description: 'The messages, oldest first, without reactions.',
      authScopes: { scope: 'messages:read' },
      args: { ...threadArgs() },
      resolve: ({ id }, args, context) => threadPage(context, { column: 'conversation_id', id }, args),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

builder.objectField(Message, 'conversation', t =>
  t.field({
    type: Conversation,
    nullable: true,
    description: 'The conversation; null for a message in a group chat.',
    authScopes: { scope: 'conversations:read' },
    resolve: ({ conversation_id }, _args, context) =>
      conversation_id === null ? null : conversationLoader(context).load(conversation_id),
  }),
);

const ConversationConnection = connectionOf('Conversation', Conversation);

builder.objectField(Contact, 'conversations', t =>
  t.field({
    type: ConversationConnection,
    nullable: true,
    description: 'Conversations of the contact, one for each channel; the latest activity first by default.',
    authScopes: { scope: 'conversations:read' },
    args: { ...listArgs(ConversationFilter, ConversationOrder, { search: false, offset: false }) },
    resolve: ({ id }, args, context, info) =>
      conversationPage(context, args, selectionOf(info), { contactId: { eq: String(id) } }),
  }),
);

builder.queryFields(t => ({
  conversations: t.field({
    type: ConversationConnection,
    description:
      'Lists conversations, the latest activity first by default. `search` matches names, e-mail address, phone number and company of the contact, and requires the scope `contacts:read`.',
    authScopes: { scope: 'conversations:read' },
    args: { ...listArgs(ConversationFilter, ConversationOrder) },
    resolve: (_root, args, context, info) => conversationPage(context, args, selectionOf(info)),
  }),
  conversation: t.field({
    type: Conversation,
    nullable: true,
    description:
      'Returns one conversation; null if there is none. The id of a conversation that a merge of contacts joined with another returns the other one.',
    authScopes: { scope: 'conversations:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the conversation.' }) },
    resolve: async (_root, { id }, context) => {
      const key = parseId(tenantOf(context), 'Conversation', id);
      return (key !== undefined && (await resolveConversation(context.db.read, tenantOf(context), key))) || null;
    },
  }),
}));

const ConversationPayload = entityPayload('conversation', Conversation, 'The conversation after the mutation.');

type UpdateInput = typeof UpdateConversationInput.$inferInput;

/** The keys of an input's ids. @param prefix path of the change in the input @throws VALIDATION_ERROR */
export function changeOf(context: Context, change: Omit<UpdateInput, 'id'>, prefix = '') {
  const errors = new FieldErrorList();
  errors.refuseNull(change, ['status'], prefix);
  errors.throwIfAny();
  const { status, snoozedUntil, assigneeId, addTagIds, removeTagIds } = change;
  const tenantId = tenantOf(context);
  const tagKeys = (ids: readonly string[] | null | undefined, field: string) =>
    ids?.map((id, index) => inputId(tenantId, 'Tag', id, `${prefix}${field}.${index}`));
  return {
    ...(status != null && { status }),
    snoozedUntil,
    assigneeId: optionalInputId(tenantId, 'StaffMember', assigneeId, `${prefix}assigneeId`),
    addTagIds: tagKeys(addTagIds, 'addTagIds'),
    removeTagIds: tagKeys(removeTagIds, 'removeTagIds'),
  } satisfies ConversationUpdate;
}

mutation('updateConversation', {
  description: 'Changes status, assignee and tags of a conversation.',
  scope: 'conversations:write',
  input: UpdateConversationInput,
  payload: ConversationPayload,
  resolve: async ({ id, expectedAssigneeId, expectedLastMessageId: last, idempotencyKey, ...input }, context) => {
    const tenantId = tenantOf(context);
    const change = {
      ...changeOf(context, input),
      expectedAssigneeId: optionalInputId(tenantId, 'StaffMember', expectedAssigneeId, 'expectedAssigneeId'),
      expectedLastMessageId: last == null ? undefined : (parseUuid(tenantId, 'Message', last) ?? NIL_UUID),
      idempotencyKey,
    };
    return { conversation: await updateConversation(context, requireId(tenantId, 'Conversation', id), change) };
  },
});

mutation('markConversationRead', {
  description: 'Marks a conversation as read, also where the person sees it, if the network can mark the message.',
  scope: ['conversations:write', 'messages:send'],
  input: MarkConversationReadInput,
  payload: ConversationPayload,
  resolve: async ({ id, upToMessageId, showTyping }, context) => ({
    conversation: await markConversationRead(context, requireId(tenantOf(context), 'Conversation', id), {
      upToMessageId:
        upToMessageId == null ? undefined : (parseUuid(tenantOf(context), 'Message', upToMessageId) ?? NIL_UUID),
      showTyping,
    }),
  }),
});
