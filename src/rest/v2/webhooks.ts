import { notFound } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  GetWebhookDocument,
  ListWebhookDeliveriesDocument,
  ListWebhooksDocument,
  ReplayWebhookDeliveryDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
  type WebhookAttemptFieldsFragment,
  type WebhookDeliveryFilter,
  type WebhookDeliveryOrderField,
  type WebhookDeliveryRowFragment,
  type WebhookEndpointFilter,
  type WebhookEndpointOrderField,
  type WebhookFormat,
  type WebhookRowFragment,
} from '../documents.generated.ts';
import { type ListFields, readList } from '../list-query.ts';
import { type Changes, dictionary, flag, given, id, nullable, object, selected, text } from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Route, route } from '../route.ts';
import { time } from '../wire-time.ts';

const ROWS = rowFields(ListWebhooksDocument);
const DELIVERY_ROWS = rowFields(ListWebhookDeliveriesDocument);

const FORMATS = { standard: 'STANDARD', n8n: 'N8N', legacy: 'LEGACY' } as const satisfies Record<string, WebhookFormat>;
const REASONS = { by_hand: 'BY_HAND', gone: 'GONE', failing: 'FAILING' } as const;
const STATUSES = { pending: 'PENDING', delivered: 'DELIVERED', failed: 'FAILED' } as const;

const WEBHOOKS: ListFields<WebhookEndpointFilter, WebhookEndpointOrderField> = {
  filters: {
    url: ['url', 'text'],
    format: ['format', FORMATS],
    enabled: ['isEnabled', 'flag'],
    disabled_reason: ['disabledReason', REASONS],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

const DELIVERIES: ListFields<WebhookDeliveryFilter, WebhookDeliveryOrderField> = {
  filters: { status: ['status', STATUSES], event_type: ['eventType', 'text'], created_at: ['createdAt', 'time'] },
  // Without any, newest first by id, which is the same order.
  sorts: { created_at: 'CREATED_AT' },
};

const webhookRow = (row: WebhookRowFragment) => ({
  id: row.id,
  url: row.url,
  events: row.events,
  format: row.format?.toLowerCase(),
  description: row.description,
  headers: row.headers,
  enabled: row.enabled,
  disabled_reason: row.disabled_reason === null ? null : row.disabled_reason?.toLowerCase(),
  disabled_at: time(row.disabled_at),
  failing_since: time(row.failing_since),
  previous_secret_until: time(row.previous_secret_until),
  created_at: time(row.created_at),
  updated_at: time(row.updated_at),
});

const attemptRow = ({ at, ...attempt }: WebhookAttemptFieldsFragment) => ({ ...attempt, at: time(at) });

const deliveryRow = (row: WebhookDeliveryRowFragment) => ({
  id: row.id,
  event_id: row.event_id,
  event_type: row.event_type,
  is_test: row.is_test,
  status: row.status?.toLowerCase(),
  attempt_count: row.attempt_count,
  next_attempt_at: time(row.next_attempt_at),
  error: row.error,
  created_at: time(row.created_at),
  settled_at: time(row.settled_at),
  attempts: row.attempts?.map(attemptRow),
});

const BODY: Changes = {
  without: ['is_enabled'],
  with: {
    headers: dictionary('Headers to be sent with every delivery, values by name. They are stored sealed.'),
    enabled: flag('Whether events are delivered.'),
  },
};

/** What is said of an endpoint, beside its address and events. */
const details = (body: Body) => ({
  format: body.choice(FORMATS, 'format'),
  headers: body.pairs('headers'),
  description: body.text('description', 'name'),
  isEnabled: body.flag('enabled', 'is_enabled', 'active', 'is_active'),
});

const EXAMPLE = {
  url: 'https://example.com/hooks/parley',
  events: ['message.*', 'contact.created'],
  format: 'standard',
};

const shownOf = (call: Call) => readShown(call.query, ROWS, call.errors);

export const webhookRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/webhooks',
    document: ListWebhooksDocument,
    list: WEBHOOKS,
    answer: selected('webhooks.nodes'),
    plan: call => {
      const list = readList(call.query, WEBHOOKS, call.errors);
      return {
        variables: { ...list, ...shownOf(call) },
        respond: ({ webhooks }) => ({
          message: 'Webhooks',
          data: webhooks.nodes.map(webhookRow),
          page: { ...list, total: webhooks.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/webhooks',
    document: CreateWebhookDocument,
    status: 201,
    found: true,
    body: given('input', BODY),
    example: EXAMPLE,
    notes:
      'An endpoint with the same `url` and the same `events` is not made twice: it is answered with 200, without its secret. So a workflow can subscribe each time it is switched on, and unsubscribe by DELETE.',
    answer: selected('result.endpoint', {
      with: {
        secret: nullable(text('What deliveries are signed with, shown this once; null where it is not new.')),
      },
    }),
    errors: ['FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const body = call.body();
      const url = body.requiredText('url', 'target_url');
      const events = body.words('events', 'event');
      if (events == null && !call.errors.fields['events']) call.errors.add('events', 'Is required.');
      const { format, isEnabled, ...rest } = details(body);
      const input = said({
        ...rest,
        url,
        events: events ?? [],
        format: format ?? undefined,
        isEnabled: isEnabled ?? undefined,
        idempotencyKey: call.idempotencyKey,
      });
      return {
        variables: { input, ...shownOf(call) },
        respond: ({ result: { created, secret, endpoint } }) => {
          const data = webhookRow(endpoint);
          return {
            ...(!created && { status: 200 }),
            message: created ? 'Webhook created' : 'Webhook exists already',
            data: { ...data, secret },
            // A secret is told once.
            kept: { ...data, secret: null },
          };
        },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/webhooks/:id',
    document: GetWebhookDocument,
    answer: selected('webhook'),
    plan: call => ({
      variables: { id: call.id('WebhookEndpoint'), ...shownOf(call) },
      respond: ({ webhook }) => {
        if (!webhook) throw notFound('WebhookEndpoint');
        return { message: 'Webhook', data: webhookRow(webhook) };
      },
    }),
  }),
  route({
    method: 'PATCH',
    path: '/webhooks/:id',
    document: UpdateWebhookDocument,
    body: given('input', BODY),
    example: { events: ['message.*'], enabled: true },
    answer: selected('webhook'),
    plan: call => {
      const body = call.body();
      const input = said({
        ...details(body),
        url: body.text('url', 'target_url'),
        events: body.words('events', 'event'),
        idempotencyKey: call.idempotencyKey,
      });
      return {
        variables: { id: call.id('WebhookEndpoint'), input, ...shownOf(call) },
        respond: ({ webhook }) => ({ message: 'Webhook updated', data: webhookRow(webhook) }),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/:id',
    document: DeleteWebhookDocument,
    plan: call => ({
      variables: { id: call.id('WebhookEndpoint') },
      respond: ({ webhook }) => ({ message: 'Webhook deleted', data: webhook }),
    }),
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/test',
    document: TestWebhookDocument,
    answer: object({
      delivered: flag('Whether the endpoint answered 2xx.'),
      delivery_id: text('The delivery, and its `webhook-id`.', { format: 'uuid' }),
      attempt: selected('result.attempt'),
    }),
    plan: call => ({
      variables: said({ id: call.id('WebhookEndpoint'), idempotencyKey: call.idempotencyKey }),
      respond: ({ result: { delivery, attempt } }) => {
        const delivered = delivery.status === 'DELIVERED';
        return {
          message: delivered ? 'The sample was delivered' : 'The sample was not delivered',
          data: { delivered, delivery_id: delivery.id, attempt: attemptRow(attempt) },
        };
      },
    }),
  }),
  route({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    document: ListWebhookDeliveriesDocument,
    list: DELIVERIES,
    answer: selected('deliveries.nodes'),
    plan: call => {
      const { search: _none, ...list } = readList(call.query, DELIVERIES, call.errors);
      return {
        variables: {
          id: call.id('WebhookEndpoint'),
          ...list,
          ...readShown(call.query, DELIVERY_ROWS, call.errors),
        },
        respond: ({ deliveries }) => ({
          message: 'Deliveries',
          data: deliveries.nodes.map(deliveryRow),
          page: { ...list, total: deliveries.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery/replay',
    document: ReplayWebhookDeliveryDocument,
    params: { id: id('The endpoint.'), delivery: text('The delivery.', { format: 'uuid' }) },
    answer: selected('delivery'),
    errors: ['CONFLICT'],
    plan: call => ({
      variables: {
        endpointId: call.id('WebhookEndpoint'),
        id: call.uuid('WebhookDelivery', 'delivery'),
        ...said({ idempotencyKey: call.idempotencyKey }),
        ...readShown(call.query, DELIVERY_ROWS, call.errors),
      },
      respond: ({ delivery }) => ({ message: 'Delivery queued again', data: deliveryRow(delivery) }),
    }),
  }),
];
