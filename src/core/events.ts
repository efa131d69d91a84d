import type { Scope } from './scopes.ts';

/** All domain event types. */
export const EVENT_TYPES = [
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'contact.erased',
  'contact.opted_out',
  'contact.opted_in',
  'contact.merged',
  'contact.identity_changed',
  'consent.changed',
  'group.created',
  'group.updated',
  'group.deleted',
  'source.created',
  'source.updated',
  'source.deleted',
  'status.created',
  'status.updated',
  'status.deleted',
  'message.scheduled',
  'message.queued',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.cancelled',
  'message.received',
  'message.edited',
  'message.revoked',
  'message.reaction',
  'bot.replied',
  'bot.skipped',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.completed',
  'campaign.cancelled',
  'campaign.failed',
  'channel.updated',
  'channel.health_changed',
  'conversation.created',
  'conversation.updated',
  'conversation.deleted',
  'group_chat.updated',
  'template.created',
  'template.updated',
  'template.status_changed',
  'otp.sent',
  'otp.verified',
  'otp.failed',
  'otp.expired',
  'webhook.delivery_attempted',
  'webhook.disabled',
  'webhook.test',
  'order.received',
  'export.completed',
  'export.failed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Events that report the erasure of a contact: they keep their payload, and are still delivered. */
export const ERASURE_EVENTS = [
  'conversation.deleted',
  'contact.deleted',
  'contact.erased',
] as const satisfies readonly EventType[];

/**
 * The payload of each event type, declared by each feature in its `events.ts`; `NewEvent` does not compile while one is missing.
 * A payload contains everything its readers (subscriptions, webhooks, bots, counters) need, so that they do not depend on
 * features.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface EventPayloads {}

/** `previous` holds the old values of the changed fields. */
export type Changed<T> = { readonly previous: Partial<T> };

/** The scope required to read an event, in addition to events:read, by resource. */
export const EVENT_RESOURCES = {
  bot: 'bots:read',
  campaign: 'campaigns:read',
  contact: 'contacts:read',
  consent: 'contacts:read',
  group: 'groups:read',
  source: 'sources:read',
  status: 'statuses:read',
  message: 'messages:read',
  channel: 'channels:read',
  conversation: 'conversations:read',
  group_chat: 'conversations:read',
  template: 'templates:read',
  otp: 'messages:read',
  webhook: 'webhooks:read',
  order: 'integrations:read',
  export: 'contacts:export',
} as const satisfies Record<string, Scope>;

export type EventResource = keyof typeof EVENT_RESOURCES;

export const resourceOf = (type: string): EventResource => type.slice(0, type.indexOf('.')) as EventResource;

/** The name of a type in the enum EventType of GraphQL: MESSAGE_SENT, GROUP_CHAT_UPDATED. */
export const eventWord = (type: EventType): string => type.replace('.', '_').toUpperCase();

/** Accepts a type (`message.sent`), all types of a resource (`message.*`), or all (`*`). */
export function isEventPattern(pattern: string): boolean {
  if (pattern === '*' || (EVENT_TYPES as readonly string[]).includes(pattern)) return true;
  return pattern.endsWith('.*') && Object.hasOwn(EVENT_RESOURCES, pattern.slice(0, -2));
}

/** Returns the types that match any of the patterns; all types if there are no patterns. */
export function typesMatching(patterns: readonly string[]): ReadonlySet<EventType> {
  if (patterns.length === 0) return new Set(EVENT_TYPES);
  return new Set(
    EVENT_TYPES.filter(type =>
      patterns.some(pattern => pattern === '*' || pattern === type || pattern === `${resourceOf(type)}.*`),
    ),
  );
}

/** Returns the scopes required to read events of these patterns, sorted. */
export const scopesToRead = (patterns: readonly string[]): Scope[] =>
  [...new Set([...typesMatching(patterns)].map(type => EVENT_RESOURCES[resourceOf(type)]))].sort();

export type NewEvent = {
  [T in EventType]: {
    readonly type: T;
    readonly payload: EventPayloads[T];
    /** Set if the payload does not name the contact and conversation. */
    readonly contactId?: number | null;
    readonly conversationId?: number | null;
  };
}[EventType];
