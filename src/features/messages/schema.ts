import { IS_NUMERIC } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  IntFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { knownOrLoaded } from '../../schema/loaders.ts';
import { findByUuid, nodesByUuid } from '../../schema/nodes.ts';
import { oneOf } from '../../schema/one-of.ts';
import { selectionOf } from '../../schema/selection.ts';
import { channelLoader } from '../channels/loaders.ts';
import { Channel } from '../channels/schema.ts';
import { contactLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import { MESSAGE_TYPES, type MessageType, messageTypeOf } from './content/message-type.ts';
import { holdReasonLoader } from './dispatch/loaders.ts';
import { messagePage } from './list.ts';
import { contactWindowLoader, windowLoader } from './loaders.ts';
import type { MessageError, MessageRow } from './message.ts';
import { getMessages, getMessagesByWamid } from './messages.sql.ts';
import { errorClassOf } from './statuses/error-class.ts';
import { windowOf } from './window.ts';
import { ServiceWindow } from './window-schema.ts';

export const Direction = builder.enumType('MessageDirection', {
  description: 'Direction of a message.',
  values: {
    INBOUND: { value: 'inbound', description: 'From a person to the business.' },
    OUTBOUND: { value: 'outbound', description: 'From the business to a person.' },
  } as const,
});

export const MessageStatus = builder.enumType('MessageStatus', {
  description: 'Progress of a message. It only moves forward.',
  values: {
    SCHEDULED: { value: 'scheduled', description: 'Accepted by this gateway, to be sent later; see `scheduledAt`.' },
    QUEUED: { value: 'queued', description: 'Accepted by this gateway, not yet by the network.' },
    SENT: { value: 'sent', description: 'Accepted by the network.' },
    DELIVERED: { value: 'delivered', description: "Delivered to the recipient's device." },
    READ: { value: 'read', description: 'Read by the recipient.' },
    FAILED: { value: 'failed', description: 'Permanently failed; see `error`.' },
    CANCELLED: { value: 'cancelled', description: 'Cancelled before it was sent; see `error`.' },
    RECEIVED: { value: 'received', description: 'Received from a person.' },
  } as const,
});

const ErrorClassEnum = builder.enumType('ErrorClass', {
  description: 'What an error of the network means for the sender.',
  values: {
    TRANSIENT: { value: 'TRANSIENT', description: 'The same message can succeed a moment later.' },
    WAIT: { value: 'WAIT', description: 'A quota or a lock: the same message can succeed minutes to hours later.' },
    SENDER: { value: 'SENDER', description: 'The network stopped the business number or account.' },
    CREDENTIALS: { value: 'CREDENTIALS', description: 'The access token or its permissions.' },
    RECIPIENT: { value: 'RECIPIENT', description: 'The person cannot or must not get the message.' },
    REQUEST: { value: 'REQUEST', description: 'The message or its template has to be changed.' },
  } as const,
});

const MessageTypeEnum = builder.enumType('MessageType', {
  description: 'Type of a message.',
  values: Object.fromEntries(
    Object.entries(MESSAGE_TYPES).map(([word, description]) => [word, { value: word, description }]),
  ) as Record<MessageType, { value: MessageType; description: string }>,
});

export const MessageErrorType = builder.objectRef<MessageError>('MessageError').implement({
  description: 'Error that the network reported, or that the gateway decided.',
  fields: t => ({
    code: t.exposeInt('code', {
      description: 'Error code of the network, for example 131047; 0: decided by the gateway.',
    }),
    title: t.exposeString('title', { description: 'Short meaning of the code.' }),
    details: t.exposeString('details', { description: 'Details for this message; empty if there are none.' }),
    class: t.field({
      type: ErrorClassEnum,
      description: 'What the error means for the sender.',
      resolve: ({ code }) => errorClassOf(code),
    }),
  }),
});

export const Message = builder.objectRef<MessageRow>('Message');

builder.node(Message, {
  name: 'Message',
  description: 'A message between the business and a person.',
  id: { resolve: message => message.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('messages:read', getMessages),
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'UUID of the message, as used by the REST API.' }),
    direction: t.expose('direction', { type: Direction, description: 'INBOUND or OUTBOUND.' }),
    type: t.field({
      type: MessageTypeEnum,
      description: 'Type of the message, by its content.',
      resolve: message => messageTypeOf(message),
    }),
    networkType: t.exposeString('type', {
      description: "Type in the network's terms, for example text, image, button, reaction or unsupported.",
    }),
    text: t.exposeString('body', {
      nullable: true,
      description: 'Text, caption, button title or emoji; null if the type has none.',
    }),
    raw: t.field({
      type: 'JSON',
      description: "Type-specific content besides the text, in the network's format.",
      resolve: message => message.content,
    }),
    status: t.expose('status', {
      type: MessageStatus,
      description: 'Progress of the message.',
    }),
    statusReason: t.string({
      nullable: true,
      description:
        'Why a queued message, or a scheduled one whose time has come, waits: a rate limit, a paused channel, an error after which it is retried; null if it only waits for its turn.',
      resolve: ({ id, status }, _args, context) =>
        status === 'queued' || status === 'scheduled' ? holdReasonLoader(context).load(id) : null,
    }),
    error: t.expose('error', {
      type: MessageErrorType,
      nullable: true,
      description: 'Why the message failed, was cancelled or could not be displayed; null otherwise.',
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
      resolve: ({ phone, contact_id }, _args, context) =>
        phone === undefined
          ? contactLoader(context)
              .load(contact_id)
              .then(contact => contact?.phone)
          : phone,
    }),
    contactId: t.id({
      description: 'The databaseId of the contact.',
      extensions: { [IS_NUMERIC]: true },
      resolve: message => String(message.contact_id),
    }),
    conversationId: t.id({
      nullable: true,
      description: 'The databaseId of the conversation; null for a message in a group chat.',
      extensions: { [IS_NUMERIC]: true },
      resolve: ({ conversation_id }) => conversation_id?.toString(),
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
      resolve: ({ conversation_id, window_expires_at }, _args, context) =>
        knownOrLoaded(
          window_expires_at,
          () => (conversation_id === null ? Promise.resolve(null) : windowLoader(context).load(conversation_id)),
          expiresAt => windowOf(expiresAt, context.clock.now()),
        ),
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

export const MessageConnection = connectionOf('Message', Message);

export const MessageFilter = filterOf('Message', 'messages', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the message.' }),
  type: t.field({ type: enumFilter(MessageTypeEnum), description: 'Type of the message.' }),
  networkType: t.field({ type: StringFilter, description: "Type in the network's terms." }),
  templateId: t.field({ type: IDFilter, description: 'Id of the template.' }),
  campaignId: t.field({ type: IDFilter, description: 'Id of the campaign that sent the message.' }),
  errorCode: t.field({
    type: IntFilter,
    description: 'Error code of the network, of failed messages; 0: decided by the gateway.',
  }),
  errorClass: t.field({ type: enumFilter(ErrorClassEnum), description: 'Class of the error, of failed messages.' }),
  failedAt: t.field({ type: DateTimeFilter, description: 'Time of the failure.' }),
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
}));

export const MessageOrder = orderOf('Message', 'messages', {
  ID: { value: 'id', description: 'Chronological order.' },
  CREATED_AT: { value: 'createdAt', description: 'Time at which the gateway accepted or received the message.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change.' },
  FAILED_AT: { value: 'failedAt', description: 'Time of the failure; lists failed messages only.' },
});

const IdentifierInput = builder.inputType('MessageIdentifierInput', {
  description: 'One key of a message.',
  isOneOf: true,
  fields: t => ({
    id: t.id({ description: 'Global id or databaseId.' }),
    wamid: t.string({ description: 'Id of the message on the network.' }),
  }),
});

builder.queryFields(t => ({
  messages: t.field({
    type: MessageConnection,
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
    description: 'Returns one message; null if there is none.',
    authScopes: { scope: 'messages:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the message.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'Message', id, getMessages),
  }),
  messageByIdentifier: t.field({
    type: Message,
    nullable: true,
    description: 'Returns the message with a key; null if there is none.',
    authScopes: { scope: 'messages:read' },
    args: { identifier: t.arg({ type: IdentifierInput, required: true, description: 'A key of the message.' }) },
    resolve: async (_root, { identifier }, context) => {
      const { field, value } = oneOf(identifier, 'identifier');
      if (field === 'id') return findByUuid(context, 'Message', value, getMessages);
      return (await getMessagesByWamid(context.db.read, tenantOf(context), [value]))[0] ?? null;
    },
  }),
}));

builder.objectField(Contact, 'serviceWindow', t =>
  t.field({
    type: ServiceWindow,
    description: 'Whether free-form messages can be sent to this contact now, from the default channel.',
    resolve: ({ id, window_expires_at }, _args, context) =>
      knownOrLoaded(
        window_expires_at,
        () => contactWindowLoader(context).load(id),
        expiresAt => windowOf(expiresAt, context.clock.now()),
      ),
  }),
);
