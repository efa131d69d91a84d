import { countryByCode } from '../../../platform/countries.ts';
import { builder } from '../../../schema/builder.ts';
import { CountryType } from '../../../schema/countries.ts';
import { rowLoaderBy } from '../../../schema/loaders.ts';
import { Money } from '../../../schema/money.ts';
import { Message } from '../schema.ts';
import { costOf } from './cost.ts';
import { getPrices } from './pricing.sql.ts';
import {
  PRICING_CATEGORIES,
  PRICING_TYPES,
  type PriceRow,
  type PricingCategory,
  type PricingType,
  pricingCategoryOf,
  pricingTypeOf,
} from './pricing.ts';

const priceLoader = rowLoaderBy('message_id', getPrices);

const valuesOf = <Name extends string>(names: Readonly<Record<Name, string>>) =>
  Object.fromEntries(
    Object.entries<string>(names).map(([name, description]) => [name, { value: name, description }]),
  ) as Record<Name, { value: Name; description: string }>;

export const PricingCategoryEnum = builder.enumType('PricingCategory', {
  description: 'What the network charges a message as.',
  values: valuesOf<PricingCategory>(PRICING_CATEGORIES),
});

export const PricingTypeEnum = builder.enumType('PricingType', {
  description: 'Whether the network charges for a message, and why not.',
  values: valuesOf<PricingType>(PRICING_TYPES),
});

export const MessagePricing = builder.objectRef<PriceRow>('MessagePricing').implement({
  description: 'The price of a message, as the network reported it with a status.',
  fields: t => ({
    category: t.field({
      type: PricingCategoryEnum,
      description: 'Category by which the network charges.',
      resolve: ({ category }) => pricingCategoryOf(category),
    }),
    type: t.field({
      type: PricingTypeEnum,
      description: 'Why it is charged, or free.',
      resolve: ({ type }) => pricingTypeOf(type),
    }),
    networkCategory: t.string({
      description: "Category in the network's words; empty if it named none.",
      resolve: ({ category }) => category ?? '',
    }),
    country: t.field({
      type: CountryType,
      nullable: true,
      description: "Country of the recipient's number; null if it is unknown.",
      resolve: ({ country }) => (country === null ? null : (countryByCode(country) ?? null)),
    }),
    isBillable: t.exposeBoolean('is_billable', { description: 'Whether the network charges for the message.' }),
    cost: t.field({
      type: Money,
      nullable: true,
      description:
        "Cost by the deployment's price table, 0 if the message is not billable; null without a table or a price in it.",
      resolve: (price, _args, context) => costOf(context.prices, price),
    }),
  }),
});

builder.objectField(Message, 'pricing', t =>
  t.field({
    type: MessagePricing,
    nullable: true,
    description: 'Price of the message; null until the network has reported it.',
    authScopes: { scope: 'costs:read' },
    resolve: async (message, _args, context) =>
      message.direction === 'inbound' ? null : ((await priceLoader(context).load(message.id)) ?? null),
  }),
);
