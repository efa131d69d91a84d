import { type PricingCategory, type PricingType, pricingCategoryOf, pricingTypeOf } from '../pricing/pricing.ts';
import type { StatisticColumn } from './columns.ts';
import type { CountRow } from './statistics.sql.ts';

/** The values of a point; null for a dimension that it is not grouped by, and for none. */
export interface DimensionValues {
  readonly status: string | null;
  readonly direction: 'inbound' | 'outbound' | null;
  readonly category: PricingCategory | null;
  readonly pricingType: PricingType | null;
  readonly errorCode: number | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly channelId: number | null;
  readonly templateId: number | null;
  readonly campaignId: number | null;
  readonly source: string | null;
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const key = (value: unknown): number | null => (typeof value === 'number' && value !== 0 ? value : null);
const words = <Name extends string>(value: unknown, nameOf: (word: string) => Name): Name | null => {
  const word = text(value);
  return word === null ? null : nameOf(word);
};

interface DimensionOf<Name extends keyof DimensionValues> {
  readonly column: StatisticColumn;
  readonly name: Name;
  readonly read: (row: CountRow) => DimensionValues[Name];
}

/** Dimensions for grouping. */
export const DIMENSIONS = {
  status: { column: 'status', name: 'status', read: row => text(row.status) },
  direction: { column: 'status', name: 'direction', read: row => (row.status === 'received' ? 'inbound' : 'outbound') },
  category: { column: 'category', name: 'category', read: row => words(row.category, pricingCategoryOf) },
  pricingType: { column: 'pricing_type', name: 'pricingType', read: row => words(row.pricing_type, pricingTypeOf) },
  errorCode: {
    column: 'error_code',
    name: 'errorCode',
    read: row => (typeof row.error_code === 'number' && row.error_code >= 0 ? row.error_code : null),
  },
  country: { column: 'country', name: 'country', read: row => text(row.country) },
  channel: { column: 'channel_id', name: 'channelId', read: row => key(row.channel_id) },
  template: { column: 'template_id', name: 'templateId', read: row => key(row.template_id) },
  campaign: { column: 'campaign_id', name: 'campaignId', read: row => key(row.campaign_id) },
  source: { column: 'author', name: 'source', read: row => text(row.author) },
} as const satisfies Readonly<
  Record<string, { [Name in keyof DimensionValues]: DimensionOf<Name> }[keyof DimensionValues]>
>;

export type Dimension = keyof typeof DIMENSIONS;

const NONE: DimensionValues = {
  status: null,
  direction: null,
  category: null,
  pricingType: null,
  errorCode: null,
  country: null,
  channelId: null,
  templateId: null,
  campaignId: null,
  source: null,
};

export const valuesOf = (groupBy: readonly Dimension[], row: CountRow): DimensionValues => ({
  ...NONE,
  ...Object.fromEntries(groupBy.map(dimension => [DIMENSIONS[dimension].name, DIMENSIONS[dimension].read(row)])),
});
