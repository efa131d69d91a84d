import { sql } from 'kysely';
import type { PublicBotReply } from './features/bots/bot.ts';
import type { PublicChannel } from './features/channels/channel.ts';
import type { PublicContact } from './features/contacts/contact.ts';
import type { OrderPayload } from './features/integrations/integration.ts';
import type { PublicGroup, PublicSource, PublicStatus } from './features/labels/label.ts';
import type { PublicMessage } from './features/messages/message.ts';
import type { PublicOtp } from './features/otp/otp.ts';
import type { PublicTemplate } from './features/templates/template.ts';
import type { PublicAttempt, PublicDelivery } from './features/webhooks/delivery.ts';
import type { DisabledReason, PublicWebhook } from './features/webhooks/endpoint.ts';
import type { Db } from './platform/database.ts';
import { newId } from './platform/ids.ts';

type ContactPayload = { readonly contact: PublicContact };
/** `previous` holds the old values of what changed. */
type Changed<T> = { readonly previous: Partial<T> };
type MessagePayload = { readonly message: PublicMessage };
type OtpPayload = { readonly otp: PublicOtp };

/**
 * The closed list of domain events with their payloads. A payload is finished when it is written: subscriptions, outgoing
 * webhooks, bots and counters read it and know no domain.
 */
export interface EventPayloads {
  'contact.created': ContactPayload;
  'contact.updated': ContactPayload & Changed<PublicContact>;
  'contact.deleted': ContactPayload;
  'contact.opted_out': ContactPayload;
  'contact.opted_in': ContactPayload;
  'group.created': { readonly group: PublicGroup };
  'group.updated': { readonly group: PublicGroup } & Changed<PublicGroup>;
  'group.deleted': { readonly group: PublicGroup };
  'source.created': { readonly source: PublicSource };
  'source.updated': { readonly source: PublicSource } & Changed<PublicSource>;
  'source.deleted': { readonly source: PublicSource };
  'status.created': { readonly status: PublicStatus };
  'status.updated': { readonly status: PublicStatus } & Changed<PublicStatus>;
  'status.deleted': { readonly status: PublicStatus };
  'message.queued': MessagePayload;
  'message.sent': MessagePayload;
  'message.delivered': MessagePayload;
  'message.read': MessagePayload;
  'message.failed': MessagePayload;
  'message.received': MessagePayload;
  /** A bot's answer was accepted. */
  'bot.replied': PublicBotReply;
  'channel.updated': { readonly channel: PublicChannel };
  'template.created': { readonly template: PublicTemplate };
  'template.updated': { readonly template: PublicTemplate } & Changed<PublicTemplate>;
  /** Also the last that is told of a template that is gone: its status is then DELETED. */
  'template.status_changed': { readonly template: PublicTemplate } & Changed<PublicTemplate>;
  /** Its message was accepted. */
  'otp.sent': OtpPayload;
  'otp.verified': OtpPayload;
  /** Somebody tried it in vain. */
  'otp.failed': OtpPayload & { readonly reason: 'INVALID_CODE' | 'MAX_ATTEMPTS_EXCEEDED' };
  /** It ran out without being verified. */
  'otp.expired': OtpPayload;
  /** It was tried to deliver an event. This is never itself delivered to an endpoint: it would go round for ever. */
  'webhook.delivery_attempted': { readonly delivery: PublicDelivery; readonly attempt: PublicAttempt };
  /** The gateway stopped to deliver to an endpoint by itself. */
  'webhook.disabled': { readonly webhook: PublicWebhook; readonly reason: Exclude<DisabledReason, 'by_hand'> };
  /** A sample, for one endpoint alone. */
  'webhook.test': { readonly webhook: PublicWebhook };
  /** A shop told of an order, for the first time in this status. */
  'order.received': OrderPayload;
}

export type EventType = keyof EventPayloads;

/** The scope that reading an event needs beside events:read, by the resource it is about. */
export const EVENT_RESOURCES = {
  bot: 'bots:read',
  contact: 'contacts:read',
  group: 'groups:read',
  source: 'sources:read',
  status: 'statuses:read',
  message: 'messages:read',
  channel: 'channels:read',
  template: 'templates:read',
  otp: 'messages:read',
  webhook: 'webhooks:read',
  order: 'integrations:read',
} as const;

export type EventResource = keyof typeof EVENT_RESOURCES;

/** Written out with `satisfies`, so that a new event does not compile until it stands here too. */
const TYPES = {
  'contact.created': true,
  'contact.updated': true,
  'contact.deleted': true,
  'contact.opted_out': true,
  'contact.opted_in': true,
  'group.created': true,
  'group.updated': true,
  'group.deleted': true,
  'source.created': true,
  'source.updated': true,
  'source.deleted': true,
  'status.created': true,
  'status.updated': true,
  'status.deleted': true,
  'message.queued': true,
  'message.sent': true,
  'message.delivered': true,
  'message.read': true,
  'message.failed': true,
  'message.received': true,
  'bot.replied': true,
  'channel.updated': true,
  'template.created': true,
  'template.updated': true,
  'template.status_changed': true,
  'otp.sent': true,
  'otp.verified': true,
  'otp.failed': true,
  'otp.expired': true,
  'webhook.delivery_attempted': true,
  'webhook.disabled': true,
  'webhook.test': true,
  'order.received': true,
} as const satisfies Record<EventType, true>;

export const EVENT_TYPES = Object.keys(TYPES) as readonly EventType[];

export const resourceOf = (type: string): EventResource => type.slice(0, type.indexOf('.')) as EventResource;

/** A type (`message.sent`), all of a resource (`message.*`), or everything (`*`). */
export function isEventPattern(pattern: string): boolean {
  if (pattern === '*' || Object.hasOwn(TYPES, pattern)) return true;
  return pattern.endsWith('.*') && Object.hasOwn(EVENT_RESOURCES, pattern.slice(0, -2));
}

/** The types that any of the patterns means; all of them when there is no pattern. */
export function typesMatching(patterns: readonly string[]): ReadonlySet<EventType> {
  if (patterns.length === 0) return new Set(EVENT_TYPES);
  return new Set(
    EVENT_TYPES.filter(type =>
      patterns.some(pattern => pattern === '*' || pattern === type || pattern === `${resourceOf(type)}.*`),
    ),
  );
}

export type NewEvent = { [T in EventType]: { readonly type: T; readonly payload: EventPayloads[T] } }[EventType];

declare module './platform/database.ts' {
  interface Tables {
    events: {
      tenant_id: number;
      id: string;
      xid: string;
      seq: number;
      type: string;
      payload: unknown;
      occurred_at: string;
    };
  }
}

/** Appends events in the transaction of the change they tell of, in this order. @returns their ids */
export async function append(trx: Db, tenantId: number, events: readonly NewEvent[]): Promise<readonly string[]> {
  const ids = events.map(newId);
  if (ids.length === 0) return ids;
  const types = events.map(event => event.type);
  const payloads = events.map(event => JSON.stringify(event.payload));
  await sql`
    insert into events (tenant_id, id, type, payload)
    select ${tenantId}::bigint, id, type, payload
    from unnest(${ids}::uuid[], ${types}::text[], ${payloads}::jsonb[]) with ordinality as e (id, type, payload, position)
    order by position`.execute(trx);
  return ids;
}
