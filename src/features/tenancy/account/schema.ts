import { FEATURES, type Feature } from '../../../core/plan-features.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { Viewer } from '../tenants/schema.ts';
import {
  type AccountRow,
  COUNTED,
  type Counted,
  percentageOf,
  periodOf,
  remainingOf,
  subscriptionStatus,
  type UsageCount,
  usageOf,
} from './account.ts';
import { readAccount } from './read.ts';

const AccountStatus = builder.enumType('AccountStatus', {
  description: 'Whether a tenant can use the gateway.',
  values: {
    ACTIVE: { value: 'active', description: 'The tenant can use the gateway.' },
    SUSPENDED: {
      value: 'suspended',
      description: 'Suspended by the operator: within 5 seconds all its tokens are rejected.',
    },
  } as const,
});

const SubscriptionStatus = builder.enumType('SubscriptionStatus', {
  description: 'State of a subscription to a plan.',
  values: {
    ACTIVE: { value: 'active', description: 'The subscription is active.' },
    EXPIRED: {
      value: 'expired',
      description: 'The subscription has ended. Requests are still served until the operator suspends the tenant.',
    },
    SUSPENDED: { value: 'suspended', description: 'The operator has suspended the tenant.' },
  } as const,
});

const AccountSubscription = builder.objectRef<AccountRow>('AccountSubscription').implement({
  description: 'The plan of an account.',
  fields: t => ({
    planId: t.field({ type: 'BigInt', description: 'Numeric id of the plan.', resolve: account => account.plan_id }),
    planName: t.exposeString('plan_name', { description: 'Name of the plan.' }),
    status: t.field({
      type: SubscriptionStatus,
      description: 'State of the subscription.',
      resolve: (account, _args, { clock }) => subscriptionStatus(account, clock.now()),
    }),
    expiresAt: t.expose('plan_expires_at', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the subscription; null if it does not end.',
    }),
  }),
});

const UsageCounter = builder.objectRef<UsageCount>('UsageCounter').implement({
  description: 'Usage of one limit of the plan.',
  fields: t => ({
    current: t.expose('current', { type: 'BigInt', description: 'Number in use.' }),
    limit: t.expose('limit', {
      type: 'BigInt',
      nullable: true,
      description: 'Maximum number that the plan allows; null for unlimited.',
    }),
    remaining: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Number that is still available, at least 0; null for unlimited.',
      resolve: remainingOf,
    }),
    percentageUsed: t.float({
      nullable: true,
      description:
        'Percentage of the limit in use, with at most two decimals; null for unlimited. May exceed 100, because inbound messages are accepted beyond the plan.',
      resolve: percentageOf,
    }),
    isUnlimited: t.boolean({ description: 'Whether the plan has no limit.', resolve: count => count.limit === null }),
  }),
});

const COUNTERS = {
  contacts: 'Number of contacts.',
  conversations: 'Conversations with at least one inbound or outbound message this month.',
  messages: 'Outbound messages accepted this month. Inbound messages are not counted.',
  staff: 'Staff members to whom contacts can be assigned.',
} as const satisfies Record<Counted, string>;

const AccountUsage = builder.objectRef<AccountRow>('AccountUsage').implement({
  description: 'Present usage of the plan. Months are in UTC.',
  fields: t => ({
    periodStart: t.field({
      type: 'DateTime',
      description: 'Start of the present month, in which conversations and messages are counted.',
      resolve: account => periodOf(account.month).start,
    }),
    periodEnd: t.field({
      type: 'DateTime',
      description: 'End of the present month, when the monthly counters restart at 0.',
      resolve: account => periodOf(account.month).end,
    }),
    mediaFiles: t.field({
      type: 'BigInt',
      description: 'Number of kept files of messages; files with the same content are one.',
      resolve: account => account.media_files,
    }),
    mediaBytes: t.field({
      type: 'BigInt',
      description: 'Size of the kept files in bytes.',
      resolve: account => account.media_bytes,
    }),
    ...Object.fromEntries(
      COUNTED.map(feature => [
        feature,
        t.field({ type: UsageCounter, description: COUNTERS[feature], resolve: account => usageOf(account, feature) }),
      ]),
    ),
  }),
});

interface Limit {
  readonly feature: string;
  readonly limit: number | null;
}

const PlanLimit = builder.objectRef<Limit>('PlanLimit').implement({
  description: 'One limit of a plan.',
  fields: t => ({
    featureName: t.exposeString('feature', {
      description: 'Name of the limit, as in `details.feature` of FEATURE_LIMIT_EXCEEDED and in REST.',
    }),
    limit: t.expose('limit', {
      type: 'BigInt',
      nullable: true,
      description: 'Maximum number that the plan allows; null for unlimited.',
    }),
    isUnlimited: t.boolean({ description: 'Whether the plan has no limit.', resolve: limit => limit.limit === null }),
  }),
});

const FEATURE_DESCRIPTIONS = {
  bots: 'Bots that reply to messages.',
  integrations: 'Integrations with shops and other systems.',
  interactive: 'Interactive messages with buttons, lists or links.',
  media: 'Images, videos, audio and documents.',
  otp: 'Sending and verifying one-time passwords.',
  templates: 'Message templates.',
  webhooks: 'Webhook endpoints of the tenant.',
} as const satisfies Record<Feature, string>;

const PlanFeatures = builder.objectRef<readonly Feature[]>('PlanFeatures').implement({
  description: 'Features that a plan includes. Using another feature results in FEATURE_NOT_AVAILABLE.',
  fields: t =>
    Object.fromEntries(
      FEATURES.map(feature => [
        feature,
        t.boolean({ description: FEATURE_DESCRIPTIONS[feature], resolve: features => features.includes(feature) }),
      ]),
    ),
});

const LIMITS = {
  contacts: 'Maximum number of contacts.',
  conversations: 'Maximum number of conversations in a month.',
  messages: 'Maximum number of outbound messages in a month.',
  staff: 'Maximum number of staff members.',
} as const satisfies Record<Counted, string>;

const AccountLimits = builder.objectRef<AccountRow>('AccountLimits').implement({
  description: 'Limits of the plan of an account.',
  fields: t => ({
    ...Object.fromEntries(
      COUNTED.map(feature => [
        feature,
        t.field({
          type: PlanLimit,
          description: LIMITS[feature],
          resolve: account => ({ feature, limit: account[`max_${feature}`] }),
        }),
      ]),
    ),
    apiCallsPerMinute: t.field({
      type: PlanLimit,
      description: 'Maximum number of API calls in a minute, for all tokens together.',
      resolve: account => ({ feature: 'api_calls_per_minute', limit: account.calls_per_minute }),
    }),
    features: t.expose('features', {
      type: PlanFeatures,
      description: 'Features of the plan.',
    }),
  }),
});

export const Account = builder.objectRef<AccountRow>('Account');

builder.node(Account, {
  name: 'Account',
  description: 'An organisation that uses this gateway, with its settings, plan, usage and limits.',
  id: { resolve: account => account.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: async (ids, context) => {
    const own = context.principal?.scopes.has('account:read') ? String(tenantOf(context)) : undefined;
    const account = own !== undefined && ids.includes(own) ? await readAccount(context) : undefined;
    return ids.map(id => (id === own ? account : undefined));
  },
  fields: t => ({
    databaseId: databaseId(t),
    name: t.exposeString('name', { description: 'Name of the account.' }),
    subdomain: t.exposeString('slug', { description: 'Name of the tenant in URLs, as in `/api/v1/{tenant}`.' }),
    status: t.expose('status', {
      type: AccountStatus,
      description: 'Whether the tenant can use the gateway.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    subscription: t.field({
      type: AccountSubscription,
      description: 'The subscribed plan.',
      resolve: account => account,
    }),
    usage: t.field({ type: AccountUsage, description: 'Present usage of the plan.', resolve: account => account }),
    limits: t.field({ type: AccountLimits, description: 'Limits of the plan.', resolve: account => account }),
  }),
});

builder.queryField('account', t =>
  t.field({
    type: Account,
    description: 'Returns the account of the calling token.',
    authScopes: { scope: 'account:read' },
    resolve: (_root, _args, context) => readAccount(context),
  }),
);

builder.objectField(Viewer, 'account', t =>
  t.field({
    type: Account,
    nullable: true,
    description: 'The account of the token. Same as the field `account` of the query.',
    authScopes: { scope: 'account:read' },
    resolve: (_viewer, _args, context) => readAccount(context),
  }),
);
