import { inputId, numericId, uuidOf } from '../../../core/global-ids.ts';
import { isUuid } from '../../../core/ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { connectionOf, DateTimeFilter, enumFilter, listArgs, orderOf, StringFilter } from '../../../schema/lists.ts';
import { findDelivery } from '../endpoints/find.ts';
import { deliveryPage } from '../endpoints/list.ts';
import { attemptsLoader, endpointLoader } from '../loaders.ts';
import { WebhookEndpoint } from '../schema.ts';
import type { DeliveryRow, PublicAttempt } from './delivery.ts';
import { MAX_REPLAYED, type ReplayedDeliveries, replayDeliveries, replayDelivery } from './replay.ts';
import { sendTest, type TestedEndpoint } from './send-test.ts';
import { getDeliveries } from './store.ts';

export const WebhookAttempt = builder.objectRef<PublicAttempt>('WebhookAttempt').implement({
  description: 'One attempt to deliver an event to an endpoint.',
  fields: t => ({
    number: t.exposeInt('number', { description: 'Number of the attempt, starting at 1.' }),
    at: t.expose('at', { type: 'DateTime', description: 'Start of the attempt.' }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'HTTP status code; null if there was no complete response.',
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
  description: 'Delivery of one event to one endpoint, with up to several attempts.',
  id: { resolve: delivery => delivery.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('webhooks:read')) return ids.map(() => undefined);
    const rows = await getDeliveries(context.db.read, tenantOf(context), ids.filter(isUuid));
    return ids.map(id => rows.find(row => row.id === id));
  },
  fields: t => ({
    databaseId: t.exposeString('id', {
      description: 'UUIDv7 of the delivery, sent as `webhook-id` with every attempt.',
    }),
    endpoint: t.field({
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint; null if it was deleted.',
      resolve: async (delivery, _args, context) => (await endpointLoader(context).load(delivery.endpoint_id)) ?? null,
    }),
    eventId: t.exposeString('event_id', { description: 'Id of the event that is delivered.' }),
    eventType: t.expose('event_type', {
      type: 'EventType',
      description: 'Type of the event, for example `message.delivered`.',
    }),
    isTest: t.exposeBoolean('is_test', { description: 'Whether it is a test delivery (testWebhookEndpoint).' }),
    status: t.field({ type: Status, description: 'State of the delivery.', resolve: delivery => delivery.status }),
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

const Filter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Conditions for deliveries; all of them must hold.',
  fields: t => ({
    status: t.field({ type: enumFilter(Status), description: 'State of the delivery.' }),
    eventType: t.field({ type: StringFilter, description: 'Type of the event, for example `message.delivered`.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'Time at which the delivery was queued.' }),
  }),
});
const Order = orderOf('WebhookDelivery', 'deliveries', {
  CREATED_AT: { value: 'createdAt', description: 'Time at which the delivery was queued.' },
});

builder.queryFields(t => ({
  webhookDeliveries: t.field({
    type: connectionOf('WebhookDelivery', WebhookDelivery),
    description: 'Lists the deliveries of an endpoint, newest first by default. Errors: NOT_FOUND.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      endpointId: t.arg.id({ required: true, description: 'Global id or databaseId of the endpoint.' }),
      ...listArgs(Filter, Order),
    },
    resolve: (_root, { endpointId, ...args }, context) =>
      deliveryPage(context, numericId('WebhookEndpoint', endpointId), args),
  }),
  webhookDelivery: t.field({
    type: WebhookDelivery,
    nullable: true,
    description: 'Returns one delivery, even if its endpoint was deleted. Errors: NOT_FOUND.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId (the `webhook-id`) of the delivery.' }),
    },
    resolve: (_root, { id }, context) => findDelivery(context, id),
  }),
}));

const Tested = builder.objectRef<TestedEndpoint>('TestWebhookEndpointResult').implement({
  description: 'Result of a test delivery.',
  fields: t => ({
    delivery: t.field({ type: WebhookDelivery, description: 'The test delivery.', resolve: result => result.delivery }),
    attempt: t.field({
      type: WebhookAttempt,
      description: 'The single attempt of the delivery.',
      resolve: result => result.attempt,
    }),
  }),
});

const ReplayInput = builder.inputType('ReplayWebhookDeliveriesInput', {
  description: 'Which deliveries of an endpoint to repeat.',
  fields: t => ({
    endpointId: t.id({ required: true, description: 'Global id or databaseId of the endpoint.' }),
    since: t.field({
      type: 'DateTime',
      required: true,
      description: 'Repeat deliveries that were queued at or after this time.',
    }),
    onlyFailed: t.boolean({
      required: true,
      defaultValue: true,
      description: 'If true, repeats only failed deliveries. If false, also successful ones.',
    }),
  }),
});

const Replayed = builder.objectRef<ReplayedDeliveries>('ReplayWebhookDeliveriesResult').implement({
  description: 'Result of repeating deliveries.',
  fields: t => ({
    count: t.exposeInt('count', { description: 'Number of deliveries that were queued again.' }),
    hasMore: t.exposeBoolean('hasMore', {
      description: `Whether more deliveries may remain: one call queues up to ${MAX_REPLAYED}. For failed deliveries, repeat the call.`,
    }),
  }),
});

builder.mutationFields(t => ({
  testWebhookEndpoint: t.field({
    type: Tested,
    description:
      'Sends one test event (`webhook.test`) and waits up to 15 seconds for the response. Works for disabled endpoints too. Errors: NOT_FOUND.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the endpoint.' }),
      idempotencyKey: t.arg.string({ description: IDEMPOTENCY_KEY }),
    },
    resolve: (_root, { id, idempotencyKey }, context) =>
      sendTest(context, numericId('WebhookEndpoint', id), idempotencyKey),
  }),
  replayWebhookDelivery: t.field({
    type: WebhookDelivery,
    description: 'Repeats a delivery now, with the same `webhook-id`. Errors: NOT_FOUND.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the delivery.' }),
      endpointId: t.arg.id({ description: 'If given, the delivery must belong to this endpoint.' }),
      idempotencyKey: t.arg.string({ description: IDEMPOTENCY_KEY }),
    },
    resolve: (_root, { id, endpointId, idempotencyKey }, context) =>
      replayDelivery(
        context,
        uuidOf('WebhookDelivery', id),
        endpointId == null ? undefined : numericId('WebhookEndpoint', endpointId),
        idempotencyKey,
      ),
  }),
  replayWebhookDeliveries: t.field({
    type: Replayed,
    description: 'Repeats the deliveries of an endpoint since a given time, in order. Errors: NOT_FOUND.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      input: t.arg({ type: ReplayInput, required: true, description: 'The endpoint and the time to start from.' }),
    },
    resolve: (_root, { input }, context) =>
      replayDeliveries(context, { ...input, endpointId: inputId('WebhookEndpoint', input.endpointId, 'endpointId') }),
  }),
}));
