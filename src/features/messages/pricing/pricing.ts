/** The price of a message as stored; category and type in the network's words. */
export interface PriceRow {
  readonly message_id: string;
  readonly channel_id: number;
  /** The campaign that sent the message. */
  readonly campaign_id: number | null;
  readonly category: string | null;
  readonly type: string | null;
  readonly is_billable: boolean;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** Acceptance of the message. */
  readonly occurred_at: string;
}

/** Categories that this gateway knows, and their description. The network adds new ones: they are `OTHER`. */
export const PRICING_CATEGORIES = {
  MARKETING: 'Marketing template.',
  MARKETING_LITE: 'Marketing template sent through the MM API.',
  UTILITY: 'Utility template.',
  AUTHENTICATION: 'Authentication template.',
  AUTHENTICATION_INTERNATIONAL: 'Authentication template at the international rate.',
  SERVICE: 'Free-form message in a service window.',
  REFERRAL_CONVERSION: 'In the free window after an ad was clicked.',
  GROUP_MARKETING: 'Marketing message to a group chat.',
  GROUP_UTILITY: 'Utility message to a group chat.',
  GROUP_SERVICE: 'Free-form message to a group chat.',
  OTHER: 'A category that this gateway does not know; see `networkCategory`.',
} as const;
export type PricingCategory = keyof typeof PRICING_CATEGORIES;

/** Types of pricing that this gateway knows, and their description. */
export const PRICING_TYPES = {
  REGULAR: 'Charged at the rate of category and country.',
  FREE_CUSTOMER_SERVICE: 'Free in a service window.',
  FREE_ENTRY_POINT: 'Free after an ad or a call-to-action button was clicked.',
  OTHER: 'A type that this gateway does not know.',
} as const;
export type PricingType = keyof typeof PRICING_TYPES;

/** A word of the network in one spelling: it writes `authentication-international` and `authentication_international`. */
export const networkWord = (word: string): string => word.trim().toLowerCase().replaceAll('-', '_');

const known = <Name extends string>(names: Readonly<Record<Name, string>>, word: string): Name | undefined => {
  const name = networkWord(word).toUpperCase();
  return Object.hasOwn(names, name) ? (name as Name) : undefined;
};

/** @param word the network's category; null or empty if it named none */
export const pricingCategoryOf = (word: string | null): PricingCategory =>
  known(PRICING_CATEGORIES, word ?? '') ?? 'OTHER';

/** @param word the network's type; null or empty if it named none */
export const pricingTypeOf = (word: string | null): PricingType => known(PRICING_TYPES, word ?? '') ?? 'OTHER';

const wordsOf = (names: object): string =>
  Object.keys(names)
    .filter(name => name !== 'OTHER')
    .map(name => `'${name}'`)
    .join(',');

/** `pricingCategoryOf` in SQL. @param word an expression */
export const pricingCategorySql = (word: string): string => {
  const name = `upper(replace(trim(${word}), '-', '_'))`;
  return `case when ${name} in (${wordsOf(PRICING_CATEGORIES)}) then ${name} else 'OTHER' end`;
};
