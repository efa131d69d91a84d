import { countryByCode } from '../../../platform/countries.ts';
import { builder } from '../../../schema/builder.ts';
import { CountryType } from '../../../schema/countries.ts';
import { Money } from '../../../schema/money.ts';
import { selectionOf } from '../../../schema/selection.ts';
import { channelLoader } from '../../channels/loaders.ts';
import { Channel } from '../../channels/schema.ts';
import { Template, templateLoader } from '../../templates/schema.ts';
import { AuthorKind } from '../../tenancy/audit/schema.ts';
import type { Status } from '../message.ts';
import { PricingCategoryEnum, PricingTypeEnum } from '../pricing/schema.ts';
import { Direction, MessageFilter, MessageStatus } from '../schema.ts';
import { type Point, readStatistics, type Statistics, wantedBy } from './statistics.ts';

const Interval = builder.enumType('StatisticsInterval', {
  description: 'Length of the intervals of a series, in a time zone.',
  values: {
    HOUR: { value: 'hour', description: 'Whole hours.' },
    DAY: { value: 'day', description: 'Days: 23 or 25 hours where the clock changes.' },
    WEEK: { value: 'week', description: 'Weeks from Monday.' },
    MONTH: { value: 'month', description: 'Whole months.' },
  } as const,
});

const Dimension = builder.enumType('StatisticsDimension', {
  description: 'Dimension by which messages are counted.',
  values: {
    STATUS: { value: 'status', description: 'Present status.' },
    DIRECTION: { value: 'direction', description: 'INBOUND or OUTBOUND.' },
    CATEGORY: { value: 'category', description: 'Category of the price.' },
    PRICING_TYPE: { value: 'pricingType', description: 'Type of the price: charged or free, and why.' },
    ERROR_CODE: { value: 'errorCode', description: "The network's error code of failed messages." },
    COUNTRY: { value: 'country', description: "Country of the person's phone number." },
    CHANNEL: { value: 'channel', description: 'By the channel.' },
    TEMPLATE: { value: 'template', description: 'By the template.' },
    CAMPAIGN: { value: 'campaign', description: 'By the campaign.' },
    SOURCE: { value: 'source', description: 'By the kind of author: API, staff, bot, campaign.' },
  } as const,
});

const COST = 'By the price table of the deployment, one amount for each currency; null without a table.';
const UNPRICED = 'Billable messages for which the price table has no price; `cost` lacks them.';

export const StatisticsPoint = builder.objectRef<Point>('StatisticsPoint').implement({
  description: 'Messages of one interval, with one value of each dimension that they are grouped by.',
  fields: t => ({
    start: t.field({
      type: 'DateTime',
      description: 'Start of the interval.',
      resolve: ({ startMs }) => new Date(startMs).toISOString(),
    }),
    count: t.exposeInt('count', { description: 'Number of messages.' }),
    cost: t.field({
      type: [Money],
      nullable: true,
      description: COST,
      authScopes: { scope: 'costs:read' },
      resolve: ({ cost }) => cost && [...cost],
    }),
    unpricedCount: t.exposeInt('unpricedCount', { description: UNPRICED }),
    deliveryMsP50: t.exposeInt('deliveryMsP50', {
      nullable: true,
      description:
        'Median time from acceptance by the network to delivery, in milliseconds, within 25 %; null if none was delivered.',
    }),
    deliveryMsP95: t.exposeInt('deliveryMsP95', {
      nullable: true,
      description:
        '95th percentile of the time from acceptance by the network to delivery, in milliseconds, within 25 %; null if none was delivered.',
    }),
    status: t.field({
      type: MessageStatus,
      nullable: true,
      description: 'Status of the messages; null unless they are grouped by it.',
      resolve: ({ status }) => status as Status | null,
    }),
    direction: t.expose('direction', {
      type: Direction,
      nullable: true,
      description: 'Direction of the messages; null unless they are grouped by it.',
    }),
    category: t.expose('category', {
      type: PricingCategoryEnum,
      nullable: true,
      description: 'Category of the price; null for messages without one, and unless they are grouped by it.',
    }),
    pricingType: t.expose('pricingType', {
      type: PricingTypeEnum,
      nullable: true,
      description: 'Type of the price; null for messages without one, and unless they are grouped by it.',
    }),
    errorCode: t.exposeInt('errorCode', {
      nullable: true,
      description: 'Error code; null for messages that have not failed, and unless they are grouped by it.',
    }),
    country: t.field({
      type: CountryType,
      nullable: true,
      description: 'Country of the phone number; null if it is unknown, and unless the messages are grouped by it.',
      resolve: ({ country }) => (country === null ? null : (countryByCode(country) ?? null)),
    }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'Channel of the messages; null unless they are grouped by it.',
      authScopes: { scope: 'channels:read' },
      resolve: ({ channelId }, _args, context) => (channelId === null ? null : channelLoader(context).load(channelId)),
    }),
    template: t.field({
      type: Template,
      nullable: true,
      description: 'Template; null for other messages, once it was deleted, and unless the messages are grouped by it.',
      authScopes: { scope: 'templates:read' },
      resolve: ({ templateId }, _args, context) =>
        templateId === null ? null : templateLoader(context).load(templateId),
    }),
    source: t.field({
      type: AuthorKind,
      nullable: true,
      description:
        'Kind of author; null for messages of people and other systems, and unless the messages are grouped by it.',
      resolve: ({ source }) => source as typeof AuthorKind.$inferType | null,
    }),
  }),
});

/** Points that the limits expect: a series seldom has many, and its objects are small. */
const SERIES_SIZE = 100;

const StatisticsType = builder.objectRef<Statistics>('MessageStatistics').implement({
  description: 'Numbers of messages. They stay when messages are deleted.',
  fields: t => ({
    total: t.exposeInt('total', { description: 'All messages that were counted.' }),
    cost: t.field({
      type: [Money],
      nullable: true,
      description: COST,
      authScopes: { scope: 'costs:read' },
      resolve: ({ cost }) => cost && [...cost],
    }),
    unpricedCount: t.exposeInt('unpricedCount', { description: UNPRICED }),
    series: t.field({
      type: [StatisticsPoint],
      extensions: { listSize: SERIES_SIZE },
      description: 'Points in the order of time, the greatest count first. Intervals without messages have none.',
      resolve: ({ series }) => [...series],
    }),
  }),
});

const rangeArgs = (interval: 'day' | 'month') =>
  builder.args(t => ({
    since: t.field({ type: 'DateTime', required: true, description: 'First instant.' }),
    until: t.field({ type: 'DateTime', description: 'End of the range, excluded; now by default.' }),
    interval: t.field({
      type: Interval,
      required: true,
      defaultValue: interval,
      description: 'Length of the intervals; at most 10,000 of them.',
    }),
    groupBy: t.field({
      type: [Dimension],
      required: true,
      defaultValue: [],
      description: 'Counts each combination of these values.',
    }),
    timeZone: t.string({
      description: "Name of the IANA time zone database; by default the account's zone.",
    }),
  }));

builder.queryFields(t => ({
  messageStatistics: t.field({
    type: StatisticsType,
    description: 'Counts messages by the time of their acceptance and their present status.',
    authScopes: { scope: 'messages:read' },
    extensions: { points: 2 },
    args: {
      ...rangeArgs('day'),
      filter: t.arg({
        type: MessageFilter,
        description:
          'Counts only messages that meet these conditions. Fast for status, direction, channel, template and errors; other conditions read the messages.',
      }),
    },
    resolve: (_root, args, context, info) => readStatistics(context, args, wantedBy(selectionOf(info))),
  }),
  costReport: t.field({
    type: StatisticsType,
    description: 'Counts messages for which the network named a price, and what they cost.',
    authScopes: { scope: 'costs:read' },
    extensions: { points: 2 },
    args: { ...rangeArgs('month') },
    resolve: (_root, args, context, info) => readStatistics(context, args, wantedBy(selectionOf(info), true)),
  }),
}));
