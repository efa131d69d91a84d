import { builder } from '../../builder.ts';
import { resourceOf } from '../../events.ts';
import type { PublicBotReply } from '../bots/bot.ts';
import { fromWire } from '../bots/reply.ts';
import { Bot } from '../bots/schema.ts';
import { RuleType } from '../bots/test-schema.ts';
import type { ChannelRow } from '../channels/channel.ts';
import { Channel } from '../channels/schema.ts';
import type { ContactRow } from '../contacts/contact.ts';
import { Contact } from '../contacts/schema.ts';
import type { OrderPayload, PublicOrder } from '../integrations/integration.ts';
import { ReceivedOrder } from '../integrations/order-schema.ts';
import type { LabelRow } from '../labels/label.ts';
import { Group, Source, Status } from '../labels/schema.ts';
import type { MessageRow } from '../messages/message.ts';
import { Message } from '../messages/schema.ts';
import type { PublicOtp } from '../otp/otp.ts';
import { Otp } from '../otp/schema.ts';
import { Template } from '../templates/schema.ts';
import type { TemplateRow } from '../templates/template.ts';
import { WebhookAttempt, WebhookDelivery } from '../webhooks/deliveries-schema.ts';
import type { AttemptRow, DeliveryRow } from '../webhooks/delivery.ts';
import type { EndpointRow } from '../webhooks/endpoint.ts';
import { WebhookEndpoint } from '../webhooks/schema.ts';
import type { LoggedEvent } from './bus.ts';
import { encodeCursor } from './cursor.ts';
import { followPatterns } from './follow.ts';

const TYPE_NAMES = {
  bot: 'BotEvent',
  contact: 'ContactEvent',
  group: 'GroupEvent',
  source: 'SourceEvent',
  status: 'StatusEvent',
  message: 'MessageEvent',
  channel: 'ChannelEvent',
  template: 'TemplateEvent',
  otp: 'OtpEvent',
  webhook: 'WebhookEvent',
  order: 'OrderEvent',
} as const;

const Event = builder.interfaceRef<LoggedEvent>('Event').implement({
  description: 'Something that happened in the tenant, as it was at that moment.',
  resolveType: event => TYPE_NAMES[resourceOf(event.type)],
  fields: t => ({
    id: t.exposeID('id', { description: 'The id of the event (a UUIDv7), the same wherever the event appears.' }),
    cursor: t.string({
      description: 'Its place in the log: pass it as `after` to go on behind it.',
      resolve: event => encodeCursor(event.cursor),
    }),
    type: t.expose('type', { type: 'EventType', description: 'What happened, such as `message.delivered`.' }),
    occurredAt: t.expose('occurred_at', { type: 'DateTime', description: 'When.' }),
    data: t.field({ type: 'JSON', description: 'The payload as webhooks carry it.', resolve: event => event.payload }),
  }),
});

const about = (name: string) => ({ interfaces: [Event], description: `Something that happened to a ${name}.` });

const reply = (event: LoggedEvent): PublicBotReply => event.payload as unknown as PublicBotReply;

builder.objectRef<LoggedEvent>('BotEvent').implement({
  ...about('bot'),
  fields: t => ({
    bot: t.field({
      type: Bot,
      description: 'The bot that answered, as it was then.',
      resolve: event => ({ ...reply(event).bot, reply: fromWire(reply(event).bot.reply) }),
    }),
    rule: t.field({ type: RuleType, description: 'What of it matched.', resolve: event => reply(event).rule }),
    contactId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the contact.',
      resolve: event => reply(event).contact_id,
    }),
    messageId: t.string({
      description: 'The databaseId of the message that was answered.',
      resolve: event => reply(event).message_id,
    }),
    replyMessageId: t.string({
      description: 'The databaseId of the answer.',
      resolve: event => reply(event).reply_message_id,
    }),
  }),
});
export const ContactEvent = builder.objectRef<LoggedEvent>('ContactEvent').implement({
  ...about('contact'),
  fields: t => ({
    contact: t.field({
      type: Contact,
      description: 'The contact as it was then.',
      resolve: event => event.payload['contact'] as ContactRow,
    }),
  }),
});
export const MessageEvent = builder.objectRef<LoggedEvent>('MessageEvent').implement({
  ...about('message'),
  fields: t => ({
    message: t.field({
      type: Message,
      description: 'The message as it was then.',
      resolve: event => event.payload['message'] as MessageRow,
    }),
  }),
});
builder.objectRef<LoggedEvent>('ChannelEvent').implement({
  ...about('channel'),
  fields: t => ({
    channel: t.field({
      type: Channel,
      description: 'The channel as it was then.',
      resolve: event => event.payload['channel'] as ChannelRow,
    }),
  }),
});
export const TemplateEvent = builder.objectRef<LoggedEvent>('TemplateEvent').implement({
  ...about('template'),
  fields: t => ({
    template: t.field({
      type: Template,
      description: 'The template as it was then; one that is gone has the status DELETED.',
      resolve: event => event.payload['template'] as TemplateRow,
    }),
  }),
});
builder.objectRef<LoggedEvent>('OtpEvent').implement({
  ...about('one-time password'),
  fields: t => ({
    otp: t.field({
      type: Otp,
      description: 'The one-time password as it was then; never its code.',
      resolve: event => event.payload['otp'] as PublicOtp,
    }),
  }),
});
export const WebhookEvent = builder.objectRef<LoggedEvent>('WebhookEvent').implement({
  ...about('webhook endpoint or to a delivery'),
  fields: t => ({
    webhook: t.field({
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint as it was then; null where the event is about a delivery.',
      resolve: event => (event.payload['webhook'] ?? null) as EndpointRow | null,
    }),
    delivery: t.field({
      type: WebhookDelivery,
      nullable: true,
      description: 'The delivery as it was after the attempt; null where the event is about an endpoint.',
      resolve: event => (event.payload['delivery'] ?? null) as DeliveryRow | null,
    }),
    attempt: t.field({
      type: WebhookAttempt,
      nullable: true,
      description: 'The attempt; null where the event is about an endpoint.',
      resolve: event => (event.payload['attempt'] ?? null) as AttemptRow | null,
    }),
  }),
});
builder.objectRef<LoggedEvent>('OrderEvent').implement({
  interfaces: [Event],
  description: 'A shop told of an order, for the first time in this status.',
  fields: t => ({
    order: t.field({
      type: ReceivedOrder,
      description: 'The order, as the shop told it.',
      resolve: event => event.payload['order'] as PublicOrder,
    }),
    topic: t.string({
      description: "What happened to it, in the shop's word, such as `order.created`.",
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
        'The databaseId of the contact who ordered; null where no mapping took the order for its own, or its phone number was none.',
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
        description: `The ${name} as it was then.`,
        resolve: event => event.payload[name] as LabelRow,
      }),
    }),
  });
}

builder.subscriptionField('events', t =>
  t.field({
    type: Event,
    description:
      'The events of the tenant, in order. With `after`, first those since then: a client that remembers the cursor of the last event it saw misses none and sees none twice, however often it reconnects.',
    authScopes: { scope: 'events:read' },
    args: {
      types: t.arg({
        type: ['EventType'],
        description: 'Only these types or patterns (`message.*`); all that the token may read when nothing is said.',
      }),
      after: t.arg.string({ description: 'The cursor (or the id) of the last event seen.' }),
    },
    subscribe: (_root, { types, after }, context) => followPatterns(context, types ?? [], after),
    resolve: event => event,
  }),
);
