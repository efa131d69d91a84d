import { resourceOf } from '../../core/events.ts';
import { encodeGlobalId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import type { LoggedEvent } from '../../events/bus.ts';
import { encodeCursor } from '../../events/cursor.ts';
import { follow } from '../../events/follow.ts';
import { builder } from '../../schema/builder.ts';
import { EventTypeEnum } from '../../schema/event-types.ts';
import { connectionOf, cursorArgs } from '../../schema/lists.ts';
import { Contact } from '../contacts/schema.ts';
import { Author } from '../tenancy/audit/schema.ts';
import { actorOf } from './actor.ts';
import { type ChangePage, changesAfter, MAX_CHANGES } from './changes.ts';
import { EVENT_SCOPES, EventFilterType, eventFilter, eventFilterOf } from './filter.ts';
import { eventPage } from './list.ts';
import { subjectKey, subjectOf } from './subjects.ts';

/** The type of an event by the resource it is about; `types-schema.ts` defines them. */
const TYPE_NAMES = {
  bot: 'BotEvent',
  campaign: 'CampaignEvent',
  contact: 'ContactEvent',
  consent: 'DataEvent',
  group: 'ContactGroupEvent',
  source: 'ContactSourceEvent',
  status: 'ContactStatusEvent',
  message: 'MessageEvent',
  channel: 'ChannelEvent',
  conversation: 'ConversationEvent',
  group_chat: 'GroupChatEvent',
  template: 'TemplateEvent',
  otp: 'OtpEvent',
  webhook: 'WebhookEvent',
  order: 'OrderEvent',
  export: 'DataEvent',
} as const;

export type EventTypeName = (typeof TYPE_NAMES)[keyof typeof TYPE_NAMES];

export const typeNameOf = ({ type }: Pick<LoggedEvent, 'type'>): EventTypeName =>
  type === 'contact.erased' ? 'DataEvent' : TYPE_NAMES[resourceOf(type)];

export const Event = builder.interfaceRef<LoggedEvent>('Event').implement({
  description:
    'A change in the account. Objects under an event are read when it is delivered, and null once they are deleted; `payload` has what they were at the change.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: event => typeNameOf(event),
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'Its key in REST and webhooks, a UUID.' }),
    cursor: t.string({
      description: 'Place in the event log. Pass it as `after` to go on behind this event.',
      resolve: (event, _args, context) => encodeCursor(event.cursor, context.logGeneration),
    }),
    type: t.expose('type', { type: EventTypeEnum, description: 'What happened.' }),
    subjectId: t.id({
      description: 'Global id of the object that changed, also if it was deleted.',
      resolve: (event, _args, context) =>
        encodeGlobalId(subjectOf(event.type).node, tenantOf(context), subjectKey(event.type, event.payload)),
    }),
    occurredAt: t.expose('occurred_at', { type: 'DateTime', description: 'Time of the change.' }),
    actor: t.field({
      type: Author,
      nullable: true,
      description:
        'Who is behind the event, with the name at that time: the sender of a message, a bot, an integration, who asked for an erasure. Null if it is a person, the network, or not stored.',
      resolve: event => actorOf(event),
    }),
    payload: t.expose('payload', {
      type: 'JSON',
      description: 'The event as webhooks deliver it, with the objects as they were.',
    }),
  }),
});

const EventConnection = connectionOf('Event', Event);

const filterArg = () => ({
  ...builder.args(t => ({ filter: t.field({ type: EventFilterType, description: 'Only events that meet this.' }) })),
});

builder.queryFields(t => ({
  events: t.field({
    type: EventConnection,
    description:
      'Lists events in the order of the log, oldest first, with the cursors of the subscription. Errors: CURSOR_EXPIRED.',
    authScopes: { anyScope: EVENT_SCOPES },
    args: { ...cursorArgs(), ...filterArg() },
    resolve: async (_root, { filter, ...page }, context) =>
      eventPage(context, await eventFilter(context, filter), page),
  }),
  eventCursor: t.string({
    description:
      'Place in the event log when the request arrived, never later than what its other fields show. Subscribe to `events` after it, and no change is missed. Free.',
    authScopes: { token: true },
    resolve: (_root, _args, context) => encodeCursor(context.eventPosition, context.logGeneration),
  }),
  changes: t.field({
    type: builder.objectRef<ChangePage>('ChangePage').implement({
      description: 'Objects that changed after a cursor.',
      fields: f => ({
        nodes: f.field({
          type: [builder.nodeInterfaceRef()],
          description: 'The objects as they are now.',
          resolve: page => [...page.nodes] as never,
        }),
        deletedIds: f.idList({
          description: 'Global ids of the changed objects that no longer exist.',
          resolve: page => [...page.deletedIds],
        }),
        endCursor: f.exposeString('endCursor', { description: 'Pass it as `after` to go on.' }),
        hasNextPage: f.exposeBoolean('hasNextPage', { description: 'Whether more objects have changed.' }),
      }),
    }),
    description:
      'Returns each object that changed after a cursor once, as it is now, of the types that the token may read. Errors: CURSOR_EXPIRED.',
    authScopes: { scope: 'events:read' },
    extensions: { listSize: MAX_CHANGES },
    args: {
      after: t.arg.string({ required: true, description: 'Cursor of an event, or `eventCursor`.' }),
      first: t.arg.int({
        required: true,
        defaultValue: MAX_CHANGES,
        description: `Return at most this many objects (1 to ${MAX_CHANGES}).`,
      }),
    },
    resolve: (_root, args, context, info) => changesAfter(context, args, info),
  }),
}));

builder.objectField(Contact, 'events', t =>
  t.field({
    type: EventConnection,
    nullable: true,
    description: 'What happened to the contact, newest first.',
    authScopes: { anyScope: EVENT_SCOPES },
    args: { ...cursorArgs(), ...filterArg() },
    resolve: async (contact, { filter, ...page }, context) =>
      eventPage(context, await eventFilterOf(context, contact.id, filter), page, true),
  }),
);

builder.subscriptionField('events', t =>
  t.field({
    type: Event,
    description:
      'Streams events in the order of the log. With `after`, those behind that cursor come first, so that a client that keeps the last cursor neither misses an event nor gets one twice. Requires the scopes of the requested types, or `events:read` without types. Errors: CURSOR_EXPIRED if events after the cursor were deleted.',
    authScopes: { anyScope: EVENT_SCOPES },
    args: {
      ...filterArg(),
      after: t.arg.string({ description: 'Cursor or id of the last event received, or `eventCursor`.' }),
    },
    subscribe: async (_root, { filter, after }, context) => follow(context, await eventFilter(context, filter), after),
    resolve: event => event,
  }),
);
