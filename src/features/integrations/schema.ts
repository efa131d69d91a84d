import { numericId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../schema/builder.ts';
import { connectionOf, DateTimeFilter, enumFilter, listArgs, orderOf, StringFilter } from '../../schema/lists.ts';
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
import { getIntegrations } from './integrations.sql.ts';
import { integrationPage } from './lists.ts';
import { IntegrationMapping, mappingInputOf, NewMappingInput } from './mappings/mapping-schema.ts';

const KindType = builder.enumType('IntegrationKind', {
  description: 'Kind of system that sends payloads to an integration.',
  values: {
    WOOCOMMERCE: { value: 'woocommerce', description: 'A WooCommerce shop with its webhooks.' },
    SHOPIFY: { value: 'shopify', description: 'A Shopify shop with its webhooks.' },
    GENERIC: {
      value: 'generic',
      description:
        'Any system that posts JSON, with the secret in the header `X-Parley-Secret` or a Standard Webhooks signature.',
    },
  } as const,
});

const WORDS = {
  name: 'Name of the integration (1 to 100 characters), unique in the tenant, ignoring case.',
  isEnabled:
    'Whether payloads are accepted. While disabled, requests are answered with success and their payloads discarded.',
  defaultCountry: 'Country for national phone numbers if the order has none: ISO 3166-1 alpha-2, for example `DE`.',
  topicPath: `For GENERIC: path of the event type in the payload, which mappings compare with \`topics\`. Default: \`${DEFAULT_TOPIC_PATH}\`.`,
};

export const Integration = builder.objectRef<IntegrationRow>('Integration');

builder.node(Integration, {
  name: 'Integration',
  description: 'A shop or another system that reports orders through webhooks.',
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
    databaseId: t.field({ type: 'BigInt', description: 'Numeric id of the integration.', resolve: ({ id }) => id }),
    kind: t.field({ type: KindType, description: 'WOOCOMMERCE, SHOPIFY or GENERIC.', resolve: ({ kind }) => kind }),
    name: t.exposeString('name', { description: WORDS.name }),
    path: t.string({
      description:
        'Path on this server to which the shop posts, for example `/integrations/…`. It contains a random key, but requests are authenticated by the secret.',
      resolve: pathOf,
    }),
    isEnabled: t.exposeBoolean('is_enabled', { description: WORDS.isEnabled }),
    hasSecret: t.exposeBoolean('has_secret', {
      description: 'Whether a secret is set. Without one, all requests are rejected.',
    }),
    previousSecretUntil: t.expose('previous_secret_until', {
      type: 'DateTime',
      nullable: true,
      description: 'Time until which the previous secret is also accepted; null if there is none.',
    }),
    defaultCountry: t.exposeString('default_country', { nullable: true, description: WORDS.defaultCountry }),
    topicPath: t.exposeString('topic_path', { description: WORDS.topicPath }),
    mappings: t.field({
      type: [IntegrationMapping],
      description: 'What is done with an order, in order of creation.',
      resolve: ({ mappings }) => [...mappings],
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const Filter = builder.inputType('IntegrationFilter', {
  description: 'Conditions for integrations; all of them must hold.',
  fields: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the integration.' }),
    kind: t.field({ type: enumFilter(KindType), description: 'Kind of the integration.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'Time of creation.' }),
  }),
});
const Order = orderOf('Integration', 'integrations', {
  ID: { value: 'id', description: 'Order of creation.' },
  NAME: { value: 'name', description: 'Name of the integration.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of creation.' },
});

builder.queryFields(t => ({
  integrations: t.field({
    type: connectionOf('Integration', Integration),
    description: "Lists the tenant's integrations, sorted by name by default.",
    authScopes: { scope: 'integrations:read' },
    args: {
      ...listArgs(Filter, Order),
    },
    resolve: (_root, args, context) => integrationPage(context, args),
  }),
  integration: t.field({
    type: Integration,
    nullable: true,
    description: 'Returns one integration. Errors: NOT_FOUND.',
    authScopes: { scope: 'integrations:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the integration.' }) },
    resolve: (_root, { id }, context) =>
      integrationOf(context.db.read, tenantOf(context), numericId('Integration', id)),
  }),
}));

const SECRET = '8 to 255 printable ASCII characters without spaces; after the prefix `whsec_`, base64.';

const CreateInput = builder.inputType('CreateIntegrationInput', {
  description: 'Settings of a new integration.',
  fields: t => ({
    kind: t.field({ type: KindType, required: true, description: 'Kind of system; it cannot be changed later.' }),
    name: t.string({ required: true, description: WORDS.name }),
    secret: t.string({
      description: `${SECRET} Generated if omitted, except for Shopify, which generates its own; set that one with rotateIntegrationSecret.`,
    }),
    isEnabled: t.boolean({ description: WORDS.isEnabled }),
    defaultCountry: t.string({ description: WORDS.defaultCountry }),
    topicPath: t.string({ description: WORDS.topicPath }),
    mappings: t.field({ type: [NewMappingInput], description: 'Mappings to create with the integration.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});
const UpdateInput = builder.inputType('UpdateIntegrationInput', {
  description: 'Changes to an integration. Omitted fields keep their values.',
  fields: t => ({
    name: t.string({ description: WORDS.name }),
    isEnabled: t.boolean({ description: WORDS.isEnabled }),
    defaultCountry: t.string({ description: `${WORDS.defaultCountry} Null removes it.` }),
    topicPath: t.string({ description: WORDS.topicPath }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});
const RotateInput = builder.inputType('RotateIntegrationSecretInput', {
  description: 'New secret of an integration.',
  fields: t => ({
    secret: t.string({ description: `${SECRET} Generated if omitted; required for Shopify.` }),
    overlapHours: t.int({
      description: `Hours during which the previous secret is also accepted: 0 to ${MAX_OVERLAP_HOURS}. Default: ${DEFAULT_OVERLAP_HOURS}.`,
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const Secret = builder.objectRef<CreatedIntegration>('IntegrationSecret').implement({
  description: 'An integration with its new secret.',
  fields: t => ({
    integration: t.field({
      type: Integration,
      description: 'The integration with its new secret.',
      resolve: ({ integration }) => integration,
    }),
    secret: t.exposeString('secret', {
      nullable: true,
      description:
        'The generated secret. Shown only once. Null if it was given in the input, or if the request repeats an earlier one.',
    }),
  }),
});

builder.mutationFields(t => ({
  createIntegration: t.field({
    type: Secret,
    description:
      'Creates an integration and returns its generated secret. Errors: VALIDATION_ERROR, FEATURE_NOT_AVAILABLE.',
    authScopes: { scope: 'integrations:write' },
    args: { input: t.arg({ type: CreateInput, required: true, description: 'Settings of the integration.' }) },
    resolve: (_root, { input }, context) =>
      createIntegration(context, {
        ...input,
        mappings: input.mappings?.map((mapping, index) => mappingInputOf(mapping, `mappings.${index}.`)),
      }),
  }),
  updateIntegration: t.field({
    type: Integration,
    description: 'Changes an integration. Errors: NOT_FOUND, VALIDATION_ERROR.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the integration.' }),
      input: t.arg({
        type: UpdateInput,
        required: true,
        description: 'Fields to change; omitted fields keep their values.',
      }),
    },
    resolve: (_root, { id, input }, context) => changeIntegration(context, numericId('Integration', id), input),
  }),
  deleteIntegration: t.field({
    type: Integration,
    description:
      'Deletes an integration with its mappings and received payloads, and returns its last state. Errors: NOT_FOUND.',
    authScopes: { scope: 'integrations:write' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the integration.' }) },
    resolve: (_root, { id }, context) => removeIntegration(context, numericId('Integration', id)),
  }),
  rotateIntegrationSecret: t.field({
    type: Secret,
    description:
      'Replaces the secret of an integration. The previous secret is accepted for a limited time. Errors: NOT_FOUND, VALIDATION_ERROR.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Global id or databaseId of the integration.' }),
      input: t.arg({
        type: RotateInput,
        required: true,
        description: 'The new secret and the overlap with the previous one.',
      }),
    },
    resolve: (_root, { id, input }, context) => rotateSecret(context, numericId('Integration', id), input),
  }),
}));
