import { builder } from '../../builder.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import type { EventType } from '../../events.ts';
import { uuidOf } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { findMessage } from '../messages/find.ts';
import { findEndpoint } from '../webhooks/find.ts';
import type { Wanted } from './bus.ts';
import { follow } from './follow.ts';
import { ContactEvent, MessageEvent, TemplateEvent, WebhookEvent } from './schema.ts';

/** Subscriptions for one kind of thing each: what a screen shows, without a pattern and without a narrowing of types. */

const AFTER =
  'The cursor (or the id) of the last event seen: first come those since then, none twice and none left out.';

const of = (...types: readonly EventType[]): Wanted => ({ types: new Set(types) });

const CHANGES = of('contact.created', 'contact.updated', 'contact.deleted', 'contact.opted_out', 'contact.opted_in');
const STATUSES = of('message.queued', 'message.sent', 'message.delivered', 'message.read', 'message.failed');

builder.subscriptionField('messageReceived', t =>
  t.field({
    type: MessageEvent,
    description: 'Messages that people send, as they come in.',
    authScopes: { scope: 'messages:read' },
    args: { after: t.arg.string({ description: AFTER }) },
    subscribe: (_root, { after }, context) => follow(context, of('message.received'), after),
    resolve: event => event,
  }),
);

builder.subscriptionField('messageStatusChanged', t =>
  t.field({
    type: MessageEvent,
    description: 'What becomes of messages that are sent: queued, sent, delivered, read or failed.',
    authScopes: { scope: 'messages:read' },
    args: {
      messageId: t.arg.id({ description: 'Of this message alone; of all messages when nothing is said.' }),
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
    description: 'Contacts that are created, changed or deleted, or that opt out or in.',
    authScopes: { scope: 'contacts:read' },
    args: { after: t.arg.string({ description: AFTER }) },
    subscribe: (_root, { after }, context) => follow(context, CHANGES, after),
    resolve: event => event,
  }),
);

builder.subscriptionField('templateStatusChanged', t =>
  t.field({
    type: TemplateEvent,
    description:
      'Templates that the network approves, rejects, pauses or disables; one that is gone has the status DELETED.',
    authScopes: { scope: 'templates:read' },
    args: { after: t.arg.string({ description: AFTER }) },
    subscribe: (_root, { after }, context) => follow(context, of('template.status_changed'), after),
    resolve: event => event,
  }),
);

builder.subscriptionField('webhookDeliveryAttempted', t =>
  t.field({
    type: WebhookEvent,
    description: 'Attempts to deliver events to webhook endpoints, with what came of them.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      endpointId: t.arg.id({ description: 'To this endpoint alone; to all of them when nothing is said.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: async (_root, { endpointId, after }, context) =>
      follow(context, await attemptsOf(context, endpointId), after),
    resolve: event => event,
  }),
);

/** @throws NOT_FOUND for an endpoint that there is not */
async function attemptsOf(context: Context, endpointId: string | null | undefined): Promise<Wanted> {
  const attempts = of('webhook.delivery_attempted');
  if (endpointId == null) return attempts;
  const { id } = await findEndpoint(context, endpointId);
  return { ...attempts, about: { key: 'delivery', field: 'endpoint_id', id } };
}

/** @throws NOT_FOUND for a message that there is not */
async function statusesOf(context: Context, messageId: string | null | undefined): Promise<Wanted> {
  if (messageId == null) return STATUSES;
  const id = uuidOf('Message', messageId);
  if (!(await findMessage(context.db.read, tenantOf(context), id))) throw notFound('Message');
  return { ...STATUSES, about: { key: 'message', field: 'id', id } };
}
