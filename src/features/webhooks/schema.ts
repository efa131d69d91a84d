import { builder } from '../../builder.ts';
import { numericId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import {
  BooleanFilter,
  connectionOf,
  DateTimeFilter,
  enumFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../lists/schema.ts';
import { type CreatedEndpoint, createEndpoint } from './create.ts';
import { DISABLED_REASONS, type EndpointRow, MAX_ENDPOINTS } from './endpoint.ts';
import { getEndpoints } from './endpoints-store.ts';
import { findEndpoint } from './find.ts';
import { endpointPage } from './list.ts';
import { removeEndpoint } from './remove.ts';
import { OVERLAP_HOURS, type RotatedSecret, rotateSecret } from './rotate.ts';
import { changeEndpoint } from './update.ts';

export const KEY = 'Makes a repeated request the same one for 24 hours (at most 255 characters).';

const Format = builder.enumType('WebhookFormat', {
  description: 'What the body of a delivery looks like.',
  values: {
    STANDARD: { value: 'standard', description: 'Standard Webhooks: `type`, `timestamp`, `data`.' },
    N8N: { value: 'n8n', description: 'One shape for all resources, with what changed: for workflow tools.' },
    LEGACY: { value: 'legacy', description: '`event`, `model`, `data`, `original`: for receivers of version 1.' },
  } as const,
});

const REASON_WORDS = {
  by_hand: 'Somebody disabled it.',
  gone: 'It answered 410 Gone.',
  failing: 'Every attempt of 5 days failed.',
} as const satisfies Record<(typeof DISABLED_REASONS)[number], string>;
const DisabledReason = builder.enumType('WebhookDisabledReason', {
  description: 'Why nothing is delivered to an endpoint.',
  values: Object.fromEntries(
    DISABLED_REASONS.map(value => [value.toUpperCase(), { value, description: REASON_WORDS[value] }]),
  ),
});

export const WebhookEndpoint = builder.objectRef<EndpointRow>('WebhookEndpoint');

builder.node(WebhookEndpoint, {
  name: 'WebhookEndpoint',
  description: 'An address to which events are delivered. Its secrets are shown when they are made, and never again.',
  id: { resolve: endpoint => endpoint.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('webhooks:read')) return ids.map(() => undefined);
    const rows = await getEndpoints(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({ type: 'BigInt', description: 'Our own number for it.', resolve: endpoint => endpoint.id }),
    url: t.exposeString('url', { description: 'Where events are posted to.' }),
    events: t.field({
      type: ['EventType'],
      description: 'The types and patterns (`message.*`, `*`) that are delivered.',
      resolve: endpoint => [...endpoint.events],
    }),
    format: t.field({ type: Format, description: 'What a body looks like.', resolve: endpoint => endpoint.format }),
    description: t.exposeString('description', { nullable: true, description: 'What it is for.' }),
    headerNames: t.stringList({
      description: 'Names of the headers that are sent besides; their values are never shown.',
      resolve: endpoint => [...endpoint.header_names],
    }),
    isEnabled: t.exposeBoolean('enabled', { description: 'Whether events are delivered.' }),
    disabledReason: t.field({
      type: DisabledReason,
      nullable: true,
      description: 'Why it is disabled.',
      resolve: endpoint => endpoint.disabled_reason,
    }),
    disabledAt: t.expose('disabled_at', { type: 'DateTime', nullable: true, description: 'When it was disabled.' }),
    failingSince: t.expose('failing_since', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first attempt failed since the last that did not; null: it works.',
    }),
    previousSecretUntil: t.expose('previous_secret_until', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the secret before the present one signs too.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed by somebody.' }),
  }),
});

const Filter = builder.inputType('WebhookEndpointFilter', {
  description: 'Which endpoints a list shows.',
  fields: t => ({
    url: t.field({ type: StringFilter, description: 'By address.' }),
    format: t.field({ type: enumFilter(Format), description: 'By format.' }),
    isEnabled: t.field({ type: BooleanFilter, description: 'By whether events are delivered.' }),
    disabledReason: t.field({ type: enumFilter(DisabledReason), description: 'By why they are disabled.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when they were made.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'By when they were last changed.' }),
  }),
});
const Order = orderOf('WebhookEndpoint', 'endpoints', {
  ID: { value: 'id', description: 'The order in which they were made.' },
  CREATED_AT: { value: 'createdAt', description: 'When they were made.' },
  UPDATED_AT: { value: 'updatedAt', description: 'When they were last changed.' },
});

builder.queryFields(t => ({
  webhookEndpoints: t.field({
    type: connectionOf('WebhookEndpoint', WebhookEndpoint),
    description:
      'The endpoints to which events are delivered, in the order in which they were made. `search` looks in addresses and descriptions.',
    authScopes: { scope: 'webhooks:read' },
    args: {
      ...listArgs(Filter, Order),
    },
    resolve: (_root, args, context) => endpointPage(context, args),
  }),
  webhookEndpoint: t.field({
    type: WebhookEndpoint,
    nullable: true,
    description: 'One endpoint, by global id or databaseId.',
    authScopes: { scope: 'webhooks:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => findEndpoint(context, id),
  }),
}));

const HeaderInput = builder.inputType('WebhookHeaderInput', {
  description: 'A header that is sent with every delivery, such as an authorization.',
  fields: t => ({
    name: t.string({
      required: true,
      description: 'Any but those that the gateway sets itself (`webhook-…`, `content-type`, `host`, …).',
    }),
    value: t.string({ required: true, description: 'Printable ASCII, at most 2000 characters. It is stored sealed.' }),
  }),
});

const URL_WORDS =
  'https, and http where the deployment allows it; at most 2000 characters. Without user name, password and fragment, and not of a private network.';
const EVENT_WORDS =
  'Types (`message.delivered`), all of a resource (`message.*`), or `*`. Patterns also mean types that a later version adds.';
const HEADER_WORDS = 'At most 20 headers to be sent besides.';

const CreateInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'An endpoint to be made.',
  fields: t => ({
    url: t.string({ required: true, description: `Where events are posted to: ${URL_WORDS}` }),
    events: t.stringList({ required: true, description: EVENT_WORDS }),
    format: t.field({ type: Format, defaultValue: 'standard', description: 'What a body looks like.' }),
    headers: t.field({ type: [HeaderInput], description: HEADER_WORDS }),
    description: t.string({ description: 'What it is for; at most 500 characters.' }),
    isEnabled: t.boolean({ description: 'Whether to deliver from the beginning; true when nothing is said.' }),
    idempotencyKey: t.string({ description: KEY }),
  }),
});

const UpdateInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'What is to change of an endpoint. What is not given stays.',
  fields: t => ({
    url: t.string({ description: `Where events are posted to: ${URL_WORDS}` }),
    events: t.stringList({ description: EVENT_WORDS }),
    format: t.field({ type: Format, description: 'What a body looks like.' }),
    headers: t.field({ type: [HeaderInput], description: `${HEADER_WORDS} They replace all that were there.` }),
    description: t.string({ description: 'What it is for; at most 500 characters.' }),
    isEnabled: t.boolean({
      description:
        'Whether to deliver. Disabling ends what waits; enabling forgets why it was disabled and that it was failing.',
    }),
    idempotencyKey: t.string({ description: KEY }),
  }),
});

const Created = builder.objectRef<CreatedEndpoint>('CreateWebhookEndpointResult').implement({
  description: 'An endpoint that was asked for.',
  fields: t => ({
    endpoint: t.field({ type: WebhookEndpoint, description: 'The endpoint.', resolve: result => result.endpoint }),
    created: t.exposeBoolean('created', {
      description: 'True: it is new. False: there was one with this address and these events.',
    }),
    secret: t.exposeString('secret', {
      nullable: true,
      description:
        'What deliveries are signed with (`whsec_…`), shown this once; null when the endpoint is not new, and when the request is a repeated one.',
    }),
  }),
});

const Rotated = builder.objectRef<RotatedSecret>('RotateWebhookSecretResult').implement({
  description: 'The new secret of an endpoint.',
  fields: t => ({
    endpoint: t.field({ type: WebhookEndpoint, description: 'The endpoint.', resolve: result => result.endpoint }),
    secret: t.exposeString('secret', { description: 'The new secret, shown this once.' }),
  }),
});

builder.mutationFields(t => ({
  createWebhookEndpoint: t.field({
    type: Created,
    description: `Makes an endpoint, or answers the one that has this address and these events. A tenant has at most ${MAX_ENDPOINTS}.`,
    authScopes: { scope: 'webhooks:write' },
    args: { input: t.arg({ type: CreateInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => createEndpoint(context, input),
  }),
  updateWebhookEndpoint: t.field({
    type: WebhookEndpoint,
    description: 'Changes an endpoint, enables or disables it.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({ type: UpdateInput, required: true, description: 'What is to change.' }),
    },
    resolve: (_root, { id, input }, context) => changeEndpoint(context, numericId('WebhookEndpoint', id), input),
  }),
  deleteWebhookEndpoint: t.field({
    type: WebhookEndpoint,
    description: 'Removes an endpoint; what waits for it is not delivered any more. Answers what it was.',
    authScopes: { scope: 'webhooks:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => removeEndpoint(context, numericId('WebhookEndpoint', id)),
  }),
  rotateWebhookSecret: t.field({
    type: Rotated,
    description: 'Gives an endpoint a new secret. For some hours deliveries are signed by the old one too.',
    authScopes: { scope: 'webhooks:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      overlapHours: t.arg.int({
        required: true,
        defaultValue: OVERLAP_HOURS,
        description: 'For so many hours (0 to 168) the old secret signs too.',
      }),
    },
    resolve: (_root, { id, overlapHours }, context) =>
      rotateSecret(context, numericId('WebhookEndpoint', id), overlapHours),
  }),
}));
