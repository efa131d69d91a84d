import { notFound } from '../../core/errors.ts';
import type { EventType } from '../../core/events.ts';
import { uuidOf } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import type { EventFilter } from '../../events/bus.ts';
import { follow } from '../../events/follow.ts';
import { builder } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { findMessage } from '../messages/loaders.ts';
import { findEndpoint } from '../webhooks/endpoints/find.ts';
import { ContactEvent, MessageEvent, TemplateEvent, WebhookEvent } from './schema.ts';

/** Subscriptions for one kind of thing each: what a screen shows, without a pattern and without a narrowing of types. */

const AFTER = 'Cursor or id of the last event received. Later events are sent first, without gaps or duplicates.';

const of = (...types: readonly EventType[]): EventFilter => ({ types: new Set(types) });

const CHANGES = of(
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'contact.opted_out',
  'contact.opted_in',
  'contact.merged',
  'contact.identity_changed',
);
const STATUSES = of(
  'message.queued',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.cancelled',
);

builder.subscriptionField('messageReceived', t =>
  t.field({
    type: MessageEvent,
    description: 'Streams inbound messages as they arrive.',
    authScopes: { scope: 'messages:read' },
    args: { after: t.arg.string({ description: AFTER }) },
    subscribe: (_root, { after }, context) => follow(context, of('message.received'), after),
    resolve: event => event,
  }),
);

builder.subscriptionField('messageStatusChanged', t =>
  t.field({
    type: MessageEvent,
    description: 'Streams status changes of outbound messages: queued, sent, delivered, read, failed or cancelled.',
    authScopes: { scope: 'messages:read' },
    args: {
      messageId: t.arg.id({ description: 'Global id or databaseId of a message. Default: all messages.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: async (_root, { messageId, after }, context) =>
      follow(context, await statusesOf(context, messageId), after),
    resolve: event => event,
  }),
);

builder.subscriptionField('contactChanged', t =>
  t.field({
    type: ContactEvent,
    description: 'Streams contacts that are created, changed, merged or deleted, or that opt out or in.',
    authScopes: { scope: 'contacts:read' },
    args: { after: t.arg.string({ description: AFTER }) },
    subscribe: (_root, { after }, context) => follow(context, CHANGES, after),
    resolve: event => event,
  }),
);

builder.subscriptionField('templateStatusChanged', t =>
  t.field({
    type: TemplateEvent,
    description: 'Streams templates that the network approves, rejects, pauses, disables or deletes (status DELETED).',
    authScopes: { scope: 'templates:read' },
    args: { after: t.arg.string({ description: AFTER }) },
    subscribe: (_root, { after }, context) => follow(context, of('template.status_changed'), after),
    resolve: event => event,
  }),
);

builder.subscriptionField('webhookDeliveryAttempted', t =>
  t.field({
    type: WebhookEvent,
    description: 'Streams delivery attempts to webhook endpoints, with their outcome.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      endpointId: t.arg.id({ description: 'Global id or databaseId of an endpoint. Default: all endpoints.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: async (_root, { endpointId, after }, context) =>
      follow(context, await attemptsOf(context, endpointId), after),
    resolve: event => event,
  }),
);

/** @throws NOT_FOUND for an endpoint that there is not */
async function attemptsOf(context: Context, endpointId: string | null | undefined): Promise<EventFilter> {
  const attempts = of('webhook.delivery_attempted');
  if (endpointId == null) return attempts;
  const { id } = await findEndpoint(context, endpointId);
  return { ...attempts, about: { key: 'delivery', field: 'endpoint_id', id } };
}

/** @throws NOT_FOUND for a message that there is not */
async function statusesOf(context: Context, messageId: string | null | undefined): Promise<EventFilter> {
  if (messageId == null) return STATUSES;
  const id = uuidOf('Message', messageId);
  if (!(await findMessage(context.db.read, tenantOf(context), id))) throw notFound('Message');
  return { ...STATUSES, about: { key: 'message', field: 'id', id } };
}
