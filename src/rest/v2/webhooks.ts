import { z } from 'zod';
import { rowId, selectionOf } from '../openapi/schema.ts';
import {
  alias,
  body,
  choice,
  dropUndefined,
  flag,
  names,
  pairs,
  requiredNames,
  requiredText,
  text,
} from '../runtime/fields.ts';
import type { ListFields } from '../runtime/query.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  GetWebhookDocument,
  ListWebhookDeliveriesDocument,
  ListWebhooksDocument,
  ReplayWebhookDeliveryDocument,
  TestWebhookDocument,
  UpdateWebhookDocument,
  type WebhookAttemptFragment,
  type WebhookDeliveryFilter,
  type WebhookDeliveryOrderField,
  type WebhookDeliveryRowFragment,
  type WebhookEndpointFilter,
  type WebhookEndpointOrderField,
  type WebhookFormat,
  type WebhookRowFragment,
} from '../wire/documents.generated.ts';
import { rowKey, time } from '../wire/values.ts';

const FORMATS = { standard: 'STANDARD', n8n: 'N8N', legacy: 'LEGACY' } as const satisfies Record<string, WebhookFormat>;
const REASONS = { by_hand: 'BY_HAND', gone: 'GONE', failing: 'FAILING' } as const;
const STATUSES = { pending: 'PENDING', delivered: 'DELIVERED', failed: 'FAILED' } as const;

const WEBHOOK_LIST: ListFields<WebhookEndpointFilter, WebhookEndpointOrderField> = {
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

const DELIVERY_LIST: ListFields<WebhookDeliveryFilter, WebhookDeliveryOrderField> = {
  filters: { status: ['status', STATUSES], event_type: ['eventType', 'text'], created_at: ['createdAt', 'time'] },
  // The default is newest first by id, which is the same order.
  sorts: { created_at: 'CREATED_AT' },
};

const webhookRow = (row: WebhookRowFragment) => ({
  id: rowKey(row.id),
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

const attemptRow = ({ at, ...attempt }: WebhookAttemptFragment) => ({ ...attempt, at: time(at) });

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

const URL = { maxLength: 2_000 };

const SETTINGS = {
  format: choice(FORMATS),
  headers: pairs({
    description:
      'Additional headers of every delivery: values by name. They are stored encrypted. A change may name headers alone, in a list as answers have them, to keep their values.',
  }),
  description: alias(text({ maxLength: 500 }), 'name'),
  enabled: alias(flag({ description: 'Whether events are delivered.' }), 'is_enabled', 'active', 'is_active'),
};

const EXAMPLE = {
  url: 'https://example.com/hooks/parley',
  events: ['message.*', 'contact.created'],
  format: 'standard',
};

export const webhookRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/webhooks',
    document: ListWebhooksDocument,
    list: WEBHOOK_LIST,
    answer: selectionOf('webhooks.nodes'),
    variables: ({ list }) => list,
    respond: ({ webhooks }, { list }) => listResponse('Webhooks', webhooks, list, webhookRow),
  }),
  route({
    method: 'POST',
    path: '/webhooks',
    document: CreateWebhookDocument,
    status: 201,
    mayExist: true,
    body: body({
      url: alias(requiredText(URL), 'target_url'),
      events: alias(requiredNames(), 'event'),
      ...SETTINGS,
    }),
    example: EXAMPLE,
    notes:
      'If an endpoint with the same `url` and `events` exists, it is returned with status 200 and without its secret, so that a workflow can subscribe each time it starts and unsubscribe by DELETE.',
    answer: selectionOf('result.endpoint', {
      with: {
        secret: z
          .string()
          .nullable()
          .describe('The key that signs deliveries, shown only once; null for an existing endpoint.'),
      },
    }),
    errors: ['FEATURE_NOT_AVAILABLE'],
    variables: ({ call, body: { enabled, format, ...settings } }) => ({
      input: dropUndefined({
        ...settings,
        format: format ?? undefined,
        isEnabled: enabled ?? undefined,
        idempotencyKey: call.idempotencyKey,
      }),
    }),
    respond: ({ result: { created, secret, endpoint } }) => {
      const data = webhookRow(requireRow(endpoint, 'WebhookEndpoint'));
      return {
        ...(created !== true && { status: 200 }),
        message: created ? 'Webhook created' : 'Webhook exists already',
        data: { ...data, secret },
        storedData: { ...data, secret: null },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/webhooks/:id',
    resource: 'WebhookEndpoint',
    document: GetWebhookDocument,
    answer: selectionOf('webhook'),
    variables: ({ id }) => ({ id }),
    respond: ({ webhook }) => ({ message: 'Webhook', data: webhookRow(requireRow(webhook, 'WebhookEndpoint')) }),
  }),
  route({
    method: 'PATCH',
    path: '/webhooks/:id',
    resource: 'WebhookEndpoint',
    document: UpdateWebhookDocument,
    body: body({ url: alias(text(URL), 'target_url'), events: alias(names(), 'event'), ...SETTINGS }),
    example: { events: ['message.*'], enabled: true },
    names: { isEnabled: 'enabled' },
    answer: selectionOf('result.row'),
    variables: ({ call, id, body: { enabled, ...settings } }) => ({
      input: dropUndefined({ ...settings, id, isEnabled: enabled, idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { row } }) => ({
      message: 'Webhook updated',
      data: webhookRow(requireRow(row, 'WebhookEndpoint')),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/:id',
    resource: 'WebhookEndpoint',
    document: DeleteWebhookDocument,
    variables: ({ id }) => ({ input: { id } }),
    respond: (_data, { id }) => ({ message: 'Webhook deleted', data: { id: Number(id) } }),
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/test',
    resource: 'WebhookEndpoint',
    document: TestWebhookDocument,
    answer: z.object({
      delivered: z.boolean().describe('Whether the endpoint responded with 2xx.'),
      delivery_id: z.string().meta({ format: 'uuid', description: 'Id of the delivery, sent as `webhook-id`.' }),
      attempt: selectionOf('result.delivery.attempts'),
    }),
    variables: ({ call, id }) => ({ input: dropUndefined({ id, idempotencyKey: call.idempotencyKey }) }),
    respond: ({ result }) => {
      const delivery = requireRow(result.delivery, 'WebhookDelivery');
      const attempt = requireRow(delivery.attempts[0], 'WebhookDelivery');
      const delivered = delivery.status === 'DELIVERED';
      return {
        message: delivered ? 'The sample was delivered' : 'The sample was not delivered',
        data: { delivered, delivery_id: delivery.id, attempt: attemptRow(attempt) },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    resource: 'WebhookEndpoint',
    document: ListWebhookDeliveriesDocument,
    summary: 'Lists the deliveries to an endpoint, newest first by default.',
    list: DELIVERY_LIST,
    answer: selectionOf('webhook.deliveries.nodes'),
    variables: ({ id, list: { search: _search, ...list } }) => ({ id, ...list }),
    respond: ({ webhook }, { list }) => {
      const { deliveries } = requireRow(webhook, 'WebhookEndpoint');
      return listResponse('Deliveries', requireRow(deliveries, 'WebhookEndpoint'), list, deliveryRow);
    },
  }),
  route({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery/replay',
    resource: 'WebhookEndpoint',
    document: ReplayWebhookDeliveryDocument,
    params: {
      id: rowId('Id of the endpoint.'),
      delivery: z.string().meta({ format: 'uuid', description: 'Id of the delivery (`webhook-id`).' }),
    },
    answer: selectionOf('result.row'),
    errors: ['CONFLICT', 'DISABLED'],
    variables: ({ call, id }) => ({
      input: dropUndefined({
        endpointId: id,
        id: call.id('WebhookDelivery', 'uuid', 'delivery'),
        idempotencyKey: call.idempotencyKey,
      }),
    }),
    respond: ({ result: { row } }) => ({
      message: 'Delivery queued again',
      data: deliveryRow(requireRow(row, 'WebhookDelivery')),
    }),
  }),
];
