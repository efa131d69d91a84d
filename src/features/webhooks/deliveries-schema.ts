import { builder } from '../../builder.ts';
import { inputId, numericId, uuidOf } from '../../global-ids.ts';
import { isUuid } from '../../platform/ids.ts';
import { tenantOf } from '../caller.ts';
import { connectionOf, DateTimeFilter, enumFilter, listArgs, orderOf, StringFilter } from '../lists/schema.ts';
import { getDeliveries } from './deliveries-store.ts';
import type { DeliveryRow, PublicAttempt } from './delivery.ts';
import { findDelivery } from './find.ts';
import { deliveryPage } from './list.ts';
import { MAX_REPLAYED, type ReplayedDeliveries, replayDeliveries, replayDelivery } from './replay.ts';
import { KEY, WebhookEndpoint } from './schema.ts';
import { sendTest, type TestedEndpoint } from './send-test.ts';

export const WebhookAttempt = builder.objectRef<PublicAttempt>('WebhookAttempt').implement({
  description: 'One attempt to deliver an event.',
  fields: t => ({
    number: t.exposeInt('number', { description: 'Counted from 1.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was begun.' }),
    status: t.exposeInt('status', { nullable: true, description: 'Of HTTP; null where no complete answer came.' }),
    durationMs: t.exposeInt('duration_ms', { description: 'How long it took, in milliseconds.' }),
    response: t.exposeString('response', { nullable: true, description: 'The first kilobyte of the answer.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed; null: it did not.' }),
  }),
});

const Status = builder.enumType('WebhookDeliveryStatus', {
  description: 'How far a delivery has come.',
  values: {
    PENDING: { value: 'pending', description: 'It waits for its first or next attempt.' },
    DELIVERED: { value: 'delivered', description: 'The endpoint answered 2xx.' },
    FAILED: { value: 'failed', description: 'It is not tried any more.' },
  } as const,
});

export const WebhookDelivery = builder.objectRef<DeliveryRow>('WebhookDelivery');

builder.node(WebhookDelivery, {
  name: 'WebhookDelivery',
  description: 'An event that is delivered to an endpoint, in one or more attempts.',
  id: { resolve: delivery => delivery.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('webhooks:read')) return ids.map(() => undefined);
    const rows = await getDeliveries(context.db.read, tenantOf(context), ids.filter(isUuid));
    return ids.map(id => rows.find(row => row.id === id));
  },
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'Its UUIDv7: the `webhook-id` of every attempt.' }),
    endpoint: t.field({
      type: WebhookEndpoint,
      nullable: true,
      description: 'Where it goes; null when the endpoint was deleted.',
      resolve: async (delivery, _args, context) =>
        (await context.loaders.webhookEndpoint.load(delivery.endpoint_id)) ?? null,
    }),
    eventId: t.exposeString('event_id', { description: 'The id of the event.' }),
    eventType: t.expose('event_type', { type: 'EventType', description: 'What happened.' }),
    isTest: t.exposeBoolean('is_test', { description: 'Whether it is a sample.' }),
    status: t.field({ type: Status, description: 'How far it has come.', resolve: delivery => delivery.status }),
    attemptCount: t.exposeInt('attempts', { description: 'How often it was tried.' }),
    nextAttemptAt: t.expose('next_attempt_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null: it is not.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it ended, where no attempt says so.' }),
    attempts: t.field({
      type: [WebhookAttempt],
      description: 'The attempts, in their order.',
      resolve: async (delivery, _args, context) => [...(await context.loaders.webhookAttempts.load(delivery.id))],
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was put into the queue.' }),
    settledAt: t.expose('settled_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was delivered or given up.',
    }),
  }),
});

const Filter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Which deliveries a list shows.',
  fields: t => ({
    status: t.field({ type: enumFilter(Status), description: 'By status.' }),
    eventType: t.field({ type: StringFilter, description: 'By the type of the event.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when they were put into the queue.' }),
  }),
});
const Order = orderOf('WebhookDelivery', 'deliveries', {
  CREATED_AT: { value: 'createdAt', description: 'When they were put into the queue.' },
});

builder.queryFields(t => ({
  webhookDeliveries: t.field({
    type: connectionOf('WebhookDelivery', WebhookDelivery),
    description: 'What was and is to be delivered to an endpoint, newest first where no order is asked for.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      endpointId: t.arg.id({ required: true, description: 'The endpoint: its global id or databaseId.' }),
      ...listArgs(Filter, Order),
    },
    resolve: (_root, { endpointId, ...args }, context) =>
      deliveryPage(context, numericId('WebhookEndpoint', endpointId), args),
  }),
  webhookDelivery: t.field({
    type: WebhookDelivery,
    nullable: true,
    description: 'One delivery, also of an endpoint that was deleted.',
    authScopes: { scope: 'webhooks:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId (the `webhook-id`).' }) },
    resolve: (_root, { id }, context) => findDelivery(context, id),
  }),
}));

const Tested = builder.objectRef<TestedEndpoint>('TestWebhookEndpointResult').implement({
  description: 'What became of a sample.',
  fields: t => ({
    delivery: t.field({ type: WebhookDelivery, description: 'The delivery.', resolve: result => result.delivery }),
    attempt: t.field({ type: WebhookAttempt, description: 'Its one attempt.', resolve: result => result.attempt }),
  }),
});

const ReplayInput = builder.inputType('ReplayWebhookDeliveriesInput', {
  description: 'What is to be delivered again.',
  fields: t => ({
    endpointId: t.id({ required: true, description: 'The endpoint.' }),
    since: t.field({
      type: 'DateTime',
      required: true,
      description: 'Everything that was put into the queue since then.',
    }),
    onlyFailed: t.boolean({
      required: true,
      defaultValue: true,
      description: 'True: what failed alone. False: also what was delivered.',
    }),
  }),
});

const Replayed = builder.objectRef<ReplayedDeliveries>('ReplayWebhookDeliveriesResult').implement({
  description: 'How much is delivered again.',
  fields: t => ({
    count: t.exposeInt('count', { description: 'How many deliveries were put into the queue again.' }),
    hasMore: t.exposeBoolean('hasMore', {
      description: `Whether there may be more: one call takes up to ${MAX_REPLAYED}. Of what failed, call again for the rest.`,
    }),
  }),
});

builder.mutationFields(t => ({
  testWebhookEndpoint: t.field({
    type: Tested,
    description:
      'Sends a sample (`webhook.test`) now, once, and waits for what comes of it: 15 seconds at most. A disabled endpoint can be tested too.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      id: t.arg.id({ required: true, description: 'The endpoint: its global id or databaseId.' }),
      idempotencyKey: t.arg.string({ description: KEY }),
    },
    resolve: (_root, { id, idempotencyKey }, context) =>
      sendTest(context, numericId('WebhookEndpoint', id), idempotencyKey),
  }),
  replayWebhookDelivery: t.field({
    type: WebhookDelivery,
    description: 'Delivers an event again, now and under the same `webhook-id`.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      id: t.arg.id({ required: true, description: 'The delivery: its global id or databaseId.' }),
      endpointId: t.arg.id({ description: 'The endpoint that it has to be of.' }),
      idempotencyKey: t.arg.string({ description: KEY }),
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
    description: 'Delivers again, in their order, what an endpoint was to get since a time.',
    authScopes: { scope: 'webhooks:write' },
    args: { input: t.arg({ type: ReplayInput, required: true, description: 'Which endpoint, and since when.' }) },
    resolve: (_root, { input }, context) =>
      replayDeliveries(context, { ...input, endpointId: inputId('WebhookEndpoint', input.endpointId, 'endpointId') }),
  }),
}));
