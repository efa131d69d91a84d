import { builder } from '../../schema/builder.ts';
import { type Selection, selectionOf } from '../../schema/selection.ts';
import type { ConversationCounts, WantedCounts } from './counts.sql.ts';
import { followCounts, readCounts } from './counts.ts';
import { ConversationFilter } from './inputs.ts';

const Counts = builder.objectRef<ConversationCounts>('ConversationCounts').implement({
  description: 'How many conversations there are.',
  fields: t => ({
    open: t.exposeInt('open', { description: 'Number of open conversations.' }),
    pending: t.exposeInt('pending', { description: 'Number of pending conversations, which a bot has.' }),
    snoozed: t.exposeInt('snoozed', { description: 'Number of snoozed conversations.' }),
    closed: t.exposeInt('closed', {
      description: 'Number of closed conversations. Takes longer than the other counts of conversations.',
    }),
    unassigned: t.exposeInt('unassigned', { description: 'Number of open conversations without an assignee.' }),
    mine: t.exposeInt('mine', {
      description: 'Number of open conversations that are assigned to the calling staff member; 0 for tokens.',
    }),
    unreadConversations: t.exposeInt('unread_conversations', {
      description: 'Number of conversations with unread messages.',
    }),
    unreadMessages: t.exposeInt('unread_messages', {
      description: 'Number of unread messages. Takes longer than the counts of conversations.',
    }),
  }),
});

const wantedBy = (selection: Selection): WantedCounts => ({
  closed: selection.has('closed'),
  unreadMessages: selection.has('unreadMessages'),
});

const args = () =>
  builder.args(t => ({
    filter: t.field({ type: ConversationFilter, description: 'Counts only conversations that meet these conditions.' }),
  }));

builder.queryField('conversationCounts', t =>
  t.field({
    type: Counts,
    description: 'Counts conversations.',
    authScopes: { scope: 'conversations:read' },
    args: { ...args() },
    resolve: (_root, { filter }, context, info) => readCounts(context, filter, wantedBy(selectionOf(info))),
  }),
);

builder.subscriptionField('conversationCounts', t =>
  t.field({
    type: Counts,
    description: 'Streams the present counts of conversations, then each change, at most one a second.',
    authScopes: { scope: 'conversations:read' },
    args: { ...args() },
    subscribe: (_root, { filter }, context, info) => followCounts(context, filter, wantedBy(selectionOf(info))),
    resolve: counts => counts,
  }),
);
