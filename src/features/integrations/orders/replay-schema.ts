import { inputId, requireUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { entityPayload, mutation, payloadOf } from '../../../schema/payload.ts';
import { replayedIds } from '../../../schema/replay-input.ts';
import type { Outcome } from './delivery.ts';
import { IntegrationDelivery, OutcomeType } from './delivery-schema.ts';
import {
  MAX_REPLAYED,
  MAX_REPLAYED_IDS,
  type ReplayedDeliveries,
  type ReplayRequest,
  replay,
  replayAll,
} from './replay.ts';

const ReplayOneInput = builder.inputType('ReplayIntegrationDeliveryInput', {
  description: 'The payload to process again.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the payload.' }),
    force: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Apply mappings again that were already applied. The customer receives the template once more.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

mutation('replayIntegrationDelivery', {
  description:
    'Processes a payload again with the present mappings. Mappings that were already applied to the order in its status are not applied again, unless `force` is set.',
  scope: 'integrations:write',
  input: ReplayOneInput,
  payload: entityPayload('integrationDelivery', IntegrationDelivery, 'The payload after the mutation.'),
  resolve: async ({ id, force, idempotencyKey }, context) => ({
    integrationDelivery: await replay(
      context,
      requireUuid(tenantOf(context), 'IntegrationDelivery', id),
      force,
      idempotencyKey,
    ),
  }),
});

interface ReplayInput {
  readonly ids?: readonly string[] | null | undefined;
  readonly integrationId?: string | null | undefined;
  readonly since?: string | null | undefined;
  readonly outcomes: readonly Outcome[];
  readonly idempotencyKey?: string | null | undefined;
}

const ReplayManyInput = builder.inputRef<ReplayInput>('ReplayIntegrationDeliveriesInput').implement({
  description: 'Which payloads to process again: `ids`, or `integrationId` and `since`.',
  fields: t => ({
    ids: t.idList({ description: `Global ids or databaseIds of 1 to ${MAX_REPLAYED_IDS} payloads.` }),
    integrationId: t.id({ description: 'Global id or databaseId of an integration.' }),
    since: t.field({ type: 'DateTime', description: 'Process payloads received at or after this time.' }),
    outcomes: t.field({
      type: [OutcomeType],
      required: true,
      defaultValue: ['refused', 'failed'],
      description:
        'With `since`: only payloads with these outcomes. Use IGNORED after a mapping was created or enabled. Default: REFUSED and FAILED.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

/** @throws VALIDATION_ERROR with all faults */
function requestOf(context: Context, input: ReplayInput): ReplayRequest {
  const tenantId = tenantOf(context);
  const named = {
    tenantId,
    typename: 'IntegrationDelivery',
    source: 'integrationId',
    maximum: MAX_REPLAYED_IDS,
  } as const;
  const ids = replayedIds(input, named);
  if (ids) return { ids };
  const integrationId = inputId(tenantId, 'Integration', String(input.integrationId), 'integrationId');
  return { integrationId, since: String(input.since), outcomes: input.outcomes };
}

const ReplayPayload = payloadOf<ReplayedDeliveries>('IntegrationReplayPayload', 'Result of replaying payloads.', t => ({
  integrationDeliveries: t.field({
    type: [IntegrationDelivery],
    extensions: { listSize: MAX_REPLAYED_IDS },
    description: 'The payloads named by `ids`; empty with `since`.',
    resolve: ({ integrationDeliveries = [] }) => [...integrationDeliveries],
  }),
  count: t.int({ description: 'Number of payloads that were queued again.', resolve: ({ count = 0 }) => count }),
  hasMore: t.boolean({
    description: `Whether more payloads may remain: one call queues up to ${MAX_REPLAYED}, oldest first.`,
    resolve: ({ hasMore = false }) => hasMore,
  }),
  lastReceivedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Time of receipt of the last queued payload. Pass it as `since` to continue.',
    resolve: ({ lastReceivedAt }) => lastReceivedAt ?? null,
  }),
}));

mutation('replayIntegrationDeliveries', {
  description:
    'Processes payloads again with the present mappings: named ones, or those of an integration that were received since a given time and were refused or failed. Mappings that were already applied are not applied again.',
  scope: 'integrations:write',
  input: ReplayManyInput,
  payload: ReplayPayload,
  resolve: (input, context) => replayAll(context, requestOf(context, input), input.idempotencyKey),
});
