import { builder } from '../../builder.ts';
import { tenantOf } from '../caller.ts';
import { FEATURES, type Feature } from '../tenants/feature.ts';
import { type AccountRow, COUNTED, type Counted, subscriptionStatus } from './account.ts';
import { readAccount } from './read.ts';
import { percentageOf, periodOf, remainingOf, type UsageCount, usageOf } from './usage.ts';

const AccountStatus = builder.enumType('AccountStatus', {
  description: 'Whether a tenant is served.',
  values: {
    ACTIVE: { value: 'active', description: 'It is served.' },
    SUSPENDED: {
      value: 'suspended',
      description: 'The operator has suspended it: within 5 seconds every token of it is refused.',
    },
  } as const,
});

const SubscriptionStatus = builder.enumType('SubscriptionStatus', {
  description: 'How a subscription to a plan stands.',
  values: {
    ACTIVE: { value: 'active', description: 'It runs.' },
    EXPIRED: {
      value: 'expired',
      description: 'Its end has passed. Nothing is refused for that: the operator decides, and suspends.',
    },
    SUSPENDED: { value: 'suspended', description: 'The operator has suspended the tenant.' },
  } as const,
});

const AccountSubscription = builder.objectRef<AccountRow>('AccountSubscription').implement({
  description: 'The plan of an account.',
  fields: t => ({
    planId: t.field({ type: 'BigInt', description: "The plan's number.", resolve: account => account.plan_id }),
    planName: t.exposeString('plan_name', { description: "The plan's name." }),
    status: t.field({
      type: SubscriptionStatus,
      description: 'How it stands now.',
      resolve: (account, _args, { clock }) => subscriptionStatus(account, clock.now()),
    }),
    expiresAt: t.expose('plan_expires_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends; null: never.',
    }),
  }),
});

const UsageCounter = builder.objectRef<UsageCount>('UsageCounter').implement({
  description: 'How much of a limit is used.',
  fields: t => ({
    current: t.field({ type: 'BigInt', description: 'How many there are.', resolve: count => count.current }),
    limit: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'How many the plan allows; null: unlimited.',
      resolve: count => count.limit,
    }),
    remaining: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'How many more there may be, never below 0; null: unlimited.',
      resolve: remainingOf,
    }),
    percentageUsed: t.float({
      nullable: true,
      description:
        'Per cent of the limit, with at most two decimals; null: unlimited. 100 or more exactly when nothing remains: people who write in are let in beyond the plan.',
      resolve: percentageOf,
    }),
    isUnlimited: t.boolean({ description: 'Whether there is no limit.', resolve: count => count.limit === null }),
  }),
});

const COUNTERS = {
  contacts: 'Contacts that there are.',
  conversations: 'Conversations of this month: those with at least one message in it, of either side.',
  messages: 'Messages of this month that were accepted for sending. What people write is not counted.',
  staff: 'People to whom contacts can be assigned.',
} as const satisfies Record<Counted, string>;

const AccountUsage = builder.objectRef<AccountRow>('AccountUsage').implement({
  description: 'What an account uses of its plan. Everything is counted as it happens; months are those of UTC.',
  fields: t => ({
    periodStart: t.field({
      type: 'DateTime',
      description: 'When the month began in which conversations and messages are counted.',
      resolve: account => periodOf(account.month).start,
    }),
    periodEnd: t.field({
      type: 'DateTime',
      description: 'When conversations and messages are counted from 0 again.',
      resolve: account => periodOf(account.month).end,
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
  description: 'A limit of a plan.',
  fields: t => ({
    featureName: t.exposeString('feature', {
      description: 'What is limited, as `details.feature` of FEATURE_LIMIT_EXCEEDED and REST name it.',
    }),
    limit: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'How many the plan allows; null: unlimited.',
      resolve: limit => limit.limit,
    }),
    isUnlimited: t.boolean({ description: 'Whether there is no limit.', resolve: limit => limit.limit === null }),
  }),
});

const FEATURE_DESCRIPTIONS = {
  bots: 'Bots that answer by themselves.',
  integrations: 'Integrations with shops and other systems.',
  interactive: 'Messages with buttons and lists.',
  media: 'Images, videos, documents and audio.',
  otp: 'One-time passwords.',
  templates: 'Message templates.',
  webhooks: 'Webhook endpoints of one’s own.',
} as const satisfies Record<Feature, string>;

const PlanFeatures = builder.objectRef<readonly Feature[]>('PlanFeatures').implement({
  description: 'What a plan includes. What it does not is refused with FEATURE_NOT_AVAILABLE.',
  fields: t =>
    Object.fromEntries(
      FEATURES.map(feature => [
        feature,
        t.boolean({ description: FEATURE_DESCRIPTIONS[feature], resolve: features => features.includes(feature) }),
      ]),
    ),
});

const LIMITS = {
  contacts: 'How many contacts there may be.',
  conversations: 'How many conversations a month.',
  messages: 'How many messages a month.',
  staff: 'How many people to whom contacts can be assigned.',
} as const satisfies Record<Counted, string>;

const AccountLimits = builder.objectRef<AccountRow>('AccountLimits').implement({
  description: 'What the plan of an account allows.',
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
      description: 'How many calls all tokens together may make in a minute.',
      resolve: account => ({ feature: 'api_calls_per_minute', limit: account.calls_per_minute }),
    }),
    features: t.field({
      type: PlanFeatures,
      description: 'What the plan includes.',
      resolve: account => account.features,
    }),
  }),
});

const Account = builder.objectRef<AccountRow>('Account');

builder.node(Account, {
  name: 'Account',
  description: 'The tenant of this token as a customer: who it is, its plan, and what it uses of it.',
  id: { resolve: account => account.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    const own = context.principal?.scopes.has('account:read') ? String(tenantOf(context)) : undefined;
    const account = own !== undefined && ids.includes(own) ? await readAccount(context) : undefined;
    return ids.map(id => (id === own ? account : undefined));
  },
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'The number that REST knows it by.',
      resolve: account => account.id,
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    subdomain: t.exposeString('slug', { description: 'Its name in addresses, as in `/api/v1/{tenant}`.' }),
    status: t.field({
      type: AccountStatus,
      description: 'Whether it is served.',
      resolve: account => account.status,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
    subscription: t.field({ type: AccountSubscription, description: 'Its plan.', resolve: account => account }),
    usage: t.field({ type: AccountUsage, description: 'What it uses of its plan.', resolve: account => account }),
    limits: t.field({ type: AccountLimits, description: 'What its plan allows.', resolve: account => account }),
  }),
});

builder.queryFields(t => ({
  account: t.field({
    type: Account,
    description: 'The tenant of this token as a customer, with plan, usage and limits: all in one statement.',
    authScopes: { scope: 'account:read' },
    resolve: (_root, _args, context) => readAccount(context),
  }),
  usage: t.field({
    type: AccountUsage,
    description: 'What this account uses of its plan: short for `account { usage }`.',
    authScopes: { scope: 'account:read' },
    resolve: (_root, _args, context) => readAccount(context),
  }),
  limits: t.field({
    type: AccountLimits,
    description: 'What the plan of this account allows: short for `account { limits }`.',
    authScopes: { scope: 'account:read' },
    resolve: (_root, _args, context) => readAccount(context),
  }),
}));
