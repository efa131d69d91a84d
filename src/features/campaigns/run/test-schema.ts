import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { mutation } from '../../../schema/payload.ts';
import { MessagePayload } from '../../messages/send/send-schema.ts';
import { testCampaign } from './test-send.ts';

const TestInput = builder.inputType('TestCampaignInput', {
  description: 'A test of a campaign.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the campaign.' }),
    phone: t.string({
      required: true,
      description: 'Phone number in international format, such as your own. An unknown number creates a contact.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

mutation('testCampaign', {
  description:
    'Sends the message of a campaign to one number, in any state of the campaign, with the values of the first row of its list. It does not count for the campaign.',
  scope: ['campaigns:write', 'messages:send'],
  input: TestInput,
  payload: MessagePayload,
  resolve: async ({ id, ...input }, context) => ({
    message: await testCampaign(context, requireId(tenantOf(context), 'Campaign', id), input),
  }),
});
