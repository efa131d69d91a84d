import { builder } from '../../builder.ts';
import { inputId, uuidOf } from '../../global-ids.ts';
import { IntegrationDelivery, OutcomeType } from './delivery-schema.ts';
import { MAX_REPLAYED, type ReplayedDeliveries, replay, replayAll } from './replay.ts';

const ReplayInput = builder.inputType('ReplayIntegrationDeliveriesInput', {
  description: 'What is to be worked on again.',
  fields: t => ({
    integrationId: t.id({ required: true, description: 'The integration: its global id or databaseId.' }),
    since: t.field({ type: 'DateTime', required: true, description: 'Everything that came since then.' }),
    outcomes: t.field({
      type: [OutcomeType],
      required: true,
      defaultValue: ['refused', 'failed'],
      description: 'Of that what came to this. IGNORED: after a mapping was made or switched on.',
    }),
  }),
});

const Replayed = builder.objectRef<ReplayedDeliveries>('ReplayIntegrationDeliveriesResult').implement({
  description: 'How much is worked on again.',
  fields: t => ({
    count: t.exposeInt('count', { description: 'How many payloads wait again.' }),
    hasMore: t.exposeBoolean('hasMore', {
      description: `Whether there may be more: one call takes up to ${MAX_REPLAYED}, the oldest first.`,
    }),
    lastReceivedAt: t.expose('lastReceivedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last of them came: what to give as `since` for the rest.',
    }),
  }),
});

builder.mutationFields(t => ({
  replayIntegrationDelivery: t.field({
    type: IntegrationDelivery,
    description:
      'Has a payload worked on again, by the mappings as they are now. What was done for the order in its status is not done again, unless force says so.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      force: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Do again what has been done: the customer gets the template once more.',
      }),
    },
    resolve: (_root, { id, force }, context) => replay(context, uuidOf('IntegrationDelivery', id), force),
  }),
  replayIntegrationDeliveries: t.field({
    type: Replayed,
    description:
      'Has all payloads of an integration worked on again that came since a time and were refused or failed, by the mappings as they are now. What was done for an order in its status is not done again.',
    authScopes: { scope: 'integrations:write' },
    args: { input: t.arg({ type: ReplayInput, required: true, description: 'Which of them.' }) },
    resolve: (_root, { input }, context) =>
      replayAll(context, { ...input, integrationId: inputId('Integration', input.integrationId, 'integrationId') }),
  }),
}));
