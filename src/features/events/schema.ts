import { builder } from '../../builder.ts';
import { resourceOf } from '../../events.ts';
import type { ChannelRow } from '../channels/channel.ts';
import { Channel } from '../channels/schema.ts';
import type { ContactRow } from '../contacts/contact.ts';
import { Contact } from '../contacts/schema.ts';
import type { LabelRow } from '../labels/label.ts';
import { Group, Source, Status } from '../labels/schema.ts';
import type { MessageRow } from '../messages/message.ts';
import { Message } from '../messages/schema.ts';
import type { PublicOtp } from '../otp/otp.ts';
import { Otp } from '../otp/schema.ts';
import { Template } from '../templates/schema.ts';
import type { TemplateRow } from '../templates/template.ts';
import type { LoggedEvent } from './bus.ts';
import { encodeCursor } from './cursor.ts';
import { follow } from './follow.ts';

const TYPE_NAMES = {
  contact: 'ContactEvent',
  group: 'GroupEvent',
  source: 'SourceEvent',
  status: 'StatusEvent',
  message: 'MessageEvent',
  channel: 'ChannelEvent',
  template: 'TemplateEvent',
  otp: 'OtpEvent',
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

builder.objectRef<LoggedEvent>('ContactEvent').implement({
  ...about('contact'),
  fields: t => ({
    contact: t.field({
      type: Contact,
      description: 'The contact as it was then.',
      resolve: event => event.payload['contact'] as ContactRow,
    }),
  }),
});
builder.objectRef<LoggedEvent>('MessageEvent').implement({
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
builder.objectRef<LoggedEvent>('TemplateEvent').implement({
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
    subscribe: (_root, args, context) => follow(context, args),
    resolve: event => event,
  }),
);
