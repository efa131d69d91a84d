import { inputId, uuidOf } from '../../../core/global-ids.ts';
import { builder } from '../../../schema/builder.ts';
import { IntegrationDelivery, OutcomeType } from './delivery-schema.ts';
import { MAX_REPLAYED, type ReplayedDeliveries, replay, replayAll } from './replay.ts';

const ReplayInput = builder.inputType('ReplayIntegrationDeliveriesInput', {
  description: 'Which payloads of an integration to process again.',
  fields: t => ({
    integrationId: t.id({ required: true, description: 'Global id or databaseId of the integration.' }),
    since: t.field({
      type: 'DateTime',
      required: true,
      description: 'Process payloads received at or after this time.',
    }),
    outcomes: t.field({
      type: [OutcomeType],
      required: true,
      defaultValue: ['refused', 'failed'],
      description:
        'Only payloads with these outcomes. Use IGNORED after a mapping was created or enabled. Default: REFUSED and FAILED.',
    }),
  }),
});

const Replayed = builder.objectRef<ReplayedDeliveries>('ReplayIntegrationDeliveriesResult').implement({
  description: 'Result of replaying payloads.',
  fields: t => ({
    count: t.exposeInt('count', { description: 'Number of payloads that were queued again.' }),
    hasMore: t.exposeBoolean('hasMore', {
      description: `Whether more payloads may remain: one call queues up to ${MAX_REPLAYED}, oldest first.`,
    }),
    lastReceivedAt: t.expose('lastReceivedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of receipt of the last queued payload. Pass it as \\`since\\` to continue.',
    }),
  }),
});

builder.mutationFields(t => ({
  replayIntegrationDelivery: t.field({
    type: IntegrationDelivery,
    description:
      'Processes a payload again with the present mappings. Mappings that were already applied to the order in its status are not applied again, unless `force` is set. Errors: NOT_FOUND.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the payload.' }),
      force: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Apply mappings again that were already applied. The customer receives the template once more.',
      }),
    },
    resolve: (_root, { id, force }, context) => replay(context, uuidOf('IntegrationDelivery', id), force),
  }),
  replayIntegrationDeliveries: t.field({
    type: Replayed,
    description:
      'Processes payloads of an integration again that were received since a given time and were refused or failed, with the present mappings. Mappings that were already applied are not applied again. Errors: NOT_FOUND.',
    authScopes: { scope: 'integrations:write' },
    args: { input: t.arg({ type: ReplayInput, required: true, description: 'Payloads to process again.' }) },
    resolve: (_root, { input }, context) =>
      replayAll(context, { ...input, integrationId: inputId('Integration', input.integrationId, 'integrationId') }),
  }),
}));
