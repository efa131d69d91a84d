import { builder } from '../../schema/builder.ts';
import { type Selection, selectionOf } from '../../schema/selection.ts';
import type { ConversationCounts, WantedCounts } from './counts.sql.ts';
import { followCounts, readCounts } from './counts.ts';
import { ConversationFilter } from './inputs.ts';

const Counts = builder.objectRef<ConversationCounts>('ConversationCounts').implement({
  description: 'How many conversations there are.',
  fields: t => ({
    open: t.exposeInt('open', { description: 'Open conversations.' }),
    pending: t.exposeInt('pending', { description: 'Those that a bot has.' }),
    snoozed: t.exposeInt('snoozed', { description: 'Snoozed ones.' }),
    closed: t.exposeInt('closed', { description: 'Closed ones, which takes longer than the counts of others.' }),
    unassigned: t.exposeInt('unassigned', { description: 'Open conversations without an assignee.' }),
    mine: t.exposeInt('mine', { description: 'Open ones that the calling staff member has; 0 for tokens.' }),
    unreadConversations: t.exposeInt('unread_conversations', { description: 'Those with unread messages.' }),
    unreadMessages: t.exposeInt('unread_messages', {
      description: 'Unread messages, which takes longer than the counts of conversations.',
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
