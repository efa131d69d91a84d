import { type EventPayloads, resourceOf } from '../../core/events.ts';
import type { LoggedEvent } from '../../events/bus.ts';
import { encodeCursor } from '../../events/cursor.ts';
import { followPatterns } from '../../events/follow.ts';
import { builder } from '../../schema/builder.ts';
import type { PublicBotReply, PublicBotSkip } from '../bots/events.ts';
import { fromWire } from '../bots/reply/reply.ts';
import { Bot } from '../bots/schema.ts';
import { RuleType } from '../bots/test-schema.ts';
import type { ChannelRow } from '../channels/channel.ts';
import { Channel } from '../channels/schema.ts';
import type { ContactRow } from '../contacts/contact.ts';
import type { LabelRow } from '../contacts/labels/label.ts';
import { Group, Source, Status } from '../contacts/labels/schema.ts';
import { Contact } from '../contacts/schema.ts';
import type { OrderPayload, PublicOrder } from '../integrations/events.ts';
import { ReceivedOrder } from '../integrations/orders/order-schema.ts';
import type { MessageRow } from '../messages/message.ts';
import { Message } from '../messages/schema.ts';
import type { PublicOtp } from '../otp/otp.ts';
import { Otp } from '../otp/schema.ts';
import { Template } from '../templates/schema.ts';
import type { TemplateRow } from '../templates/template.ts';
import type { EndpointRow } from '../webhooks/endpoints/endpoint.ts';
import { WebhookAttempt, WebhookDelivery } from '../webhooks/log/deliveries-schema.ts';
import type { AttemptRow, DeliveryRow } from '../webhooks/log/delivery.ts';
import { WebhookEndpoint } from '../webhooks/schema.ts';

const TYPE_NAMES = {
  bot: 'BotEvent',
  contact: 'ContactEvent',
  consent: 'ContactEvent',
  group: 'GroupEvent',
  source: 'SourceEvent',
  status: 'StatusEvent',
  message: 'MessageEvent',
  channel: 'ChannelEvent',
  conversation: 'ConversationEvent',
  group_chat: 'GroupChatEvent',
  template: 'TemplateEvent',
  otp: 'OtpEvent',
  webhook: 'WebhookEvent',
  order: 'OrderEvent',
} as const;

const Event = builder.interfaceRef<LoggedEvent>('Event').implement({
  description: 'A change in the tenant, with the state of the affected object at that time.',
  resolveType: event => TYPE_NAMES[resourceOf(event.type)],
  fields: t => ({
    id: t.exposeID('id', { description: 'Id of the event (UUIDv7), the same in subscriptions and webhooks.' }),
    cursor: t.string({
      description: 'Position in the event log. Pass it as `after` to resume after this event.',
      resolve: (event, _args, context) => encodeCursor(event.cursor, context.logGeneration),
    }),
    type: t.expose('type', { type: 'EventType', description: 'Event type, for example `message.delivered`.' }),
    occurredAt: t.expose('occurred_at', { type: 'DateTime', description: 'Time at which the event occurred.' }),
    data: t.field({
      type: 'JSON',
      description: 'Payload of the event, as webhooks deliver it.',
      resolve: event => event.payload,
    }),
  }),
});

const about = (name: string) => ({ interfaces: [Event], description: `An event about a ${name}.` });

/** One of the two, by the event's type. */
const reply = (event: LoggedEvent): PublicBotSkip & Partial<PublicBotReply> =>
  event.payload as unknown as PublicBotSkip;

const ownership = (event: LoggedEvent) => (event.payload as EventPayloads['conversation.updated']).conversation;
const groupChat = (event: LoggedEvent) => event.payload as EventPayloads['group_chat.updated'];

builder.objectRef<LoggedEvent>('BotEvent').implement({
  ...about('bot'),
  fields: t => ({
    bot: t.field({
      type: Bot,
      description: 'The bot at the time of the event.',
      resolve: event => ({ ...reply(event).bot, reply: fromWire(reply(event).bot.reply) }),
    }),
    rule: t.field({
      type: RuleType,
      description: 'Trigger and keyword that matched.',
      resolve: event => reply(event).rule,
    }),
    contactId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the contact.',
      resolve: event => reply(event).contact_id,
    }),
    messageId: t.string({
      description: 'The databaseId of the inbound message.',
      resolve: event => reply(event).message_id,
    }),
    replyMessageId: t.string({
      nullable: true,
      description: 'The databaseId of the reply; null if the bot did not reply.',
      resolve: event => reply(event).reply_message_id ?? null,
    }),
    reason: t.string({
      nullable: true,
      description:
        'Why the bot did not reply (`bot.skipped`): `TOO_OLD`, `DISABLED`, or the error code of the send. Null if it did.',
      resolve: event => reply(event).reason ?? null,
    }),
  }),
});
export const ContactEvent = builder.objectRef<LoggedEvent>('ContactEvent').implement({
  ...about('contact'),
  fields: t => ({
    contact: t.field({
      type: Contact,
      description: 'The contact at the time of the event.',
      resolve: event => event.payload['contact'] as ContactRow,
    }),
  }),
});
export const MessageEvent = builder.objectRef<LoggedEvent>('MessageEvent').implement({
  ...about('message'),
  fields: t => ({
    message: t.field({
      type: Message,
      description: 'The message at the time of the event.',
      resolve: event => event.payload['message'] as MessageRow,
    }),
  }),
});
builder.objectRef<LoggedEvent>('ChannelEvent').implement({
  ...about('channel'),
  fields: t => ({
    channel: t.field({
      type: Channel,
      description: 'The channel at the time of the event.',
      resolve: event => event.payload['channel'] as ChannelRow,
    }),
  }),
});
builder.objectRef<LoggedEvent>('ConversationEvent').implement({
  ...about('conversation'),
  fields: t => ({
    conversationId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the conversation.',
      resolve: event => ownership(event).id,
    }),
    contactId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the contact.',
      resolve: event => ownership(event).contact_id,
    }),
    channelId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the channel.',
      resolve: event => ownership(event).channel_id,
    }),
    isOurs: t.boolean({
      description: 'Whether this gateway handles the conversation; false while another app of the business does.',
      resolve: event => ownership(event).is_ours,
    }),
    ownerRole: t.string({
      nullable: true,
      description: "Role of the app that handles the conversation, in the network's terms; null if unknown.",
      resolve: event => ownership(event).owner_role,
    }),
  }),
});
builder.objectRef<LoggedEvent>('GroupChatEvent').implement({
  ...about('group chat'),
  fields: t => ({
    groupChatId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the group chat.',
      resolve: event => groupChat(event).group_chat.id,
    }),
    subject: t.string({
      description: 'Subject of the group chat at the time of the event.',
      resolve: event => groupChat(event).group_chat.subject,
    }),
    addedContactIds: t.field({
      type: ['BigInt'],
      description: 'The databaseIds of contacts who joined.',
      resolve: event => [...groupChat(event).added_contact_ids],
    }),
    removedContactIds: t.field({
      type: ['BigInt'],
      description: 'The databaseIds of contacts who left.',
      resolve: event => [...groupChat(event).removed_contact_ids],
    }),
  }),
});
export const TemplateEvent = builder.objectRef<LoggedEvent>('TemplateEvent').implement({
  ...about('template'),
  fields: t => ({
    template: t.field({
      type: Template,
      description: 'The template at the time of the event; its status is DELETED if it was deleted.',
      resolve: event => event.payload['template'] as TemplateRow,
    }),
  }),
});
builder.objectRef<LoggedEvent>('OtpEvent').implement({
  ...about('one-time password'),
  fields: t => ({
    otp: t.field({
      type: Otp,
      description: 'The one-time password at the time of the event, without its code.',
      resolve: event => event.payload['otp'] as PublicOtp,
    }),
  }),
});
export const WebhookEvent = builder.objectRef<LoggedEvent>('WebhookEvent').implement({
  ...about('webhook endpoint or a delivery'),
  fields: t => ({
    webhook: t.field({
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint at the time of the event; null for events about a delivery.',
      resolve: event => (event.payload['webhook'] ?? null) as EndpointRow | null,
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
  }),
});
builder.objectRef<LoggedEvent>('OrderEvent').implement({
  interfaces: [Event],
  description: 'A shop reported an order, or a new status of an order.',
  fields: t => ({
    order: t.field({
      type: ReceivedOrder,
      description: 'The order, as reported by the shop.',
      resolve: event => event.payload['order'] as PublicOrder,
    }),
    topic: t.string({
      description: "Event type in the shop's terms, for example `order.created`.",
      resolve: event => event.payload['topic'] as string,
    }),
    integrationId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the integration.',
      resolve: event => (event.payload['integration'] as OrderPayload['integration']).id,
    }),
    contactId: t.field({
      type: 'BigInt',
      nullable: true,
      description:
        "The databaseId of the customer's contact; null if no mapping applied or the phone number was invalid.",
      resolve: event => event.payload['contact_id'] as number | null,
    }),
  }),
});
for (const [name, ref] of [
  ['group', Group],
  ['source', Source],
  ['status', Status],
] as const) {
  builder.objectRef<LoggedEvent>(TYPE_NAMES[name]).implement({
    ...about(name),
    fields: t => ({
      [name]: t.field({
        type: ref,
        description: `The ${name} at the time of the event.`,
        resolve: event => event.payload[name] as LabelRow,
      }),
    }),
  });
}

builder.subscriptionField('events', t =>
  t.field({
    type: Event,
    description:
      "Streams the tenant's events in order. With `after`, events since that cursor come first, so that a client that stores the last cursor neither misses an event nor receives one twice. Errors: CURSOR_EXPIRED if events after the cursor were deleted.",
    authScopes: { scope: 'events:read' },
    args: {
      types: t.arg({
        type: ['EventType'],
        description: 'Event types or patterns (`message.*`). Default: all types that the token may read.',
      }),
      after: t.arg.string({ description: 'Cursor or id of the last event received.' }),
    },
    subscribe: (_root, { types, after }, context) => followPatterns(context, types ?? [], after),
    resolve: event => event,
  }),
);
