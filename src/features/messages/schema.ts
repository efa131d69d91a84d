import { notFound } from '../../core/errors.ts';
import { uuidOf } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { selectionOf } from '../../schema/selection.ts';
import { channelLoader } from '../channels/loaders.ts';
import { Channel } from '../channels/schema.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import { messagePage } from './list.ts';
import { contactWindowLoader, messageByWamidLoader, windowLoader } from './loaders.ts';
import { markRead } from './mark-read.ts';
import type { MessageError, MessageRow } from './message.ts';
import { getMessages, getMessagesByWamid } from './messages.sql.ts';
import { MERGED_IN_SEND } from './send/merge-fields.ts';
import { freeFormFields, sendInputOf } from './send/send-input.ts';
import { MAX_TEXT, sendText } from './send/send-text.ts';
import { ServiceWindow } from './service-window.ts';
import { windowOf } from './window.ts';

const Direction = builder.enumType('MessageDirection', {
  description: 'Direction of a message.',
  values: {
    INBOUND: { value: 'inbound', description: 'From a person to the business.' },
    OUTBOUND: { value: 'outbound', description: 'From the business to a person.' },
  } as const,
});

const MessageStatus = builder.enumType('MessageStatus', {
  description: 'Progress of a message. It only moves forward.',
  values: {
    QUEUED: { value: 'queued', description: 'Accepted by this gateway, not yet by the network.' },
    SENT: { value: 'sent', description: 'Accepted by the network.' },
    DELIVERED: { value: 'delivered', description: "Delivered to the recipient's device." },
    READ: { value: 'read', description: 'Read by the recipient.' },
    FAILED: { value: 'failed', description: 'Permanently failed; see `error`.' },
    CANCELLED: { value: 'cancelled', description: 'Cancelled before it was sent; see `error`.' },
    RECEIVED: { value: 'received', description: 'Received from a person.' },
  } as const,
});

const MessageErrorType = builder.objectRef<MessageError>('MessageError').implement({
  description: 'Error that the network reported for a message.',
  fields: t => ({
    code: t.exposeInt('code', { description: 'Error code of the network, for example 131047.' }),
    title: t.exposeString('title', { description: 'Short meaning of the code.' }),
    details: t.exposeString('details', { description: 'Details for this message; null if there are none.' }),
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
    databaseId: t.exposeString('id', { description: 'UUID of the message, as used by the REST API.' }),
    direction: t.field({ type: Direction, description: 'INBOUND or OUTBOUND.', resolve: message => message.direction }),
    type: t.exposeString('type', {
      description: "Message type in the network's terms, for example text, image, button, reaction or unsupported.",
    }),
    text: t.exposeString('body', {
      nullable: true,
      description: 'Text, caption, button title or emoji; null if the type has none.',
    }),
    content: t.field({
      type: 'JSON',
      description: "Type-specific content besides the text, in the network's format.",
      resolve: message => message.content,
    }),
    status: t.field({
      type: MessageStatus,
      description: 'Progress of the message.',
      resolve: message => message.status,
    }),
    error: t.field({
      type: MessageErrorType,
      nullable: true,
      description: 'Why the message failed, was cancelled or could not be displayed; null otherwise.',
      resolve: message => message.error,
    }),
    wamid: t.exposeString('wamid', {
      nullable: true,
      description: 'Id of the message on the network; null until the network accepted it.',
    }),
    replyToWamid: t.exposeString('reply_to_wamid', {
      nullable: true,
      description: 'Network id (wamid) of the message that this one answers; null if it answers none.',
    }),
    isRead: t.boolean({
      description: 'Whether the recipient has read the message.',
      resolve: message => message.read_at !== null,
    }),
    phone: t.string({
      nullable: true,
      description:
        'Present phone number of the contact in E.164 format; null if the network identifies the person only by a user id.',
      resolve: async (message, _args, context) =>
        message.phone === undefined
          ? ((await contactLoader(context).load(message.contact_id))?.phone ?? null)
          : message.phone,
    }),
    contactCreated: t.boolean({
      nullable: true,
      description: 'Whether this send created the contact. Set only in the response of the mutation, null elsewhere.',
      resolve: ({ contact_created }) => contact_created ?? null,
    }),
    contactId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the contact.',
      resolve: message => message.contact_id,
    }),
    conversationId: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The databaseId of the conversation; null for a message in a group chat.',
      resolve: message => message.conversation_id,
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact; null if it was deleted.',
      authScopes: { scope: 'contacts:read' },
      resolve: (message, _args, context) => contactLoader(context).load(message.contact_id),
    }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The channel that sent or received the message.',
      authScopes: { scope: 'channels:read' },
      resolve: (message, _args, context) => channelLoader(context).load(message.channel_id),
    }),
    serviceWindow: t.field({
      type: ServiceWindow,
      description: 'Whether free-form messages can be sent in this conversation now.',
      resolve: async (message, _args, context) => {
        const expiresAt =
          message.window_expires_at === undefined && message.conversation_id !== null
            ? await windowLoader(context).load(message.conversation_id)
            : message.window_expires_at;
        return windowOf(expiresAt ?? null, context.clock.now());
      },
    }),
    sentAt: t.expose('sent_at', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time at which the network accepted the message; for an inbound message, time at which the person sent it.',
    }),
    deliveredAt: t.expose('delivered_at', {
      type: 'DateTime',
      nullable: true,
      description: "Time of delivery to the recipient's device; null if not yet delivered.",
    }),
    readAt: t.expose('read_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the message was read; null if unread.',
    }),
    failedAt: t.expose('failed_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the failure; null if it did not fail.',
    }),
    createdAt: t.expose('created_at', {
      type: 'DateTime',
      description: 'Time at which the gateway accepted or received the message.',
    }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

builder.objectField(Message, 'replyTo', t =>
  t.field({
    type: Message,
    nullable: true,
    description: 'The message that this one answers or reacts to; null if there is none or it is not stored.',
    authScopes: { scope: 'messages:read' },
    resolve: ({ reply_to_wamid }, _args, context) =>
      reply_to_wamid === null ? null : messageByWamidLoader(context).load(reply_to_wamid),
  }),
);

const MessageFilter = builder.inputType('MessageFilter', {
  description: 'Conditions for messages; all of them must hold.',
  fields: t => ({
    type: t.field({ type: StringFilter, description: "Message type in the network's terms." }),
    status: t.field({ type: enumFilter(MessageStatus), description: 'Progress of the message.' }),
    direction: t.field({ type: enumFilter(Direction), description: 'INBOUND or OUTBOUND.' }),
    conversationId: t.field({ type: IDFilter, description: 'The databaseId of the conversation.' }),
    contactId: t.field({ type: IDFilter, description: 'Id of the contact.' }),
    channelId: t.field({ type: IDFilter, description: 'Id of the channel.' }),
    wamid: t.field({ type: StringFilter, description: "The network's message id (wamid)." }),
    createdAt: t.field({
      type: DateTimeFilter,
      description: 'Time at which the gateway accepted or received the message.',
    }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change.' }),
  }),
});

const MessageOrder = orderOf('Message', 'messages', {
  ID: { value: 'id', description: 'Chronological order.' },
  CREATED_AT: { value: 'createdAt', description: 'Time at which the gateway accepted or received the message.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
});

builder.queryFields(t => ({
  messages: t.field({
    type: connectionOf('Message', Message),
    description: "Lists the tenant's messages, newest first by default.",
    authScopes: { scope: 'messages:read' },
    args: {
      ...listArgs(MessageFilter, MessageOrder),
    },
    resolve: (_root, args, context, info) => messagePage(context, args, selectionOf(info)),
  }),
  message: t.field({
    type: Message,
    nullable: true,
    description: 'Returns one message. Errors: NOT_FOUND.',
    authScopes: { scope: 'messages:read' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id, databaseId or network id (wamid) of the message.' }),
    },
    resolve: async (_root, { id }, context) => {
      const [message] = /^wamid\./.test(id)
        ? await getMessagesByWamid(context.db.read, tenantOf(context), [id])
        : await getMessages(context.db.read, tenantOf(context), [uuidOf('Message', id)]);
      if (!message) throw notFound('Message');
      return message;
    },
  }),
}));

const SendTextMessageInput = builder.inputType('SendTextMessageInput', {
  description: 'A text message to one recipient.',
  fields: t => ({
    ...freeFormFields(t),
    text: t.string({
      required: true,
      description: `Text of the message, at most ${MAX_TEXT} characters after merging. ${MERGED_IN_SEND}`,
    }),
    previewUrl: t.boolean({ description: 'Whether WhatsApp shows a preview of the first link. Default: false.' }),
  }),
});

builder.mutationField('sendTextMessage', t =>
  t.field({
    type: Message,
    description:
      'Sends a text. The returned message is stored durably and will be sent. Errors: VALIDATION_ERROR, CONTACT_OPTED_OUT, OUTSIDE_SERVICE_WINDOW, MESSAGING_NOT_CONFIGURED, FEATURE_LIMIT_EXCEEDED.',
    authScopes: { scope: 'messages:send' },
    args: {
      input: t.arg({ type: SendTextMessageInput, required: true, description: 'The message and its recipient.' }),
    },
    resolve: (_root, { input }, context) => sendText(context, sendInputOf(input)),
  }),
);

builder.objectField(Contact, 'serviceWindow', t =>
  t.field({
    type: ServiceWindow,
    description: 'Whether free-form messages can be sent to this contact now, from the default channel.',
    resolve: async (contact, _args, context) => {
      const expiresAt =
        contact.window_expires_at === undefined
          ? await contactWindowLoader(context).load(contact.id)
          : contact.window_expires_at;
      return windowOf(expiresAt, context.clock.now());
    },
  }),
);

builder.mutationField('markMessageRead', t =>
  t.field({
    type: Message,
    description:
      "Marks an inbound message, and those before it, as read on the sender's device. Errors: NOT_FOUND, VALIDATION_ERROR.",
    authScopes: { scope: ['messages:read', 'messages:send'] },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the message.' }) },
    resolve: (_root, { id }, context) => markRead(context, uuidOf('Message', id)),
  }),
);
