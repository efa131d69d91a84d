import { builder } from '../../../schema/builder.ts';
import { Money } from '../../../schema/money.ts';
import { findByNumber } from '../../../schema/nodes.ts';
import { Contact } from '../../contacts/schema.ts';
import { RenderedTemplate } from '../../templates/sending/send-schema.ts';
import { SkipCountType } from '../recipients/schema.ts';
import { getCampaigns } from '../store.ts';
import { type Preview, previewCampaign, type Sample } from './preview.ts';

const SampleType = builder.objectRef<Sample>('CampaignSample').implement({
  description: 'What one recipient would get.',
  fields: t => ({
    contact: t.expose('contact', {
      type: Contact,
      nullable: true,
      description: 'The recipient.',
      authScopes: { scope: 'contacts:read' },
    }),
    rendered: t.expose('rendered', {
      type: RenderedTemplate,
      nullable: true,
      description: 'The template with its values; null if they are not valid for this recipient, who is then skipped.',
    }),
    fault: t.exposeString('fault', { nullable: true, description: 'Why it is invalid; null if it is valid.' }),
  }),
});

const PreviewType = builder.objectRef<Preview>('CampaignPreview').implement({
  description: 'What a campaign would do if it started now.',
  fields: t => ({
    audienceCount: t.exposeInt('audience', {
      description: 'People in its audience, rows of a list counted one by one.',
    }),
    recipientCount: t.exposeInt('recipients', { description: 'People who get the message.' }),
    skips: t.field({
      type: [SkipCountType],
      description: 'People who do not get it, by reason.',
      extensions: { listSize: 8 },
      resolve: ({ skips }) => [...skips],
    }),
    waitingCount: t.exposeInt('waiting', {
      description: 'Recipients for whom it is outside the sending hours now; they are messaged later.',
    }),
    overPlanCount: t.exposeInt('over_plan', {
      description: 'Recipients for whom the plan has no message left this month: the campaign pauses before them.',
    }),
    samples: t.field({
      type: [SampleType],
      description: 'Three recipients with what they would get.',
      extensions: { listSize: 3 },
      resolve: ({ samples }) => [...samples],
    }),
    durationSeconds: t.exposeInt('duration_seconds', {
      nullable: true,
      description:
        'Time until the last message by rate and daily limit, without sending hours; null without a channel.',
    }),
    dailyLimit: t.exposeInt('daily_limit', {
      nullable: true,
      description: 'People whom the portfolio may reach in 24 hours; null if the network sets or reports no limit.',
    }),
    reachedCount: t.exposeInt('reached', {
      nullable: true,
      description: 'People whom the portfolio reached in the last 24 hours; null without a limit.',
    }),
    cost: t.field({
      type: [Money],
      nullable: true,
      description: 'Cost by currency; null if the deployment has no price for one of the countries.',
      extensions: { listSize: 1 },
      resolve: ({ cost }) => (cost ? [...cost] : null),
    }),
  }),
});

builder.queryField('previewCampaign', t =>
  t.field({
    type: PreviewType,
    nullable: true,
    description:
      'Counts who would get a campaign and who would not, with reasons, and estimates its time and cost; null if there is no such campaign. Costs ten points of the rate limit. Errors: VALIDATION_ERROR.',
    authScopes: { scope: 'campaigns:read' },
    extensions: { points: 10 },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the campaign.' }) },
    resolve: async (_root, { id }, context) => {
      const campaign = await findByNumber(context, 'Campaign', id, getCampaigns);
      return campaign && previewCampaign(context, campaign.id);
    },
  }),
);
