import type { ObjectRef } from '@pothos/core';
import { EVENT_RESOURCES, type EventPayloads, resourceOf } from '../../core/events.ts';
import { encodeGlobalId } from '../../core/global-ids.ts';
import { isUuid } from '../../core/ids.ts';
import { tenantOf } from '../../core/principal.ts';
import type { LoggedEvent } from '../../events/bus.ts';
import { builder } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import type { PublicBotReply, PublicBotSkip } from '../bots/events.ts';
import { RuleType } from '../bots/preview-schema.ts';
import { Bot, botLoader } from '../bots/schema.ts';
import { campaignLoader } from '../campaigns/loaders.ts';
import { Campaign } from '../campaigns/schema.ts';
import { channelLoader } from '../channels/loaders.ts';
import { Channel } from '../channels/schema.ts';
import { ConsentEntry } from '../contacts/consent/schema.ts';
import { ErasureReceipt } from '../contacts/erasure/schema.ts';
import { Export } from '../contacts/exports/schema.ts';
import { Group, Source, Status } from '../contacts/labels/schema.ts';
import { consentEntryLoader, contactLoader, exportLoader, receiptLoader } from '../contacts/loaders.ts';
import { Contact } from '../contacts/schema.ts';
import { GroupChat } from '../conversations/group-chats-schema.ts';
import { conversationLoader, groupChatLoader } from '../conversations/loaders.ts';
import { Conversation } from '../conversations/schema.ts';
import type { OrderPayload, PublicOrder } from '../integrations/events.ts';
import { integrationLoader } from '../integrations/loaders.ts';
import { ShopOrder } from '../integrations/orders/order-schema.ts';
import { Integration } from '../integrations/schema.ts';
import { messageLoader } from '../messages/loaders.ts';
import type { EventMessage } from '../messages/message.ts';
import { Message } from '../messages/schema.ts';
import { Otp, otpLoader } from '../otp/schema.ts';
import { Template, templateLoader } from '../templates/schema.ts';
import { type EventWebhook, rowOfEvent } from '../webhooks/endpoints/endpoint.ts';
import { WebhookAttempt, WebhookDelivery } from '../webhooks/log/deliveries-schema.ts';
import type { AttemptRow, DeliveryRow } from '../webhooks/log/delivery.ts';
import { WebhookEndpoint } from '../webhooks/schema.ts';
import { eventOf, labelOf } from './objects.ts';
import { Event, type EventTypeName, typeNameOf } from './schema.ts';

/** The types of events: one for each kind of object. */

type Types = typeof builder.$inferSchemaTypes;
type Fields = PothosSchemaTypes.ObjectFieldBuilder<Types, LoggedEvent>;

/** Undefined also for an event that the token may not read. */
async function findEvent(context: Context, name: EventTypeName, id: string): Promise<LoggedEvent | undefined> {
  const event = isUuid(id) ? await eventOf(context).load(id.toLowerCase()) : undefined;
  if (!event || typeNameOf(event) !== name) return undefined;
  return context.principal?.scopes.has(EVENT_RESOURCES[resourceOf(event.type)]) ? event : undefined;
}

function defineEvent(
  name: EventTypeName,
  about: string,
  fields: (t: Fields) => Record<string, unknown>,
): ObjectRef<Types, LoggedEvent> {
  const ref = builder.objectRef<LoggedEvent>(name);
  builder.node(ref, {
    name,
    description: `An event about ${about}.`,
    interfaces: [Event],
    id: { resolve: event => event.id },
    brandLoadedObjects: true,
    loadManyWithoutCache: (ids, context) => Promise.all(ids.map(id => findEvent(context, name, String(id)))),
    fields: fields as never,
  });
  return ref;
}

/** The key of an object in the payload; undefined if the payload has none. */
const keyIn = (event: LoggedEvent, object: string): number | string | undefined =>
  (event.payload[object] as { readonly id?: number | string } | undefined)?.id;

/** Reads an object by a key in the payload. */
const found = async <Key, Row>(
  key: Key | null | undefined,
  loaded: { load(key: Key): Promise<Row | undefined> },
): Promise<Row | null> => (key == null ? null : ((await loaded.load(key)) ?? null));

const contactField = (t: Fields, idOf: (event: LoggedEvent) => number | null | undefined, isGuarded = true) =>
  t.field({
    type: Contact,
    nullable: true,
    description: 'The contact.',
    ...(isGuarded && { authScopes: { scope: 'contacts:read' } }),
    resolve: (event, _args, context) => found(idOf(event), contactLoader(context)),
  });

const messageField = (
  t: Fields,
  description: string,
  idOf: (event: LoggedEvent) => string | undefined,
  isGuarded = true,
) =>
  t.field({
    type: Message,
    nullable: true,
    description,
    ...(isGuarded && { authScopes: { scope: 'messages:read' } }),
    resolve: (event, _args, context) => found(idOf(event), messageLoader(context)),
  });

const contactIdOf = (event: LoggedEvent) => keyIn(event, 'contact') as number | undefined;

defineEvent('ContactEvent', 'a contact', t => ({ contact: contactField(t, contactIdOf, false) }));

defineEvent('DataEvent', "a person's consent, the erasure of their data, or a file with data of the account", t => ({
  contact: contactField(t, contactIdOf, false),
  consentEntry: t.field({
    type: ConsentEntry,
    nullable: true,
    description: 'The recorded consent; null for other events.',
    resolve: (event, _args, context) => found(keyIn(event, 'consent') as number, consentEntryLoader(context)),
  }),
  export: t.field({
    type: Export,
    nullable: true,
    description: 'The file that is complete, or was given up; null for other events.',
    resolve: (event, _args, context) => found(keyIn(event, 'export') as string, exportLoader(context)),
  }),
  receipt: t.field({
    type: ErasureReceipt,
    nullable: true,
    description: 'The receipt of the erasure; null for other events.',
    resolve: (event, _args, context) => found(keyIn(event, 'receipt') as string, receiptLoader(context)),
  }),
}));

defineEvent('MessageEvent', 'a message', t => ({
  message: messageField(t, 'The message.', event => keyIn(event, 'message') as string | undefined, false),
  conversation: t.field({
    type: Conversation,
    nullable: true,
    description: 'The conversation of the message; null in a group chat.',
    authScopes: { scope: 'conversations:read' },
    resolve: (event, _args, context) =>
      found((event.payload['message'] as EventMessage).interaction_id, conversationLoader(context)),
  }),
  echoId: t.string({
    nullable: true,
    description: "The client's own key of the message, as given to the send; null if it gave none.",
    resolve: event => (event.payload['message'] as EventMessage).echo_id ?? null,
  }),
}));

const ofBot = (event: LoggedEvent): PublicBotSkip & Partial<PublicBotReply> =>
  event.payload as unknown as PublicBotSkip;

defineEvent('BotEvent', 'a message that a bot answered, or would have', t => ({
  bot: t.field({
    type: Bot,
    nullable: true,
    description: 'The bot; null if it was deleted.',
    resolve: (event, _args, context) => found(ofBot(event).bot.id, botLoader(context)),
  }),
  rule: t.field({
    type: RuleType,
    description: 'Trigger and keyword that matched.',
    resolve: event => ofBot(event).rule,
  }),
  contact: contactField(t, event => ofBot(event).contact_id),
  message: messageField(t, 'The message of the contact.', event => ofBot(event).chat_message_id),
  replyMessage: messageField(
    t,
    'The reply; null if the bot did not reply.',
    event => ofBot(event).reply_chat_message_id ?? undefined,
  ),
  reason: t.string({
    nullable: true,
    description:
      'Why the bot did not reply (`BOT_SKIPPED`): `TOO_OLD`, `DISABLED`, or the error code of the send. Null if it did.',
    resolve: event => ofBot(event).reason ?? null,
  }),
}));

defineEvent('CampaignEvent', 'a campaign', t => ({
  campaign: t.field({
    type: Campaign,
    nullable: true,
    description: 'The campaign; null if it was deleted.',
    resolve: (event, _args, context) => found(keyIn(event, 'campaign') as number, campaignLoader(context)),
  }),
}));

defineEvent('ChannelEvent', 'a channel', t => ({
  channel: t.field({
    type: Channel,
    nullable: true,
    description: 'The channel.',
    resolve: (event, _args, context) => found(keyIn(event, 'channel') as number, channelLoader(context)),
  }),
}));

const ownership = (event: LoggedEvent) => (event.payload as EventPayloads['conversation.updated']).conversation;

defineEvent('ConversationEvent', 'a conversation', t => ({
  conversation: t.field({
    type: Conversation,
    nullable: true,
    description: 'The conversation; null once it is deleted.',
    authScopes: { scope: 'conversations:read' },
    resolve: (event, _args, context) => found(ownership(event).id, conversationLoader(context)),
  }),
  contact: contactField(t, event => ownership(event).contact_id),
  channel: t.field({
    type: Channel,
    nullable: true,
    description: 'The channel.',
    authScopes: { scope: 'channels:read' },
    resolve: (event, _args, context) => found(ownership(event).channel_id, channelLoader(context)),
  }),
  isOurs: t.boolean({
    nullable: true,
    description:
      'Whether this gateway handles the conversation; false while another app of the business does; null if the event is about something else.',
    resolve: event => ownership(event).is_ours ?? null,
  }),
  formerId: t.id({
    nullable: true,
    description:
      'Global id of the conversation that a merge of contacts made part of this one; null if the event is about something else.',
    resolve: (event, _args, context) => {
      const { previous } = event.payload as EventPayloads['conversation.updated'];
      return previous?.id === undefined ? null : encodeGlobalId('Conversation', tenantOf(context), String(previous.id));
    },
  }),
  ownerRole: t.string({
    nullable: true,
    description: "Role of the app that handles the conversation, in the network's terms; null if unknown.",
    resolve: event => ownership(event).owner_role ?? null,
  }),
}));

const groupChat = (event: LoggedEvent) => event.payload as EventPayloads['group_chat.updated'];

const participantsField = (t: Fields, description: string, idsOf: (event: LoggedEvent) => readonly number[]) =>
  t.field({
    type: [Contact],
    nullable: true,
    description,
    authScopes: { scope: 'contacts:read' },
    resolve: async (event, _args, context) =>
      (await contactLoader(context).loadMany(idsOf(event))).flatMap(row =>
        row && !(row instanceof Error) ? [row] : [],
      ),
  });

defineEvent('GroupChatEvent', 'a group chat', t => ({
  groupChat: t.field({
    type: GroupChat,
    nullable: true,
    description: 'The group chat.',
    resolve: (event, _args, context) => found(keyIn(event, 'group_chat') as number, groupChatLoader(context)),
  }),
  subject: t.string({
    description: 'Subject of the group chat at the time of the event.',
    resolve: event => groupChat(event).group_chat.subject,
  }),
  addedContacts: participantsField(t, 'Contacts who joined.', event => groupChat(event).added_contact_ids),
  removedContacts: participantsField(t, 'Contacts who left.', event => groupChat(event).removed_contact_ids),
}));

defineEvent('TemplateEvent', 'a template', t => ({
  template: t.field({
    type: Template,
    nullable: true,
    description: 'The template.',
    resolve: (event, _args, context) => found(keyIn(event, 'template') as number, templateLoader(context)),
  }),
}));

defineEvent('OtpEvent', 'a one-time password', t => ({
  otp: t.field({
    type: Otp,
    nullable: true,
    description: 'The one-time password, without its code.',
    resolve: (event, _args, context) => found(keyIn(event, 'otp') as string, otpLoader(context)),
  }),
}));

defineEvent('WebhookEvent', 'a webhook endpoint or a delivery', t => ({
  webhook: t.field({
    type: WebhookEndpoint,
    nullable: true,
    description: 'The endpoint at the time of the event; null for events about a delivery.',
    resolve: event => (event.payload['webhook'] ? rowOfEvent(event.payload['webhook'] as EventWebhook) : null),
  }),
  delivery: t.field({
    type: WebhookDelivery,
    nullable: true,
    description: 'The delivery after the attempt; null for events about an endpoint.',
    resolve: event => (event.payload['delivery'] ?? null) as DeliveryRow | null,
  }),
  attempt: t.field({
    type: WebhookAttempt,
    nullable: true,
    description: 'The delivery attempt; null for events about an endpoint.',
    resolve: event => (event.payload['attempt'] ?? null) as AttemptRow | null,
  }),
}));

defineEvent('OrderEvent', 'an order: a shop reported it, or its new status', t => ({
  order: t.field({
    type: ShopOrder,
    description: 'The order, as reported by the shop.',
    resolve: event => event.payload['order'] as PublicOrder,
  }),
  topic: t.string({
    description: "Event type in the shop's terms, for example `order.created`.",
    resolve: event => event.payload['topic'] as string,
  }),
  integration: t.field({
    type: Integration,
    nullable: true,
    description: 'The integration.',
    resolve: (event, _args, context) =>
      found((event.payload['integration'] as OrderPayload['integration']).id, integrationLoader(context)),
  }),
  contact: contactField(t, event => event.payload['contact_id'] as number | null),
}));

for (const [kind, name, ref] of [
  ['group', 'ContactGroup', Group],
  ['source', 'ContactSource', Source],
  ['status', 'ContactStatus', Status],
] as const) {
  defineEvent(`${name}Event`, `a ${kind} of contacts`, t => ({
    [name.charAt(0).toLowerCase() + name.slice(1)]: t.field({
      type: ref,
      nullable: true,
      description: `The ${kind} of contacts; null if it was deleted.`,
      resolve: (event, _args, context) => found(keyIn(event, kind) as number, labelOf[kind](context)),
    }),
  }));
}
