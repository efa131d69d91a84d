import { inputId, requireId, requireUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { entityPayload, mutation, payloadOf } from '../../../schema/payload.ts';
import { replayedIds } from '../../../schema/replay-input.ts';
import { WebhookDelivery } from './deliveries-schema.ts';
import {
  MAX_REPLAYED,
  MAX_REPLAYED_IDS,
  type ReplayedDeliveries,
  type ReplayRequest,
  replayDeliveries,
  replayDelivery,
} from './replay.ts';
import { sendTest } from './send-test.ts';

const DeliveryPayload = entityPayload('webhookDelivery', WebhookDelivery, 'The delivery after the mutation.');

const TestInput = builder.inputType('TestWebhookEndpointInput', {
  description: 'The endpoint that gets a test event.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the endpoint.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

mutation('testWebhookEndpoint', {
  description:
    'Sends one test event (`webhook.test`) and waits up to 15 seconds for the response: the only one of `attempts`. Works for disabled endpoints too.',
  scope: 'webhooks:write',
  input: TestInput,
  payload: DeliveryPayload,
  resolve: async ({ id, idempotencyKey }, context) => ({
    webhookDelivery: await sendTest(context, requireId(tenantOf(context), 'WebhookEndpoint', id), idempotencyKey),
  }),
});

const ReplayOneInput = builder.inputType('ReplayWebhookDeliveryInput', {
  description: 'The delivery to repeat.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the delivery.' }),
    endpointId: t.id({ description: 'If given, the delivery must belong to this endpoint.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

mutation('replayWebhookDelivery', {
  description:
    'Repeats a delivery now, with the same `webhook-id`. DISABLED if the endpoint is disabled, CONFLICT if it was deleted or the contact of the event was erased.',
  scope: 'webhooks:write',
  input: ReplayOneInput,
  payload: DeliveryPayload,
  resolve: async ({ id, endpointId, idempotencyKey }, context) => ({
    webhookDelivery: await replayDelivery(
      context,
      requireUuid(tenantOf(context), 'WebhookDelivery', id),
      endpointId == null ? undefined : requireId(tenantOf(context), 'WebhookEndpoint', endpointId, 'endpointId'),
      idempotencyKey,
    ),
  }),
});

interface ReplayInput {
  readonly ids?: readonly string[] | null | undefined;
  readonly endpointId?: string | null | undefined;
  readonly since?: string | null | undefined;
  readonly onlyFailed: boolean;
  readonly idempotencyKey?: string | null | undefined;
}

const ReplayManyInput = builder.inputRef<ReplayInput>('ReplayWebhookDeliveriesInput').implement({
  description: 'Which deliveries to repeat: `ids`, or `endpointId` and `since`.',
  fields: t => ({
    ids: t.idList({ description: `Global ids or databaseIds of 1 to ${MAX_REPLAYED_IDS} deliveries.` }),
    endpointId: t.id({ description: 'Global id or databaseId of an endpoint whose deliveries are repeated.' }),
    since: t.field({ type: 'DateTime', description: 'Repeat deliveries that were queued at or after this time.' }),
    onlyFailed: t.boolean({
      required: true,
      defaultValue: true,
      description: 'With `since`: if true, repeats only failed deliveries. If false, also successful ones.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

/** @throws VALIDATION_ERROR with all faults */
function requestOf(context: Context, input: ReplayInput): ReplayRequest {
  const tenantId = tenantOf(context);
  const named = { tenantId, typename: 'WebhookDelivery', source: 'endpointId', maximum: MAX_REPLAYED_IDS } as const;
  const ids = replayedIds(input, named);
  if (ids) return { ids };
  const endpointId = inputId(tenantId, 'WebhookEndpoint', String(input.endpointId), 'endpointId');
  return { endpointId, since: String(input.since), onlyFailed: input.onlyFailed };
}

const ReplayPayload = payloadOf<ReplayedDeliveries>('WebhookReplayPayload', 'Result of repeating deliveries.', t => ({
  webhookDeliveries: t.field({
    type: [WebhookDelivery],
    extensions: { listSize: MAX_REPLAYED_IDS },
    description: 'The deliveries named by `ids`; empty with `since`.',
    resolve: ({ webhookDeliveries = [] }) => [...webhookDeliveries],
  }),
  count: t.int({ description: 'Number of deliveries that were queued again.', resolve: ({ count = 0 }) => count }),
  hasMore: t.boolean({
    description: `Whether more deliveries may remain: one call queues up to ${MAX_REPLAYED}. For failed deliveries, repeat the call.`,
    resolve: ({ hasMore = false }) => hasMore,
  }),
}));

mutation('replayWebhookDeliveries', {
  description:
    'Repeats deliveries in order, with the same `webhook-id`. DISABLED if an endpoint is disabled, CONFLICT if one was deleted or the contact of a named one was erased.',
  scope: 'webhooks:write',
  input: ReplayManyInput,
  payload: ReplayPayload,
  resolve: (input, context) => replayDeliveries(context, requestOf(context, input), input.idempotencyKey),
});
