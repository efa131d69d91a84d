import { notFound } from '../../../core/errors.ts';
import { inputId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { valueLoader } from '../../../schema/loaders.ts';
import { mutation } from '../../../schema/payload.ts';
import { StaffMember, StaffMemberPayload, staffLoader } from '../../tenancy/staff/schema.ts';
import { conversationLoader } from '../loaders.ts';
import { Conversation } from '../schema.ts';
import { followPresence } from './follow-presence.ts';
import { getPresences } from './presence.sql.ts';
import type { ConversationPresence, Presence, Viewer } from './presence.ts';
import { setPresence } from './set-presence.ts';

const presenceLoader = valueLoader<Presence>(getPresences, 'offline');

const PresenceEnum = builder.enumType('Presence', {
  description: 'Whether a staff member has a page open.',
  values: {
    ONLINE: { value: 'online', description: 'A page of theirs is in use.' },
    AWAY: { value: 'away', description: 'All pages of theirs are in the background.' },
    OFFLINE: { value: 'offline', description: 'No page of theirs was heard of for 30 seconds.' },
  } as const satisfies Record<string, { value: Presence; description: string }>,
});

builder.objectField(StaffMember, 'presence', t =>
  t.field({
    type: PresenceEnum,
    description: 'Whether they have a page open, as its sessions state it with `setPresence`.',
    resolve: ({ id }, _args, context) => presenceLoader(context).load(id),
  }),
);

mutation('setPresence', {
  description:
    'Reports the presence of the calling staff session: the open conversation, and whether an answer is being typed. Expires after 30 seconds: call it every 10, and at each change. It also ends with the `conversationPresence` stream of the session. NOT_FOUND for tokens, which belong to no staff member.',
  scope: 'conversations:read',
  input: builder.inputType('SetPresenceInput', {
    description: 'Presence of a staff session.',
    fields: t => ({
      presence: t.field({
        type: PresenceEnum,
        required: true,
        defaultValue: 'online',
        description: 'AWAY while the page is in the background, OFFLINE when it is left.',
      }),
      conversationId: t.id({
        description: 'Global id or databaseId of the conversation that is open; null or omitted: none.',
      }),
      isTyping: t.boolean({
        description: 'Whether an answer is being typed. True holds for 10 seconds; null or omitted: as before.',
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: StaffMemberPayload,
  resolve: async ({ presence, conversationId, isTyping }, context) => {
    const staffId = await setPresence(context, { presence, conversationId, isTyping: isTyping ?? undefined });
    const staffMember = await staffLoader(context).load(staffId);
    if (!staffMember) throw notFound('StaffMember');
    return { staffMember };
  },
});

const ConversationViewer = builder.objectRef<Viewer>('ConversationViewer').implement({
  description: 'A staff member who has a conversation open.',
  fields: t => ({
    staffMember: t.field({
      type: StaffMember,
      nullable: true,
      description: 'The staff member; null once they were deleted.',
      resolve: ({ staffId }, _args, context) => staffLoader(context).load(staffId),
    }),
    isTyping: t.exposeBoolean('isTyping', { description: 'Whether they type an answer or a note.' }),
  }),
});

const PresenceOfConversation = builder.objectRef<ConversationPresence>('ConversationPresence').implement({
  description: 'Who has a conversation open.',
  fields: t => ({
    conversation: t.field({
      type: Conversation,
      nullable: true,
      description: 'The conversation; null once it was deleted.',
      resolve: ({ conversationId }, _args, context) => conversationLoader(context).load(conversationId),
    }),
    viewers: t.expose('viewers', {
      type: [ConversationViewer],
      description: 'The staff members who have it open, the caller included.',
    }),
  }),
});

builder.subscriptionField('conversationPresence', t =>
  t.field({
    type: PresenceOfConversation,
    description:
      'Streams who has a conversation open and who types, then each change, at most one a second. When it ends, the calling session no longer counts as a viewer.',
    authScopes: { scope: 'conversations:read' },
    args: {
      conversationId: t.arg.id({ required: true, description: 'Global id or databaseId of the conversation.' }),
    },
    subscribe: (_root, { conversationId }, context) =>
      followPresence(context, inputId(tenantOf(context), 'Conversation', conversationId, 'conversationId')),
    resolve: presence => presence,
  }),
);
