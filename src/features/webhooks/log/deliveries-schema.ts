import { builder } from '../../../schema/builder.ts';
import {
  BooleanFilter,
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  IntFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../../schema/lists.ts';
import { findByUuid, nodesByUuid } from '../../../schema/nodes.ts';
import { deliveryPage } from '../endpoints/list.ts';
import { attemptsLoader, endpointLoader } from '../loaders.ts';
import { WebhookEndpoint } from '../schema.ts';
import type { DeliveryRow, PublicAttempt } from './delivery.ts';
import { requestBody } from './request-body.ts';
import { getDeliveries } from './store.ts';

export const WebhookAttempt = builder.objectRef<PublicAttempt>('WebhookAttempt').implement({
  description: 'One attempt to deliver an event to an endpoint.',
  fields: t => ({
    number: t.exposeInt('number', { description: 'Number of the attempt, starting at 1.' }),
    occurredAt: t.expose('at', { type: 'DateTime', description: 'Start of the attempt.' }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'HTTP status code; null if there was no response.',
    }),
    durationMs: t.exposeInt('duration_ms', { description: 'Duration in milliseconds.' }),
    response: t.exposeString('response', {
      nullable: true,
      description: 'First kilobyte of the response body; null if there was none.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the attempt failed; null if it succeeded.' }),
  }),
});

const Status = builder.enumType('WebhookDeliveryStatus', {
  description: 'State of a delivery.',
  values: {
    PENDING: { value: 'pending', description: 'Waits for its first or next attempt.' },
    DELIVERED: { value: 'delivered', description: 'The endpoint responded with 2xx.' },
    FAILED: { value: 'failed', description: 'All attempts have failed.' },
  } as const,
});

export const WebhookDelivery = builder.objectRef<DeliveryRow>('WebhookDelivery');

builder.node(WebhookDelivery, {
  name: 'WebhookDelivery',
  description: 'Delivery of one event to one endpoint, with the attempts made.',
  id: { resolve: delivery => delivery.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('webhooks:read', getDeliveries),
  fields: t => ({
    databaseId: t.exposeString('id', {
      description: 'Its key in REST, a UUID, sent as `webhook-id` with every attempt.',
    }),
    endpoint: t.field({
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint; null if it was deleted.',
      resolve: async (delivery, _args, context) => (await endpointLoader(context).load(delivery.endpoint_id)) ?? null,
    }),
    eventId: t.exposeID('event_id', { description: 'Id of the event that is delivered, a UUID.' }),
    eventType: t.expose('event_type', {
      type: 'EventPattern',
      description: 'Type of the event, for example `message.delivered`.',
    }),
    isTest: t.exposeBoolean('is_test', { description: 'Whether it is a test delivery (testWebhookEndpoint).' }),
    status: t.expose('status', { type: Status, description: 'State of the delivery.' }),
    attemptCount: t.exposeInt('attempts', { description: 'Number of attempts made.' }),
    nextAttemptAt: t.expose('next_attempt_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the next attempt; null if there is none.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the delivery ended, if no attempt explains it; null otherwise.',
    }),
    responseStatus: t.int({
      nullable: true,
      description: 'HTTP status code of the last attempt; null if there was none, or no response.',
      resolve: delivery => delivery.response_status ?? null,
    }),
    requestBody: t.string({
      nullable: true,
      description:
        'The body that is posted, in the format that the endpoint has now. Null if the event is no longer in the log, its contact was erased, the endpoint was deleted, or the token lacks the scope to read such events.',
      resolve: (delivery, _args, context) => requestBody(context, delivery),
    }),
    attempts: t.field({
      type: [WebhookAttempt],
      description: 'Attempts made, in order.',
      resolve: async (delivery, _args, context) => [...(await attemptsLoader(context).load(delivery.id))],
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time at which the delivery was queued.' }),
    settledAt: t.expose('settled_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the delivery succeeded or finally failed; null before.',
    }),
  }),
});

const Filter = filterOf('WebhookDelivery', 'deliveries', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the delivery.' }),
  endpointId: t.field({ type: IDFilter, description: 'Id of the endpoint.' }),
  status: t.field({ type: enumFilter(Status), description: 'State of the delivery.' }),
  eventType: t.field({ type: StringFilter, description: 'Type of the event, for example `message.delivered`.' }),
  responseStatus: t.field({ type: IntFilter, description: 'HTTP status code of the last attempt.' }),
  isTest: t.field({ type: BooleanFilter, description: 'Whether it is a test delivery.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time at which the delivery was queued.' }),
  settledAt: t.field({
    type: DateTimeFilter,
    description: 'Time at which the delivery succeeded or finally failed. Not indexed: add a range of `createdAt`.',
  }),
}));
const Order = orderOf('WebhookDelivery', 'deliveries', {
  ID: { value: 'id', description: 'Order of creation.' },
  CREATED_AT: { value: 'createdAt', description: 'Time at which the delivery was queued. Ids have the same order.' },
});
const Deliveries = connectionOf('WebhookDelivery', WebhookDelivery);

builder.objectField(WebhookEndpoint, 'deliveries', t =>
  t.field({
    type: Deliveries,
    nullable: true,
    description: 'Deliveries to the endpoint, newest first by default. Lists of endpoints read it once for each.',
    authScopes: { scope: 'webhooks:read' },
    args: { ...listArgs(Filter, Order, { search: false }) },
    resolve: (endpoint, args, context) => deliveryPage(context, args, endpoint),
  }),
);

builder.queryFields(t => ({
  webhookDeliveries: t.field({
    type: Deliveries,
    description: 'Lists the deliveries to all endpoints, deleted ones too, newest first by default.',
    authScopes: { scope: 'webhooks:read' },
    args: { ...listArgs(Filter, Order, { search: false }) },
    resolve: (_root, args, context) => deliveryPage(context, args),
  }),
  webhookDelivery: t.field({
    type: WebhookDelivery,
    nullable: true,
    description: 'Returns one delivery, even if its endpoint was deleted; null if there is none.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId (the `webhook-id`) of the delivery.' }),
    },
    resolve: (_root, { id }, context) => findByUuid(context, 'WebhookDelivery', id, getDeliveries),
  }),
}));
