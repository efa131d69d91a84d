import { brandWithType } from '@pothos/core';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../database/list.ts';
import { builder } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { DATES, listQueries } from '../../schema/list-queries.ts';
import { IDFilter, StringFilter } from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import { groupChatIdLoader, lastOfGroupChatLoader, messageLoader } from '../messages/loaders.ts';
import { Message, MessageConnection } from '../messages/schema.ts';
import { threadPage } from '../messages/thread.ts';
import { GROUP_CHAT_COLUMNS, getGroupChats, type PublicGroupChat } from './group-chats.sql.ts';
import { conversationLoader, groupChatLoader, participantsLoader } from './loaders.ts';
import { Conversation } from './schema.ts';
import { Thread, threadArgs } from './thread.ts';

export const GroupChat = builder.objectRef<PublicGroupChat>('GroupChat');

builder.node(GroupChat, {
  name: 'GroupChat',
  description:
    'A group chat of the network with the business number in it. It opens no service window, and no bot answers it.',
  interfaces: [Thread],
  id: { resolve: groupChat => groupChat.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('conversations:read', getGroupChats),
  fields: t => ({
    databaseId: databaseId(t),
    subject: t.exposeString('subject', { description: 'Subject; empty if the network has not reported it.' }),
    participants: t.field({
      type: [Contact],
      nullable: true,
      description:
        'The contacts in the group chat, as far as they are known: who wrote, and who joined since the number was connected.',
      authScopes: { scope: 'contacts:read' },
      resolve: async ({ id }, _args, context) => {
        const rows = await contactLoader(context).loadMany(await participantsLoader(context).load(id));
        return rows.flatMap(row => (row && !(row instanceof Error) ? [row] : []));
      },
    }),
    lastMessage: t.field({
      type: Message,
      nullable: true,
      description: 'The last message, without reactions; null if there is none.',
      authScopes: { scope: 'messages:read' },
      resolve: async ({ id }, _args, context) => {
        const last = await lastOfGroupChatLoader(context).load(id);
        return last ? messageLoader(context).load(last.message_id) : null;
      },
    }),
    lastActivityAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last message; null if there is none.',
      resolve: async ({ id }, _args, context) => (await lastOfGroupChatLoader(context).load(id))?.created_at ?? null,
    }),
    messages: t.field({
      type: MessageConnection,
      nullable: true,
      description: 'The messages, oldest first, without reactions.',
      authScopes: { scope: 'messages:read' },
      args: { ...threadArgs() },
      resolve: ({ id }, args, context) => threadPage(context, { column: 'group_chat_id', id }, args),
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When the gateway first heard of it.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

builder.objectField(Message, 'thread', t =>
  t.field({
    type: Thread,
    nullable: true,
    description: 'The conversation or group chat of the message.',
    authScopes: { scope: 'conversations:read' },
    resolve: async ({ id, conversation_id }, _args, context) => {
      if (conversation_id !== null) {
        const conversation = await conversationLoader(context).load(conversation_id);
        return conversation ? branded(conversation, Conversation) : null;
      }
      const groupChatId = await groupChatIdLoader(context).load(id);
      const groupChat = groupChatId === null ? undefined : await groupChatLoader(context).load(groupChatId);
      return groupChat ? branded(groupChat, GroupChat) : null;
    },
  }),
);

/** Tells which type of the interface a row has. */
function branded<Row extends object>(row: Row, type: Parameters<typeof brandWithType>[1]): Row {
  brandWithType(row, type);
  return row;
}

const column = listColumns('group_chats', 'g');
const id = column('id', 'bigint');
const subject = column('subject', 'text');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };
const GROUP_CHATS: ListDefinition = {
  from: 'group_chats g',
  tenantColumn: 'g.tenant_id',
  filters: {
    id: { ...id, node: 'GroupChat' },
    channelId: { ...column('channel_id', 'bigint'), node: 'Channel' },
    subject,
    ...dates,
  },
  sorts: { id, subject, ...dates },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(g.subject)',
};

listQueries(GroupChat, {
  list: 'groupChats',
  one: 'groupChat',
  noun: 'group chat',
  plural: 'group chats',
  description: 'Lists group chats, the latest first by default. `search` matches their subjects.',
  scope: 'conversations:read',
  filter: t => ({
    channelId: t.field({ type: IDFilter, description: 'Id of the channel.' }),
    subject: t.field({ type: StringFilter, description: 'Subject of the group chat.' }),
  }),
  order: {
    SUBJECT: { value: 'subject', description: 'Subject of the group chat.' },
  },
  idOrder: 'Order in which the group chats became known to the gateway.',
  dates: { createdAt: 'When the gateway first heard of it.', updatedAt: DATES.updatedAt },
  page: (context, args) =>
    readPage<PublicGroupChat>(
      context.db.read,
      GROUP_CHATS,
      tenantOf(context),
      args,
      GROUP_CHAT_COLUMNS.map(one => `g.${one}` as const),
    ),
  get: getGroupChats,
});
