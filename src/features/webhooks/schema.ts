import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { deleteMutation } from '../../schema/delete-mutation.ts';
import { DATES, listQueries } from '../../schema/list-queries.ts';
import { BooleanFilter, enumFilter, StringFilter } from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { mutation, payloadOf } from '../../schema/payload.ts';
import { changeEndpoint, OVERLAP_HOURS, removeEndpoint, rotateSecret } from './endpoints/change.ts';
import { type CreatedEndpoint, createEndpoint } from './endpoints/create.ts';
import { DISABLED_REASONS, type EndpointRow, MAX_ENDPOINTS } from './endpoints/endpoint.ts';
import { endpointPage } from './endpoints/list.ts';
import { getEndpoints } from './endpoints/store.ts';

const Format = builder.enumType('WebhookFormat', {
  description: 'Format of the body of a delivery.',
  values: {
    STANDARD: { value: 'standard', description: 'Standard Webhooks: `type`, `timestamp`, `data`.' },
    N8N: {
      value: 'n8n',
      description: 'The same structure for all resources, with changed fields, for workflow tools.',
    },
    LEGACY: {
      value: 'legacy',
      description: 'Body with `event`, `model`, `data` and `original`, for receivers written for version 1.',
    },
  } as const,
});

const REASON_WORDS = {
  by_hand: 'Disabled by a user.',
  gone: 'The endpoint responded with 410 Gone.',
  failing: 'All attempts of the last 5 days failed.',
} as const satisfies Record<(typeof DISABLED_REASONS)[number], string>;
const DisabledReason = builder.enumType('WebhookDisabledReason', {
  description: 'Why an endpoint was disabled.',
  values: Object.fromEntries(
    DISABLED_REASONS.map(value => [value.toUpperCase(), { value, description: REASON_WORDS[value] }]),
  ),
});

export const WebhookEndpoint = builder.objectRef<EndpointRow>('WebhookEndpoint');

builder.node(WebhookEndpoint, {
  name: 'WebhookEndpoint',
  description:
    'A URL to which events are delivered. Its signing secret is returned only when it is created or rotated.',
  id: { resolve: endpoint => endpoint.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('webhooks:read', getEndpoints),
  fields: t => ({
    databaseId: databaseId(t),
    url: t.exposeString('url', { description: 'URL to which events are posted.' }),
    events: t.field({
      type: ['EventPattern'],
      description: 'Events that are delivered, sorted.',
      resolve: endpoint => [...endpoint.events],
    }),
    format: t.expose('format', { type: Format, description: 'Format of the body.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Purpose of the endpoint; null if not set.',
    }),
    headerNames: t.stringList({
      description: 'Names of the additional headers. Their values are not returned.',
      resolve: endpoint => [...endpoint.header_names],
    }),
    isEnabled: t.exposeBoolean('enabled', { description: 'Whether events are delivered.' }),
    disabledReason: t.field({
      type: DisabledReason,
      nullable: true,
      description: 'Why the endpoint is disabled; null if it is enabled.',
      resolve: endpoint => endpoint.disabled_reason,
    }),
    disabledAt: t.expose('disabled_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the endpoint was disabled; null if it is enabled.',
    }),
    failingSince: t.expose('failing_since', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first failure since the last successful attempt; null if the last attempt succeeded.',
    }),
    previousSecretUntil: t.expose('previous_secret_until', {
      type: 'DateTime',
      nullable: true,
      description: 'Time until which deliveries are also signed with the previous secret; null if there is none.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change of its settings.' }),
  }),
});

listQueries(WebhookEndpoint, {
  list: 'webhookEndpoints',
  one: 'webhookEndpoint',
  noun: 'endpoint',
  plural: 'endpoints',
  description:
    "Lists the tenant's webhook endpoints, in order of creation by default. `search` matches URLs and descriptions.",
  scope: 'webhooks:read',
  filter: t => ({
    url: t.field({ type: StringFilter, description: 'URL of the endpoint.' }),
    format: t.field({ type: enumFilter(Format), description: 'Format of the body.' }),
    isEnabled: t.field({ type: BooleanFilter, description: 'Whether events are delivered.' }),
    disabledReason: t.field({ type: enumFilter(DisabledReason), description: 'Why the endpoint is disabled.' }),
  }),
  dates: { createdAt: DATES.createdAt, updatedAt: 'Time of the last change of its settings.' },
  page: endpointPage,
  get: getEndpoints,
});

const HeaderInput = builder.inputType('WebhookHeaderInput', {
  description: 'An additional header of every delivery, for example for authorization.',
  fields: t => ({
    name: t.string({
      required: true,
      description:
        'Name of the header. Headers set by the gateway are refused (`webhook-…`, `content-type`, `host`, …).',
    }),
    value: t.string({
      description:
        'Value in printable ASCII, at most 2000 characters; stored encrypted. Without it, a change keeps the present value of this header.',
    }),
  }),
});

const URL_WORDS =
  'https (http if the deployment allows it), at most 2000 characters, without user name, password or fragment, and not in a private network.';
const EVENT_WORDS =
  'Event types (`message.delivered`), all types of a resource (`message.*`), or all (`*`). Patterns include types of later versions.';
const HEADER_WORDS = 'At most 20 additional headers.';

const endpointId = (t: InputFields) =>
  t.id({ required: true, description: 'Global id or databaseId of the endpoint.' });
const idempotencyKey = (t: InputFields) => t.string({ description: IDEMPOTENCY_KEY });

const CreateInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'Settings of a new endpoint.',
  fields: t => ({
    url: t.string({ required: true, description: `URL to which events are posted: ${URL_WORDS}` }),
    events: t.field({ type: ['EventPattern'], required: true, description: EVENT_WORDS }),
    format: t.field({ type: Format, defaultValue: 'standard', description: 'Format of the body.' }),
    headers: t.field({ type: [HeaderInput], description: HEADER_WORDS }),
    description: t.string({ description: 'Purpose of the endpoint; at most 500 characters.' }),
    isEnabled: t.boolean({ description: 'Whether events are delivered. Default: true.' }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const UpdateInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'Changes to an endpoint. Omitted fields keep their values.',
  fields: t => ({
    id: endpointId(t),
    url: t.string({ description: `URL to which events are posted: ${URL_WORDS}` }),
    events: t.field({ type: ['EventPattern'], description: EVENT_WORDS }),
    format: t.field({ type: Format, description: 'Format of the body.' }),
    headers: t.field({ type: [HeaderInput], description: `${HEADER_WORDS} They replace all present ones.` }),
    description: t.string({ description: 'Purpose of the endpoint; at most 500 characters.' }),
    isEnabled: t.boolean({
      description:
        'Whether events are delivered. Disabling ends waiting deliveries; enabling clears `disabledReason` and `failingSince`.',
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const RotateInput = builder.inputType('RotateWebhookSecretInput', {
  description: 'The endpoint whose secret is replaced.',
  fields: t => ({
    id: endpointId(t),
    overlapHours: t.int({
      required: true,
      defaultValue: OVERLAP_HOURS,
      description: 'Hours (0 to 168) during which deliveries are also signed with the previous secret.',
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const EndpointPayload = payloadOf<CreatedEndpoint>(
  'WebhookEndpointPayload',
  'Result of a mutation of a WebhookEndpoint.',
  t => ({
    webhookEndpoint: t.field({
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint after the mutation.',
      resolve: payload => payload.webhookEndpoint ?? null,
    }),
    secret: t.string({
      nullable: true,
      description:
        'The new signing secret (`whsec_…`), of `createWebhookEndpoint` and `rotateWebhookSecret`. Shown only once: null if the endpoint existed already or the request repeats an earlier one.',
      resolve: payload => payload.secret ?? null,
    }),
    isNew: t.boolean({
      nullable: true,
      description:
        'Of `createWebhookEndpoint`: false if an endpoint with this URL and these events existed already. Null for other mutations.',
      resolve: payload => payload.isNew ?? null,
    }),
  }),
);

mutation('createWebhookEndpoint', {
  description: `Creates an endpoint, or returns the existing one with this URL and these events. A tenant has at most ${MAX_ENDPOINTS}.`,
  scope: 'webhooks:write',
  input: CreateInput,
  payload: EndpointPayload,
  resolve: (input, context) => createEndpoint(context, input),
});
mutation('updateWebhookEndpoint', {
  description: 'Changes, enables or disables an endpoint.',
  scope: 'webhooks:write',
  input: UpdateInput,
  payload: EndpointPayload,
  resolve: async ({ id, ...input }, context) => ({
    webhookEndpoint: await changeEndpoint(context, requireId(tenantOf(context), 'WebhookEndpoint', id), input),
  }),
});
deleteMutation('WebhookEndpoint', {
  noun: 'endpoint',
  description: 'Deletes an endpoint. Waiting deliveries are not made; past ones stay in the log.',
  scope: 'webhooks:write',
  remove: removeEndpoint,
});
mutation('rotateWebhookSecret', {
  description:
    'Replaces the signing secret of an endpoint. For a limited time, deliveries are signed with both secrets.',
  scope: 'webhooks:write',
  input: RotateInput,
  payload: EndpointPayload,
  resolve: ({ id, overlapHours, idempotencyKey }, context) =>
    rotateSecret(context, requireId(tenantOf(context), 'WebhookEndpoint', id), overlapHours, idempotencyKey),
});
