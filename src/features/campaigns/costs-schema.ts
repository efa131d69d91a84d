import { builder } from '../../schema/builder.ts';
import { CostEntry } from '../messages/pricing/cost-entries-schema.ts';
import { StatisticsPoint } from '../messages/statistics/schema.ts';
import { campaignLoader } from './loaders.ts';
import { Campaign } from './schema.ts';

/** Campaigns in statistics and costs. */
builder.objectField(StatisticsPoint, 'campaign', t =>
  t.field({
    type: Campaign,
    nullable: true,
    description: 'Campaign; null for other messages, once it was deleted, and unless the messages are grouped by it.',
    authScopes: { scope: 'campaigns:read' },
    resolve: ({ campaignId }, _args, context) =>
      campaignId === null ? null : campaignLoader(context).load(campaignId),
  }),
);

builder.objectField(CostEntry, 'campaign', t =>
  t.field({
    type: Campaign,
    nullable: true,
    description: 'The campaign that sent the message; null if none did.',
    authScopes: { scope: 'campaigns:read' },
    resolve: ({ campaign_id: id }, _args, context) => (id === null ? null : campaignLoader(context).load(id)),
  }),
);
