import { z } from 'zod';
import { selectionOf } from '../openapi/schema.ts';
import { type Route, route } from '../runtime/route.ts';
import {
  GetAccountDocument,
  GetLimitsDocument,
  GetUsageDocument,
  type LimitFragment,
  type UsageCountFragment,
} from '../wire/documents.generated.ts';
import { rowKey, time } from '../wire/values.ts';

/** REST's limit for unlimited, which is null in GraphQL. */
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

const LIMIT = z.int().min(UNLIMITED).describe('Limit of the plan; -1 for unlimited.');
const usageSchema = (feature: string) =>
  selectionOf(`account.usage.${feature}`, {
    with: {
      limit: LIMIT,
      remaining: z.int().min(UNLIMITED).describe('Number that is still available, at least 0; -1 for unlimited.'),
      percentage_used: z
        .number()
        .nonnegative()
        .describe('Percentage of the limit in use, with at most two decimals; 0 if unlimited.'),
    },
  });
const limitSchema = (feature: string) => selectionOf(`account.limits.${feature}`, { with: { limit: LIMIT } });

export const accountRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/account',
    document: GetAccountDocument,
    variables: () => ({}),
    respond: ({ account: { id, name, subdomain, status, created_at, subscription } }) => ({
      message: 'Account',
      data: {
        id: rowKey(id),
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
  route({
    method: 'GET',
    path: '/account/usage',
    document: GetUsageDocument,
    summary: "The usage of the account's plan.",
    answer: z.object({
      contacts: usageSchema('contacts'),
      conversations: usageSchema('conversations'),
      messages: usageSchema('messages'),
      staff: usageSchema('staff'),
    }),
    variables: () => ({}),
    respond: ({ account: { usage } }) => ({
      message: 'Account usage',
      data: {
        contacts: usageCount(usage.contacts),
        conversations: usageCount(usage.conversations),
        messages: usageCount(usage.messages),
        staff: usageCount(usage.staff),
      },
    }),
  }),
  route({
    method: 'GET',
    path: '/account/limits',
    document: GetLimitsDocument,
    summary: "The limits and features of the account's plan.",
    answer: z.object({
      limits: z.object({
        contacts: limitSchema('contacts'),
        conversations: limitSchema('conversations'),
        messages: limitSchema('messages'),
        staff: limitSchema('staff'),
        api_calls_per_minute: limitSchema('api_calls_per_minute'),
      }),
      features: selectionOf('account.limits.features'),
    }),
    variables: () => ({}),
    respond: ({
      account: {
        limits: { features, ...limits },
      },
    }) => ({
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
];
