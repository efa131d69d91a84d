import { builder } from '../../builder.ts';
import { notFound } from '../../errors.ts';
import { uuidOf } from '../../global-ids.ts';
import { selectionOf } from '../../graphql/selection.ts';
import { tenantOf } from '../caller.ts';
import { Channel } from '../channels/schema.ts';
import { Contact } from '../contacts/schema.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../lists/schema.ts';
import { messagePage } from './list.ts';
import { markRead } from './mark-read.ts';
import type { MessageError, MessageRow } from './message.ts';
import { freeFormFields, sendInputOf } from './send-input.ts';
import { MAX_TEXT, sendText } from './send-text.ts';
import { ServiceWindow } from './service-window.ts';
import { getMessages } from './store.ts';
import { windowOf } from './window.ts';

const Direction = builder.enumType('MessageDirection', {
  description: 'Who wrote a message.',
  values: {
    INBOUND: { value: 'inbound', description: 'A person wrote to the business.' },
    OUTBOUND: { value: 'outbound', description: 'The business wrote to a person.' },
  } as const,
});

const MessageStatus = builder.enumType('MessageStatus', {
  description: 'How far a message has come. It only moves forward.',
  values: {
    QUEUED: { value: 'queued', description: 'Accepted by us, not yet by the network.' },
    SENT: { value: 'sent', description: 'Accepted by the network.' },
    DELIVERED: { value: 'delivered', description: "On the person's device." },
    READ: { value: 'read', description: 'Read by the person.' },
    FAILED: { value: 'failed', description: 'Not delivered, for good; see error.' },
    RECEIVED: { value: 'received', description: 'An inbound message.' },
  } as const,
});

const MessageErrorType = builder.objectRef<MessageError>('MessageError').implement({
  description: 'Why the network did not deliver a message, in its own words.',
  fields: t => ({
    code: t.exposeInt('code', { description: "The network's error code, such as 131047." }),
    title: t.exposeString('title', { description: 'What the code means.' }),
    details: t.exposeString('details', { description: 'What it means here.' }),
  }),
});

export const Message = builder.objectRef<MessageRow>('Message');

builder.node(Message, {
  name: 'Message',
  description: 'A message between the business and a person.',
  id: { resolve: message => message.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('messages:read')) return ids.map(() => undefined);
    const rows = await getMessages(
      context.db.read,
      tenantOf(context),
      ids.map(id => uuidOf('Message', String(id))),
    );
    return ids.map(id => rows.find(row => row.id === String(id).toLowerCase()));
  },
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'The UUID that REST knows it by.' }),
    direction: t.field({ type: Direction, description: 'Who wrote it.', resolve: message => message.direction }),
    type: t.exposeString('type', {
      description: "The network's word: text, image, button, reaction, unsupported and more.",
    }),
    text: t.exposeString('body', { nullable: true, description: 'Its text, caption, button title or emoji.' }),
    content: t.field({
      type: 'JSON',
      description: 'What the type has beside its text, as the network wrote it.',
      resolve: message => message.content,
    }),
    status: t.field({ type: MessageStatus, description: 'How far it has come.', resolve: message => message.status }),
    error: t.field({
      type: MessageErrorType,
      nullable: true,
      description: 'Why it failed, or could not be shown.',
      resolve: message => message.error,
    }),
    wamid: t.exposeString('wamid', {
      nullable: true,
      description: "The network's id; null until the network took it.",
    }),
    replyToWamid: t.exposeString('reply_to_wamid', {
      nullable: true,
      description: "The network's id of the message this one answers.",
    }),
    isRead: t.boolean({
      description: 'Whether the one it was for has read it.',
      resolve: message => message.read_at !== null,
    }),
    phone: t.string({
      nullable: true,
      description:
        "The person's number in E.164, as the contact has it now; null for one whom the network shows only by a user id.",
      resolve: async (message, _args, { loaders }) =>
        message.phone === undefined ? ((await loaders.contact.load(message.contact_id))?.phone ?? null) : message.phone,
    }),
    contactCreated: t.boolean({
      nullable: true,
      description: 'Whether this send made the contact; null but in the answer to the mutation that sent it.',
      resolve: ({ contact_created }) => contact_created ?? null,
    }),
    contactId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the contact.',
      resolve: message => message.contact_id,
    }),
    conversationId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the conversation with the contact on the channel.',
      resolve: message => message.conversation_id,
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The person; null once deleted.',
      authScopes: { scope: 'contacts:read' },
      resolve: (message, _args, context) => context.loaders.contact.load(message.contact_id),
    }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The business number.',
      authScopes: { scope: 'channels:read' },
      resolve: (message, _args, context) => context.loaders.channel.load(message.channel_id),
    }),
    serviceWindow: t.field({
      type: ServiceWindow,
      description: 'Whether free-form messages may be sent in this conversation now.',
      resolve: async (message, _args, context) => {
        const expiresAt =
          message.window_expires_at === undefined
            ? await context.loaders.window.load(message.conversation_id)
            : message.window_expires_at;
        return windowOf(expiresAt, context.clock.now());
      },
    }),
    sentAt: t.expose('sent_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When the network took it; for an inbound message, when the person wrote it.',
    }),
    deliveredAt: t.expose('delivered_at', {
      type: 'DateTime',
      nullable: true,
      description: "When it reached the person's device.",
    }),
    readAt: t.expose('read_at', { type: 'DateTime', nullable: true, description: 'When it was read.' }),
    failedAt: t.expose('failed_at', { type: 'DateTime', nullable: true, description: 'When it failed.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When we accepted or received it.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

builder.objectField(Message, 'replyTo', t =>
  t.field({
    type: Message,
    nullable: true,
    description: 'The message that this one answers or reacts to; null where we do not have it.',
    resolve: ({ reply_to_wamid }, _args, { loaders }) =>
      reply_to_wamid === null ? null : loaders.messageByWamid.load(reply_to_wamid),
  }),
);

const MessageFilter = builder.inputType('MessageFilter', {
  description: 'Which messages a list shows.',
  fields: t => ({
    type: t.field({ type: StringFilter, description: "By type, in the network's words." }),
    status: t.field({ type: enumFilter(MessageStatus), description: 'By status.' }),
    direction: t.field({ type: enumFilter(Direction), description: 'By direction.' }),
    conversationId: t.field({ type: IDFilter, description: 'By conversation.' }),
    contactId: t.field({ type: IDFilter, description: 'By contact.' }),
    channelId: t.field({ type: IDFilter, description: 'By channel.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when it was accepted or received.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'By when it last changed.' }),
  }),
});

const MessageOrder = orderOf('Message', 'messages', {
  ID: { value: 'id', description: 'The order in time.' },
  CREATED_AT: { value: 'createdAt', description: 'When it was accepted or received.' },
  UPDATED_AT: { value: 'updatedAt', description: 'When it last changed.' },
});

builder.queryFields(t => ({
  messages: t.field({
    type: connectionOf('Message', Message),
    description: 'The messages of the tenant, newest first where no order is asked for.',
    authScopes: { scope: 'messages:read' },
    args: {
      ...listArgs(MessageFilter, MessageOrder),
    },
    resolve: (_root, args, context, info) => messagePage(context, args, selectionOf(info)),
  }),
  message: t.field({
    type: Message,
    nullable: true,
    description: 'One message, by global id or databaseId.',
    authScopes: { scope: 'messages:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: async (_root, { id }, context) => {
      const [message] = await getMessages(context.db.read, tenantOf(context), [uuidOf('Message', id)]);
      if (!message) throw notFound('Message');
      return message;
    },
  }),
}));

const SendTextMessageInput = builder.inputType('SendTextMessageInput', {
  description: 'A text to one person.',
  fields: t => ({
    ...freeFormFields(t),
    text: t.string({
      required: true,
      description: `At most ${MAX_TEXT} characters after merging. Merge fields such as \`@{contact_first_name}\` are filled from the contact.`,
    }),
    previewUrl: t.boolean({ description: 'Show a preview of the first link.' }),
  }),
});

builder.mutationField('sendTextMessage', t =>
  t.field({
    type: Message,
    description: 'Sends a text. Once answered it is stored and will be sent, whatever happens to this process.',
    authScopes: { scope: 'messages:send' },
    args: { input: t.arg({ type: SendTextMessageInput, required: true, description: 'What to send, and to whom.' }) },
    resolve: (_root, { input }, context) => sendText(context, sendInputOf(input)),
  }),
);

builder.objectField(Contact, 'serviceWindow', t =>
  t.field({
    type: ServiceWindow,
    description: 'Whether free-form messages may be sent to this person now, from the default channel.',
    resolve: async (contact, _args, context) => {
      const expiresAt =
        contact.window_expires_at === undefined
          ? await context.loaders.contactWindow.load(contact.id)
          : contact.window_expires_at;
      return windowOf(expiresAt, context.clock.now());
    },
  }),
);

builder.mutationField('markMessageRead', t =>
  t.field({
    type: Message,
    description: 'Tells the person that an inbound message (and those before it) has been read.',
    authScopes: { scope: 'messages:send' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => markRead(context, uuidOf('Message', id)),
  }),
);
