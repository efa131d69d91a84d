import { builder } from '../../../schema/builder.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  orderOf,
  pageArgs,
} from '../../../schema/lists.ts';
import { findByUuid, nodesByUuid } from '../../../schema/nodes.ts';
import { channelLoader } from '../../channels/loaders.ts';
import { Channel } from '../../channels/schema.ts';
import { messageLoader } from '../loaders.ts';
import { Message } from '../schema.ts';
import { costEntryPage, getEntries } from './cost-entries.ts';
import { getPrices } from './pricing.sql.ts';
import type { PriceRow } from './pricing.ts';
import { MessagePricing, PricingCategoryEnum } from './schema.ts';

export const CostEntry = builder.objectRef<PriceRow>('CostEntry');

builder.node(CostEntry, {
  name: 'CostEntry',
  description:
    'A message for which the network named a price. It is deleted with its message; reports of costs are kept.',
  id: { resolve: entry => entry.message_id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('costs:read', getEntries),
  fields: t => ({
    databaseId: t.exposeString('message_id', { description: 'Its key in REST and webhooks, the UUID of the message.' }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message; null if it was deleted since.',
      authScopes: { scope: 'messages:read' },
      resolve: (entry, _args, context) => messageLoader(context).load(entry.message_id),
    }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The channel that sent it.',
      authScopes: { scope: 'channels:read' },
      resolve: (entry, _args, context) => channelLoader(context).load(entry.channel_id),
    }),
    pricing: t.field({ type: MessagePricing, description: 'What was charged.', resolve: entry => entry }),
    occurredAt: t.expose('occurred_at', {
      type: 'DateTime',
      description: 'Time at which the message was accepted; cost reports use it.',
    }),
  }),
});

export const CostEntryFilter = filterOf('CostEntry', 'cost entries', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the entry.' }),
  channelId: t.field({ type: IDFilter, description: 'Id of the channel.' }),
  campaignId: t.field({ type: IDFilter, description: 'Id of the campaign.' }),
  pricingCategory: t.field({
    type: enumFilter(PricingCategoryEnum),
    description: 'Category by which the network charges.',
  }),
  occurredAt: t.field({ type: DateTimeFilter, description: 'Time at which the message was accepted.' }),
}));
const CostEntryOrder = orderOf('CostEntry', 'cost entries', {
  ID: { value: 'id', description: 'Order of messages.' },
  OCCURRED_AT: { value: 'occurredAt', description: 'Time at which the message was accepted.' },
});

builder.queryFields(t => ({
  costEntries: t.field({
    type: connectionOf('CostEntry', CostEntry),
    description: 'Lists the messages for which the network named a price, newest first by default.',
    authScopes: { scope: 'costs:read' },
    args: {
      ...pageArgs({ search: false }),
      filter: t.arg({ type: CostEntryFilter, description: 'Returns only rows that meet these conditions.' }),
      orderBy: t.arg({
        type: [CostEntryOrder],
        description: 'Sort keys, most significant first; ties are broken by id.',
      }),
    },
    resolve: (_root, args, context) => costEntryPage(context, args),
  }),
  costEntry: t.field({
    type: CostEntry,
    nullable: true,
    description: 'Returns one cost entry; null if there is none.',
    authScopes: { scope: 'costs:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the entry.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'CostEntry', id, getPrices),
  }),
}));
