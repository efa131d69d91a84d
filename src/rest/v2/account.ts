import {
  GetAccountDocument,
  GetLimitsDocument,
  GetUsageDocument,
  type LimitFragment,
  type UsageCountFragment,
} from '../documents.generated.ts';
import { integer, number, object, selected } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { time } from '../wire-time.ts';

/** What GraphQL says with null. */
const UNLIMITED = -1;

const usageCount = (count: UsageCountFragment) => ({
  current: count.current,
  limit: count.limit ?? UNLIMITED,
  remaining: count.remaining ?? UNLIMITED,
  percentage_used: count.percentage_used ?? 0,
  is_unlimited: count.is_unlimited,
});

const planLimit = (limit: LimitFragment) => ({
  limit: limit.limit ?? UNLIMITED,
  feature_name: limit.feature_name,
  is_unlimited: limit.is_unlimited,
});

const limitShape = integer('How many the plan allows; -1: unlimited.', { min: UNLIMITED });
const usageShape = (feature: string) =>
  selected(`usage.${feature}`, {
    with: {
      limit: limitShape,
      remaining: integer('How many more there may be, never below 0 but for -1: unlimited.', { min: UNLIMITED }),
      percentage_used: number('Per cent of the limit, with at most two decimals; 0 when it is unlimited.', { min: 0 }),
    },
  });
const planLimitShape = (feature: string) => selected(`limits.${feature}`, { with: { limit: limitShape } });

export const accountRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/account',
    document: GetAccountDocument,
    plan: () => ({
      variables: {},
      respond: ({ account: { id, name, subdomain, status, created_at, subscription } }) => ({
        message: 'Account',
        data: {
          id,
          name,
          subdomain,
          status: status.toLowerCase(),
          created_at: time(created_at),
          subscription: {
            plan_name: subscription.plan_name,
            plan_id: subscription.plan_id,
            status: subscription.status.toLowerCase(),
            expires_at: time(subscription.expires_at),
          },
        },
      }),
    }),
  }),
  route({
    method: 'GET',
    path: '/account/usage',
    document: GetUsageDocument,
    summary: 'What the account uses of its plan.',
    answer: object({
      contacts: usageShape('contacts'),
      conversations: usageShape('conversations'),
      messages: usageShape('messages'),
      staff: usageShape('staff'),
    }),
    plan: () => ({
      variables: {},
      respond: ({ usage }) => ({
        message: 'Account usage',
        data: {
          contacts: usageCount(usage.contacts),
          conversations: usageCount(usage.conversations),
          messages: usageCount(usage.messages),
          staff: usageCount(usage.staff),
        },
      }),
    }),
  }),
  route({
    method: 'GET',
    path: '/account/limits',
    document: GetLimitsDocument,
    summary: 'What the plan of the account allows.',
    answer: object({
      limits: object({
        contacts: planLimitShape('contacts'),
        conversations: planLimitShape('conversations'),
        messages: planLimitShape('messages'),
        staff: planLimitShape('staff'),
        api_calls_per_minute: planLimitShape('api_calls_per_minute'),
      }),
      features: selected('limits.features'),
    }),
    plan: () => ({
      variables: {},
      respond: ({ limits: { features, ...limits } }) => ({
        message: 'Account limits',
        data: {
          limits: {
            contacts: planLimit(limits.contacts),
            conversations: planLimit(limits.conversations),
            messages: planLimit(limits.messages),
            staff: planLimit(limits.staff),
            api_calls_per_minute: planLimit(limits.api_calls_per_minute),
          },
          features,
        },
      }),
    }),
  }),
];
