import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { Actor } from '../../schema/actor.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { deleteMutation } from '../../schema/delete-mutation.ts';
import { listQueries } from '../../schema/list-queries.ts';
import { BooleanFilter, enumFilter, StringFilter } from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { mutation, payloadOf } from '../../schema/payload.ts';
import {
  changeIntegration,
  DEFAULT_OVERLAP_HOURS,
  MAX_OVERLAP_HOURS,
  removeIntegration,
  rotateSecret,
} from './change.ts';
import { type CreatedIntegration, createIntegration } from './create.ts';
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
  interfaces: [Actor],
  id: { resolve: integration => integration.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('integrations:read', getIntegrations),
  fields: t => ({
    databaseId: databaseId(t),
    displayName: t.exposeString('name', { description: 'Name of the integration.' }),
    kind: t.expose('kind', { type: KindType, description: 'WOOCOMMERCE, SHOPIFY or GENERIC.' }),
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

listQueries(Integration, {
  list: 'integrations',
  one: 'integration',
  noun: 'integration',
  plural: 'integrations',
  description: "Lists the tenant's integrations, sorted by name by default.",
  scope: 'integrations:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the integration.' }),
    kind: t.field({ type: enumFilter(KindType), description: 'Kind of the integration.' }),
    isEnabled: t.field({ type: BooleanFilter, description: 'Whether payloads are accepted.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the integration.' },
  },
  page: integrationPage,
  get: getIntegrations,
});

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
const integrationId = (t: InputFields) =>
  t.id({ required: true, description: 'Global id or databaseId of the integration.' });

const UpdateInput = builder.inputType('UpdateIntegrationInput', {
  description: 'Changes to an integration. Omitted fields keep their values.',
  fields: t => ({
    id: integrationId(t),
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
    id: integrationId(t),
    secret: t.string({ description: `${SECRET} Generated if omitted; required for Shopify.` }),
    overlapHours: t.int({
      description: `Hours during which the previous secret is also accepted: 0 to ${MAX_OVERLAP_HOURS}. Default: ${DEFAULT_OVERLAP_HOURS}.`,
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const IntegrationPayload = payloadOf<CreatedIntegration>(
  'IntegrationPayload',
  'Result of a mutation of an Integration.',
  t => ({
    integration: t.field({
      type: Integration,
      nullable: true,
      description: 'The integration after the mutation.',
      resolve: ({ integration }) => integration ?? null,
    }),
    secret: t.string({
      nullable: true,
      description:
        'The generated secret, of `createIntegration` and `rotateIntegrationSecret`. Shown only once: null if it was given in the input, or if the request repeats an earlier one.',
      resolve: ({ secret }) => secret ?? null,
    }),
  }),
);

mutation('createIntegration', {
  description: 'Creates an integration and returns its generated secret.',
  scope: 'integrations:write',
  input: CreateInput,
  payload: IntegrationPayload,
  resolve: (input, context) =>
    createIntegration(context, {
      ...input,
      mappings: input.mappings?.map((mapping, index) =>
        mappingInputOf(tenantOf(context), mapping, `mappings.${index}.`),
      ),
    }),
});
mutation('updateIntegration', {
  description: 'Changes an integration.',
  scope: 'integrations:write',
  input: UpdateInput,
  payload: IntegrationPayload,
  resolve: async ({ id, ...input }, context) => ({
    integration: await changeIntegration(context, requireId(tenantOf(context), 'Integration', id), input),
  }),
});
deleteMutation('Integration', {
  noun: 'integration',
  description: 'Deletes an integration with its mappings and received payloads.',
  scope: 'integrations:write',
  remove: removeIntegration,
});
mutation('rotateIntegrationSecret', {
  description: 'Replaces the secret of an integration. The previous secret is accepted for a limited time.',
  scope: 'integrations:write',
  input: RotateInput,
  payload: IntegrationPayload,
  resolve: ({ id, ...input }, context) => rotateSecret(context, requireId(tenantOf(context), 'Integration', id), input),
});
