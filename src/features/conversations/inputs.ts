import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { DateTimeFilter, enumFilter, filterOf, IDFilter, IntFilter, orderOf } from '../../schema/lists.ts';
import { ContactFilter } from '../contacts/inputs.ts';

export const ConversationStatusEnum = builder.enumType('ConversationStatus', {
  description: 'Who has to do something about a conversation.',
  values: {
    OPEN: { value: 'open', description: 'People answer.' },
    PENDING: { value: 'pending', description: 'A bot has the conversation.' },
    SNOOZED: { value: 'snoozed', description: 'Hidden from the inbox until a time, or until the person writes.' },
    CLOSED: { value: 'closed', description: 'Done, until the person writes.' },
  } as const,
});

export const ConversationFilter = filterOf('Conversation', 'conversations', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the conversation.' }),
  status: t.field({ type: enumFilter(ConversationStatusEnum), description: 'Status of the conversation.' }),
  assigneeId: t.field({
    type: IDFilter,
    description: 'Id of the assignee; `isNull: true` finds unassigned conversations.',
  }),
  channelId: t.field({ type: IDFilter, description: 'Id of the channel.' }),
  contactId: t.field({ type: IDFilter, description: 'Id of the contact.' }),
  contact: t.field({
    type: ContactFilter,
    description: 'What holds for the contact; a level of nesting. Requires the scope `contacts:read`.',
  }),
  tagId: t.field({ type: IDFilter, description: 'Id of a tag; `isNull: true` finds conversations without tags.' }),
  unreadCount: t.field({ type: IntFilter, description: 'Number of unread messages.' }),
  waitingSince: t.field({ type: DateTimeFilter, description: 'Since when the person waits for an answer.' }),
  windowExpiresAt: t.field({ type: DateTimeFilter, description: 'End of the service window.' }),
  lastActivityAt: t.field({ type: DateTimeFilter, description: 'Time of the last message.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
  updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
}));

export const ConversationOrder = orderOf('Conversation', 'conversations', {
  ID: { value: 'id', description: 'Order of creation.' },
  LAST_ACTIVITY_AT: { value: 'lastActivityAt', description: 'Time of the last message.' },
  WAITING_SINCE: { value: 'waitingSince', description: 'Since when the person waits for an answer.' },
  WINDOW_EXPIRES_AT: { value: 'windowExpiresAt', description: 'End of the service window.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
});

const change = (t: InputFields) => ({
  status: t.field({ type: ConversationStatusEnum, description: 'New status; unchanged if omitted.' }),
  snoozedUntil: t.field({
    type: 'DateTime',
    description: 'With SNOOZED: when the conversation opens again. Null or omitted: when the person writes.',
  }),
  assigneeId: t.id({
    description: 'Global id or databaseId of the new assignee; null: unassigned.',
  }),
  addTagIds: t.idList({ description: 'Ids of tags to add, at most 50.' }),
  removeTagIds: t.idList({ description: 'Ids of tags to remove.' }),
});

export const ConversationInput = builder.inputType('ConversationInput', {
  description: 'Changes that several conversations get. Omitted fields keep their values.',
  fields: change,
});

export const UpdateConversationInput = builder.inputType('UpdateConversationInput', {
  description: 'Changes to a conversation. Omitted fields keep their values.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the conversation.' }),
    expectedAssigneeId: t.id({
      description:
        'The expected assignee; null: unassigned. With another assignee, nothing is changed, and the result has a ConflictError.',
    }),
    expectedLastMessageId: t.id({
      description:
        'Global id or databaseId of the last message of the person that the caller knows; where the person has not written, of the last message. If the person has written after it, nothing is changed, with a ConflictError whose `current` is the new message.',
    }),
    ...change(t),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

export const MarkConversationReadInput = builder.inputType('MarkConversationReadInput', {
  description: 'Up to where a conversation was read.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the conversation.' }),
    upToMessageId: t.id({ description: 'Id of an inbound message. Default: the last one.' }),
    showTyping: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Whether to show the person a typing indicator, for 25 seconds or until a message is sent.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});
