import { requireId, requireUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder } from '../../../schema/builder.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../../schema/lists.ts';
import { findByUuid, nodesByUuid } from '../../../schema/nodes.ts';
import { selectsOnlyKey } from '../../../schema/selection.ts';
import { Group } from '../../contacts/labels/schema.ts';
import { contactLoader } from '../../contacts/loaders.ts';
import { Contact } from '../../contacts/schema.ts';
import { RenderedTemplate } from '../../templates/sending/send-schema.ts';
import { parsePayload } from '../intake/payload.ts';
import type { IntegrationRow } from '../integration.ts';
import { deliveryPage } from '../lists.ts';
import { integrationLoader, mappingLoader } from '../loaders.ts';
import { type DRY_OUTCOMES, type DryRun, dryRun, type MappingDryRun } from '../mappings/dry-run.ts';
import type { Mismatch } from '../mappings/mapping.ts';
import { IntegrationMapping } from '../mappings/mapping-schema.ts';
import { Integration } from '../schema.ts';
import { getDeliveries } from './deliveries.sql.ts';
import { type DeliveryRow, OUTCOMES, type Outcome, type Result } from './delivery.ts';
import type { CustomerTexts, Parameter } from './order.ts';
import { ReasonType, ShopOrder } from './order-schema.ts';
import { MAX_BODY_BYTES, readBody } from './read-body.ts';

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  waiting: 'Waits to be processed, or to be retried.',
  acted: 'At least one mapping was applied; see `results`.',
  duplicate: 'All mappings had already been applied to this order in this status.',
  ignored: 'No mapping applies.',
  refused: 'A permanent error prevented processing; see the reasons.',
  failed: 'A temporary error persisted through all retries.',
};
export const OutcomeType = builder.enumType('IntegrationOutcome', {
  description: 'Result of processing a payload.',
  values: Object.fromEntries(
    OUTCOMES.map(value => [value.toUpperCase(), { value, description: OUTCOME_WORDS[value] }]),
  ) as Record<string, { value: Outcome; description: string }>,
});

const ResultType = builder.objectRef<Result>('IntegrationResult').implement({
  description: 'Result of one mapping for a payload.',
  fields: t => ({
    mapping: t.field({
      type: IntegrationMapping,
      nullable: true,
      description: 'The mapping; null if it was deleted.',
      resolve: async ({ mapping_id: id }, _args, context) => (await mappingLoader(context).load(id)) ?? null,
    }),
    mappingName: t.exposeString('mapping_name', { description: 'Name of the mapping at the time of processing.' }),
    outcome: t.expose('outcome', { type: OutcomeType, description: 'Outcome of processing.' }),
    reason: t.expose('reason', {
      type: ReasonType,
      nullable: true,
      description: 'Why the mapping was not applied; null if it was.',
    }),
    contactId: t.id({
      nullable: true,
      description: 'The databaseId of the contact; null if none was found or created.',
      resolve: ({ contact_id }) => contact_id,
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact; null if it was deleted.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ contact_id }, _args, context) =>
        contact_id === null ? null : contactLoader(context).load(contact_id),
    }),
    messageId: t.exposeID('message_id', {
      nullable: true,
      description: 'The databaseId of the message. For DUPLICATE, the message that was sent first.',
    }),
  }),
});

const LIMIT = `Beyond ${MAX_BODY_BYTES / 1024 / 1024} MB in one operation: QUERY_TOO_COMPLEX.`;

export const IntegrationDelivery = builder.objectRef<DeliveryRow>('IntegrationDelivery');

builder.node(IntegrationDelivery, {
  name: 'IntegrationDelivery',
  description: 'A payload that a shop sent, with the result of processing it.',
  id: { resolve: delivery => delivery.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('integrations:read', getDeliveries),
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'UUID of the payload.' }),
    integration: t.field({
      type: Integration,
      nullable: true,
      description: 'The integration that received the payload.',
      resolve: ({ integration_id: id }, _args, context, info) =>
        selectsOnlyKey(info) ? ({ id } as IntegrationRow) : integrationLoader(context).load(id),
    }),
    topic: t.exposeString('topic', {
      description: "Event type in the shop's terms; empty if the shop did not give one.",
    }),
    shopDeliveryId: t.exposeString('shop_delivery_id', {
      nullable: true,
      description: 'Id that the shop gave the payload; null if it gave none.',
    }),
    outcome: t.expose('outcome', { type: OutcomeType, description: 'Outcome of processing.' }),
    orderId: t.exposeString('order_id', {
      nullable: true,
      description: "The shop's id of the order; null if none was found.",
    }),
    orderStatus: t.exposeString('order_status', {
      nullable: true,
      description: 'Status of the order; null if none was found.',
    }),
    reason: t.expose('reason', {
      type: ReasonType,
      nullable: true,
      description: 'Why the payload could not be processed at all. Errors of a single mapping are in its result.',
    }),
    results: t.field({
      type: [ResultType],
      description: 'Result of each mapping that applied.',
      resolve: ({ results }) => [...results],
    }),
    attempts: t.exposeInt('attempts', {
      description: 'Number of processing attempts since receipt or the last replay.',
    }),
    nextAttemptAt: t.expose('due_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the next attempt; null once processing has ended.',
    }),
    replays: t.exposeInt('replays', { description: 'Number of replays.' }),
    receivedAt: t.expose('received_at', { type: 'DateTime', description: 'Time of receipt.' }),
    processedAt: t.expose('processed_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which processing ended; null before.',
    }),
    payload: t.field({
      type: 'JSON',
      nullable: true,
      description: `Content as JSON; null if it is not JSON or was erased. Integers beyond 2^53 are strings. ${LIMIT}`,
      resolve: async ({ id }, _args, context) => {
        const body = await readBody(context, id);
        return body && parsePayload(body);
      },
    }),
    rawBody: t.string({
      nullable: true,
      description: `Content as received, decoded as UTF-8; null if it was erased. ${LIMIT}`,
      resolve: async ({ id }, _args, context) => (await readBody(context, id))?.toString('utf8'),
    }),
    erasedAt: t.expose('erased_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the content was erased because a contact in it was deleted; null if it was not.',
    }),
  }),
});

const Filter = filterOf('IntegrationDelivery', 'payloads', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the payload.' }),
  integrationId: t.field({ type: IDFilter, description: 'Id of the integration.' }),
  outcome: t.field({ type: enumFilter(OutcomeType), description: 'Outcome of processing.' }),
  topic: t.field({ type: StringFilter, description: "Event type in the shop's terms." }),
  orderId: t.field({ type: StringFilter, description: "The shop's id of the order." }),
  receivedAt: t.field({ type: DateTimeFilter, description: 'Time of receipt.' }),
  processedAt: t.field({ type: DateTimeFilter, description: 'Time at which processing ended.' }),
}));
const Order = orderOf('IntegrationDelivery', 'payloads', {
  ID: { value: 'id', description: 'Order of receipt.' },
  RECEIVED_AT: { value: 'receivedAt', description: 'Time of receipt. Ids have the same order.' },
});
const Deliveries = connectionOf('IntegrationDelivery', IntegrationDelivery);

builder.objectField(Integration, 'deliveries', t =>
  t.field({
    type: Deliveries,
    nullable: true,
    description: 'Payloads that the shop sent, newest first by default. Lists of integrations read it once for each.',
    authScopes: { scope: 'integrations:read' },
    args: { ...listArgs(Filter, Order, { search: false, offset: false }) },
    resolve: ({ id }, args, context) => deliveryPage(context, args, id),
  }),
);

const MismatchType = builder.enumType('IntegrationMismatch', {
  description: 'Why a mapping does not apply to a payload.',
  values: {
    SWITCHED_OFF: { description: 'The mapping is disabled.' },
    OTHER_TOPIC: { description: 'The event type is not in `topics` of the mapping.' },
    OTHER_STATUS: { description: 'The order status is not in `statuses` of the mapping.' },
  } satisfies Record<Mismatch, { description: string }>,
});
const DRY_WORDS: Readonly<Record<(typeof DRY_OUTCOMES)[number], string>> = {
  acts: 'The mapping would be applied.',
  done: 'The mapping was already applied to this order in this status; only a replay with `force` applies it again.',
  refuses: 'An error prevents the mapping; see the reasons.',
  not_meant: 'The mapping does not apply to the payload; see `mismatch`.',
};
const DryOutcome = builder.enumType('IntegrationDryRunOutcome', {
  description: 'What a mapping would do with a payload.',
  values: {
    ACTS: { value: 'acts', description: DRY_WORDS.acts },
    DONE: { value: 'done', description: DRY_WORDS.done },
    REFUSES: { value: 'refuses', description: DRY_WORDS.refuses },
    NOT_MEANT: { value: 'not_meant', description: DRY_WORDS.not_meant },
  } as const,
});
const Person = builder.objectRef<CustomerTexts>('IntegrationPerson').implement({
  description: 'The customer, as found in the payload.',
  fields: t => ({
    phone: t.exposeString('phone', { nullable: true, description: 'Phone number as written in the payload.' }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'First name of the customer.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'Last name of the customer.' }),
    email: t.exposeString('email', { nullable: true, description: 'E-mail address of the customer.' }),
    country: t.exposeString('country', { nullable: true, description: 'Country of the customer.' }),
  }),
});
const ParameterType = builder.objectRef<Parameter>('IntegrationParameter').implement({
  description: 'Value of a template variable in a dry run.',
  fields: t => ({
    field: t.exposeString('field', { description: 'Variable that is filled, for example `body.0` for `{{1}}`.' }),
    path: t.exposeString('path', { nullable: true, description: 'Path that was read; null for a fixed text.' }),
    value: t.exposeString('value', { description: 'Value of the variable; empty if none was found.' }),
  }),
});
const MappingDryRunType = builder.objectRef<MappingDryRun>('IntegrationMappingDryRun').implement({
  description: 'What a mapping would do with a payload.',
  fields: t => ({
    mapping: t.expose('mapping', {
      type: IntegrationMapping,
      description: 'The mapping that was tested.',
    }),
    outcome: t.expose('outcome', {
      type: DryOutcome,
      description: 'What the mapping would do.',
    }),
    mismatch: t.expose('mismatch', {
      type: MismatchType,
      nullable: true,
      description: 'Why the mapping does not apply; null if it does. The other fields are set in both cases.',
    }),
    reasons: t.field({
      type: [ReasonType],
      description: 'All errors that prevent the mapping.',
      resolve: ({ reasons }) => [...reasons],
    }),
    person: t.expose('person', { type: Person, description: 'The customer.' }),
    phone: t.exposeString('phone', {
      nullable: true,
      description: 'Phone number in E.164 format; null if it is missing or invalid.',
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'Contact with this phone number; null if a new one would be created.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ contact_id }, _args, context) =>
        contact_id === null ? null : contactLoader(context).load(contact_id),
    }),
    groups: t.field({
      type: [Group],
      description: 'Groups that the contact would be added to.',
      resolve: ({ mapping }) => [...mapping.groups],
    }),
    parameters: t.field({
      type: [ParameterType],
      description: 'Values of the template variables.',
      resolve: ({ parameters }) => [...parameters],
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of the message with its variables filled; null if no template would be sent.',
      authScopes: { scope: 'contacts:read' },
    }),
    rendered: t.expose('rendered', {
      type: RenderedTemplate,
      nullable: true,
      description: 'Complete message with its variables filled; null if no template would be sent.',
      authScopes: { scope: 'contacts:read' },
    }),
  }),
});
const DryRunType = builder.objectRef<DryRun>('IntegrationDryRun').implement({
  description: 'What an integration would do with a payload.',
  fields: t => ({
    topic: t.exposeString('topic', { description: "Event type in the shop's terms." }),
    order: t.expose('order', {
      type: ShopOrder,
      nullable: true,
      description: 'The order in the payload; null if no id was found.',
    }),
    mappings: t.field({
      type: [MappingDryRunType],
      description: 'What each mapping of the integration would do.',
      resolve: ({ mappings }) => [...mappings],
    }),
  }),
});

builder.queryFields(t => ({
  integrationDeliveries: t.field({
    type: Deliveries,
    description: 'Lists payloads that shops sent, newest first by default.',
    authScopes: { scope: 'integrations:read' },
    args: { ...listArgs(Filter, Order, { search: false }) },
    resolve: (_root, args, context) => deliveryPage(context, args),
  }),
  integrationDelivery: t.field({
    type: IntegrationDelivery,
    nullable: true,
    description: 'Returns one payload that a shop sent; null if there is none.',
    authScopes: { scope: 'integrations:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the payload.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'IntegrationDelivery', id, getDeliveries),
  }),
  dryRunIntegration: t.field({
    type: DryRunType,
    description:
      'Shows what an integration would do with a payload: the contact, the values and text of the template, or the errors. Writes and sends nothing, and does not check plan limits. Costs ten points of the rate limit.',
    authScopes: { scope: 'integrations:read' },
    // Each of up to fifty mappings looks for the contact, the template and what was done.
    extensions: { points: 10 },
    args: {
      integrationId: t.arg.id({ required: true, description: 'Global id or databaseId of the integration.' }),
      deliveryId: t.arg.id({ description: 'A received payload to test. Set either this or `payload`.' }),
      payload: t.arg({
        type: 'JSON',
        description: 'A payload as the shop would send it. Set either this or `deliveryId`.',
      }),
      topic: t.arg.string({
        description: "Event type in the shop's terms, for example `order.created`. Default: that of the delivery.",
      }),
    },
    resolve: (_root, { integrationId, deliveryId, ...args }, context) =>
      dryRun(context, {
        ...args,
        integrationId: requireId(tenantOf(context), 'Integration', integrationId),
        deliveryId: deliveryId == null ? null : requireUuid(tenantOf(context), 'IntegrationDelivery', deliveryId),
      }),
  }),
}));
