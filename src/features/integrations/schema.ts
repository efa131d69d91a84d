import { builder } from '../../builder.ts';
import { numericId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { connectionOf, DateTimeFilter, enumFilter, listArgs, orderOf, StringFilter } from '../lists/schema.ts';
import {
  changeIntegration,
  DEFAULT_OVERLAP_HOURS,
  MAX_OVERLAP_HOURS,
  removeIntegration,
  rotateSecret,
} from './change.ts';
import { type CreatedIntegration, createIntegration } from './create.ts';
import { integrationOf } from './find.ts';
import { DEFAULT_TOPIC_PATH, type IntegrationRow, pathOf } from './integration.ts';
import { integrationPage } from './lists.ts';
import { IntegrationMapping, mappingInputOf, NewMappingInput } from './mapping-schema.ts';
import { getIntegrations } from './store.ts';

const KindType = builder.enumType('IntegrationKind', {
  description: 'What kind of system reports orders.',
  values: {
    WOOCOMMERCE: { value: 'woocommerce', description: 'A WooCommerce shop, by its webhooks.' },
    SHOPIFY: { value: 'shopify', description: 'A Shopify shop, by its webhooks.' },
    GENERIC: {
      value: 'generic',
      description:
        'Anything that posts JSON, with its secret in the header X-Parley-Secret or signed as Standard Webhooks says.',
    },
  } as const,
});

const WORDS = {
  name: 'What people call it (1 to 100 characters), unique in the tenant whatever the case.',
  isEnabled:
    'Whether anything is taken in. While it is off the shop is answered as if all were well, and nothing is kept.',
  defaultCountry: 'The country of national phone numbers where the order names none: ISO 3166-1 alpha-2, such as `DE`.',
  topicPath: `Of a generic payload: the path at which it says what happened, which mappings compare with their topics. \`${DEFAULT_TOPIC_PATH}\` when nothing is said.`,
};

export const Integration = builder.objectRef<IntegrationRow>('Integration');

builder.node(Integration, {
  name: 'Integration',
  description: 'A shop, or another system, that reports orders to us.',
  id: { resolve: integration => integration.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('integrations:read')) return ids.map(() => undefined);
    const rows = await getIntegrations(
      context.db.read,
      tenantOf(context),
      ids.map(Number).filter(Number.isSafeInteger),
    );
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({ type: 'BigInt', description: 'Our own number for it.', resolve: ({ id }) => id }),
    kind: t.field({ type: KindType, description: 'What kind of system it is.', resolve: ({ kind }) => kind }),
    name: t.exposeString('name', { description: WORDS.name }),
    path: t.string({
      description:
        'Where the shop posts to, below the address of this server, such as `/integrations/…`. It cannot be guessed; the secret is what protects it.',
      resolve: pathOf,
    }),
    isEnabled: t.exposeBoolean('is_enabled', { description: WORDS.isEnabled }),
    hasSecret: t.exposeBoolean('has_secret', {
      description: 'Whether there is a secret. Without one nothing is let in.',
    }),
    previousSecretUntil: t.expose('previous_secret_until', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the secret before this one is good as well.',
    }),
    defaultCountry: t.exposeString('default_country', { nullable: true, description: WORDS.defaultCountry }),
    topicPath: t.exposeString('topic_path', { description: WORDS.topicPath }),
    mappings: t.field({
      type: [IntegrationMapping],
      description: 'What is done with an order, in the order in which they were made.',
      resolve: ({ mappings }) => [...mappings],
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

const Filter = builder.inputType('IntegrationFilter', {
  description: 'Which integrations a list shows.',
  fields: t => ({
    name: t.field({ type: StringFilter, description: 'By name.' }),
    kind: t.field({ type: enumFilter(KindType), description: 'By kind.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when it was made.' }),
  }),
});
const Order = orderOf('Integration', 'integrations', {
  ID: { value: 'id', description: 'The order in which they were made.' },
  NAME: { value: 'name', description: 'The name.' },
  CREATED_AT: { value: 'createdAt', description: 'When it was made.' },
});

builder.queryFields(t => ({
  integrations: t.field({
    type: connectionOf('Integration', Integration),
    description: 'The integrations of the tenant, by name unless another order is asked for.',
    authScopes: { scope: 'integrations:read' },
    args: {
      ...listArgs(Filter, Order),
    },
    resolve: (_root, args, context) => integrationPage(context, args),
  }),
  integration: t.field({
    type: Integration,
    nullable: true,
    description: 'One integration, by global id or databaseId.',
    authScopes: { scope: 'integrations:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) =>
      integrationOf(context.db.read, tenantOf(context), numericId('Integration', id)),
  }),
}));

const KEY = 'Makes a repeated request the same one for 24 hours (at most 255 characters).';
const SECRET = '8 to 255 characters of ASCII without blanks; what begins with `whsec_` goes on in base64.';

const CreateInput = builder.inputType('CreateIntegrationInput', {
  description: 'A new integration.',
  fields: t => ({
    kind: t.field({ type: KindType, required: true, description: 'What kind of system it is. It stays that.' }),
    name: t.string({ required: true, description: WORDS.name }),
    secret: t.string({
      description: `${SECRET} One is made when nothing is said, but for Shopify, which makes its own: it can be given later, by rotateIntegrationSecret.`,
    }),
    isEnabled: t.boolean({ description: WORDS.isEnabled }),
    defaultCountry: t.string({ description: WORDS.defaultCountry }),
    topicPath: t.string({ description: WORDS.topicPath }),
    mappings: t.field({ type: [NewMappingInput], description: 'What is to be done with an order.' }),
    idempotencyKey: t.string({ description: KEY }),
  }),
});
const UpdateInput = builder.inputType('UpdateIntegrationInput', {
  description: 'What to change of an integration; what is not given stays.',
  fields: t => ({
    name: t.string({ description: WORDS.name }),
    isEnabled: t.boolean({ description: WORDS.isEnabled }),
    defaultCountry: t.string({ description: `${WORDS.defaultCountry} Null takes it away.` }),
    topicPath: t.string({ description: WORDS.topicPath }),
    idempotencyKey: t.string({ description: KEY }),
  }),
});
const RotateInput = builder.inputType('RotateIntegrationSecretInput', {
  description: 'Another secret.',
  fields: t => ({
    secret: t.string({ description: `${SECRET} One is made when nothing is said; Shopify's has to be given.` }),
    overlapHours: t.int({
      description: `For how many hours the secret before stays good: 0 to ${MAX_OVERLAP_HOURS}, ${DEFAULT_OVERLAP_HOURS} when nothing is said.`,
    }),
    idempotencyKey: t.string({ description: KEY }),
  }),
});

const Secret = builder.objectRef<CreatedIntegration>('IntegrationSecret').implement({
  description: 'An integration with a secret that was made for it.',
  fields: t => ({
    integration: t.field({
      type: Integration,
      description: 'The integration.',
      resolve: ({ integration }) => integration,
    }),
    secret: t.exposeString('secret', {
      nullable: true,
      description:
        'The secret, shown this once: what is kept is sealed. Null where it was given, and in the answer to a repeated request.',
    }),
  }),
});

builder.mutationFields(t => ({
  createIntegration: t.field({
    type: Secret,
    description: 'Makes an integration, and shows its secret once.',
    authScopes: { scope: 'integrations:write' },
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The integration.' }) },
    resolve: (_root, { input }, context) =>
      createIntegration(context, {
        ...input,
        mappings: input.mappings?.map((mapping, index) => mappingInputOf(mapping, `mappings.${index}.`)),
      }),
  }),
  updateIntegration: t.field({
    type: Integration,
    description: 'Changes an integration.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({ type: UpdateInput, required: true, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, context) => changeIntegration(context, numericId('Integration', id), input),
  }),
  deleteIntegration: t.field({
    type: Integration,
    description: 'Takes an integration away, with its mappings and all that it received, and answers what it was.',
    authScopes: { scope: 'integrations:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => removeIntegration(context, numericId('Integration', id)),
  }),
  rotateIntegrationSecret: t.field({
    type: Secret,
    description: 'Gives an integration another secret. The one before stays good for a while.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({ type: RotateInput, required: true, description: 'The secret.' }),
    },
    resolve: (_root, { id, input }, context) => rotateSecret(context, numericId('Integration', id), input),
  }),
}));
