import { builder } from '../../builder.ts';
import type { Context } from '../../context.ts';
import { numericId, uuidOf } from '../../global-ids.ts';
import { selectionOf } from '../../graphql/selection.ts';
import { tenantOf } from '../caller.ts';
import { Contact } from '../contacts/schema.ts';
import { Group } from '../labels/schema.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../lists/schema.ts';
import { RenderedTemplate } from '../templates/send-schema.ts';
import { getDeliveries } from './deliveries-store.ts';
import { type DeliveryRow, OUTCOMES, type Outcome, type Result } from './delivery.ts';
import { type DRY_OUTCOMES, type DryRun, dryRun, type MappingDryRun } from './dry-run.ts';
import { deliveryOf } from './find.ts';
import { deliveryPage } from './lists.ts';
import type { Mismatch } from './mapping.ts';
import { IntegrationMapping } from './mapping-schema.ts';
import type { CustomerTexts, Parameter } from './order.ts';
import { ReasonType, ReceivedOrder } from './order-schema.ts';
import { parsePayload } from './payload.ts';
import { Integration } from './schema.ts';

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  waiting: 'It waits to be worked on, or to be tried again.',
  acted: 'What its mappings say was done.',
  duplicate: 'What its mappings say had been done before for this order in this status.',
  ignored: 'No mapping wants it.',
  refused: 'Something stood in the way that does not pass by itself: see the reasons.',
  failed: 'A fault did not pass, however often it was tried.',
};
export const OutcomeType = builder.enumType('IntegrationOutcome', {
  description: 'What became of a payload.',
  values: Object.fromEntries(
    OUTCOMES.map(value => [value.toUpperCase(), { value, description: OUTCOME_WORDS[value] }]),
  ) as Record<string, { value: Outcome; description: string }>,
});

const ResultType = builder.objectRef<Result>('IntegrationResult').implement({
  description: 'What became of a payload for one mapping.',
  fields: t => ({
    mappingId: t.field({
      type: 'BigInt',
      description: 'The databaseId of the mapping.',
      resolve: ({ mapping_id }) => mapping_id,
    }),
    mappingName: t.exposeString('mapping_name', { description: 'As the mapping was called then.' }),
    outcome: t.field({ type: OutcomeType, description: 'What became of it.', resolve: ({ outcome }) => outcome }),
    reason: t.field({ type: ReasonType, nullable: true, description: 'Why not.', resolve: ({ reason }) => reason }),
    contactId: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The databaseId of the contact.',
      resolve: ({ contact_id }) => contact_id,
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact; null once deleted.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ contact_id }, _args, { loaders }) => (contact_id === null ? null : loaders.contact.load(contact_id)),
    }),
    messageId: t.exposeString('message_id', {
      nullable: true,
      description: 'The databaseId of the message; of a duplicate that of the first one.',
    }),
  }),
});

const bodyOf = async (context: Context, { id, body }: DeliveryRow): Promise<Buffer | null> =>
  body === undefined ? (await deliveryOf(context.db.read, tenantOf(context), id)).body : body;

export const IntegrationDelivery = builder.objectRef<DeliveryRow>('IntegrationDelivery');

builder.node(IntegrationDelivery, {
  name: 'IntegrationDelivery',
  description: 'A payload that a shop sent, and what became of it.',
  id: { resolve: delivery => delivery.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('integrations:read')) return ids.map(() => undefined);
    const uuids = ids.map(id => uuidOf('IntegrationDelivery', String(id)));
    const rows = await getDeliveries(context.db.read, tenantOf(context), uuids);
    return uuids.map(id => rows.find(row => row.id === id));
  },
  fields: t => ({
    databaseId: t.exposeString('id', { description: 'Its UUID.' }),
    integration: t.field({
      type: Integration,
      nullable: true,
      description: 'Where it came in.',
      resolve: ({ integration_id }, _args, { loaders }) => loaders.integration.load(integration_id),
    }),
    topic: t.exposeString('topic', { description: "What happened, in the shop's word; empty where it said nothing." }),
    shopDeliveryId: t.exposeString('shop_delivery_id', { nullable: true, description: "The shop's own id of it." }),
    outcome: t.field({ type: OutcomeType, description: 'What became of it.', resolve: ({ outcome }) => outcome }),
    orderId: t.exposeString('order_id', { nullable: true, description: "The shop's id of the order." }),
    orderStatus: t.exposeString('order_status', { nullable: true, description: 'The status of the order.' }),
    reason: t.field({
      type: ReasonType,
      nullable: true,
      description: 'Why nothing could be made of it at all; reasons of one mapping stand in its result.',
      resolve: ({ reason }) => reason,
    }),
    results: t.field({
      type: [ResultType],
      description: 'What each mapping that wanted it came to.',
      resolve: ({ results }) => [...results],
    }),
    attempts: t.exposeInt('attempts', { description: 'How often it was worked on, since it came or was replayed.' }),
    nextAttemptAt: t.expose('due_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is worked on next; null once it is done with.',
    }),
    replays: t.exposeInt('replays', { description: 'How often it was replayed.' }),
    receivedAt: t.expose('received_at', { type: 'DateTime', description: 'When it came.' }),
    processedAt: t.expose('processed_at', { type: 'DateTime', nullable: true, description: 'When it was done with.' }),
    payload: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What it holds; null for what is not JSON, or was erased. Whole numbers beyond 2^53 are texts.',
      resolve: async (delivery, _args, context) => {
        const body = await bodyOf(context, delivery);
        return body && parsePayload(body);
      },
    }),
    rawBody: t.string({
      nullable: true,
      description: 'What it holds as it came, read as UTF-8; null where it was erased.',
      resolve: async (delivery, _args, context) => (await bodyOf(context, delivery))?.toString('utf8'),
    }),
    erasedAt: t.expose('erased_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When what it holds was erased, because a contact of whom it tells was deleted.',
    }),
  }),
});

const Filter = builder.inputType('IntegrationDeliveryFilter', {
  description: 'Which payloads a list shows.',
  fields: t => ({
    integrationId: t.field({ type: IDFilter, description: 'By integration.' }),
    outcome: t.field({ type: enumFilter(OutcomeType), description: 'By what became of it.' }),
    topic: t.field({ type: StringFilter, description: 'By what happened.' }),
    orderId: t.field({ type: StringFilter, description: "By the shop's id of the order." }),
    receivedAt: t.field({ type: DateTimeFilter, description: 'By when it came.' }),
  }),
});
const Order = orderOf('IntegrationDelivery', 'payloads', {
  ID: { value: 'id', description: 'The order in which they came.' },
  RECEIVED_AT: { value: 'receivedAt', description: 'When it came.' },
});

const MismatchType = builder.enumType('IntegrationMismatch', {
  description: 'Why a mapping has nothing to do with a payload.',
  values: {
    SWITCHED_OFF: { description: 'The mapping is switched off.' },
    OTHER_TOPIC: { description: 'Something else has happened.' },
    OTHER_STATUS: { description: 'The order is in another status.' },
  } satisfies Record<Mismatch, { description: string }>,
});
const DRY_WORDS: Readonly<Record<(typeof DRY_OUTCOMES)[number], string>> = {
  acts: 'It would do what it says.',
  done: 'It has done so before for this order in this status: only a forced replay does it again.',
  refuses: 'Something stands in the way: see the reasons.',
  not_meant: 'It has nothing to do with the payload: see the mismatch.',
};
const DryOutcome = builder.enumType('IntegrationDryRunOutcome', {
  description: 'What a mapping would do.',
  values: {
    ACTS: { value: 'acts', description: DRY_WORDS.acts },
    DONE: { value: 'done', description: DRY_WORDS.done },
    REFUSES: { value: 'refuses', description: DRY_WORDS.refuses },
    NOT_MEANT: { value: 'not_meant', description: DRY_WORDS.not_meant },
  } as const,
});
const Person = builder.objectRef<CustomerTexts>('IntegrationPerson').implement({
  description: 'Who ordered, as the payload has it.',
  fields: t => ({
    phone: t.exposeString('phone', { nullable: true, description: 'The phone number as it stands there.' }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'The first name.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'The last name.' }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail address.' }),
    country: t.exposeString('country', { nullable: true, description: 'The country.' }),
  }),
});
const ParameterType = builder.objectRef<Parameter>('IntegrationParameter').implement({
  description: 'A variable of a template, filled.',
  fields: t => ({
    field: t.exposeString('field', { description: 'Such as `body.0` for the variable `{{1}}`.' }),
    path: t.exposeString('path', { nullable: true, description: 'Where it was looked for; null for a fixed text.' }),
    value: t.exposeString('value', { description: 'What fills it; empty where there is nothing.' }),
  }),
});
const MappingDryRunType = builder.objectRef<MappingDryRun>('IntegrationMappingDryRun').implement({
  description: 'What a mapping would do with a payload.',
  fields: t => ({
    mapping: t.field({ type: IntegrationMapping, description: 'The mapping.', resolve: ({ mapping }) => mapping }),
    outcome: t.field({ type: DryOutcome, description: 'What it would do.', resolve: ({ outcome }) => outcome }),
    mismatch: t.field({
      type: MismatchType,
      nullable: true,
      description: 'Why it has nothing to do with it. The rest is told all the same.',
      resolve: ({ mismatch }) => mismatch,
    }),
    reasons: t.field({
      type: [ReasonType],
      description: 'All that stands in the way.',
      resolve: ({ reasons }) => [...reasons],
    }),
    person: t.field({ type: Person, description: 'Who ordered.', resolve: ({ person }) => person }),
    phone: t.exposeString('phone', { nullable: true, description: 'The phone number in E.164.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact who has the phone number; null: a new one is made.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ contact_id }, _args, { loaders }) => (contact_id === null ? null : loaders.contact.load(contact_id)),
    }),
    groups: t.field({
      type: [Group],
      description: 'The groups that the contact is put into.',
      resolve: ({ mapping }) => [...mapping.groups],
    }),
    parameters: t.field({
      type: [ParameterType],
      description: 'What fills the template.',
      resolve: ({ parameters }) => [...parameters],
    }),
    text: t.exposeString('text', { nullable: true, description: 'The text as it would read.' }),
    rendered: t.field({
      type: RenderedTemplate,
      nullable: true,
      description: 'All of the template as it would read.',
      resolve: ({ rendered }) => rendered,
    }),
  }),
});
const DryRunType = builder.objectRef<DryRun>('IntegrationDryRun').implement({
  description: 'What would be done with a payload.',
  fields: t => ({
    topic: t.exposeString('topic', { description: 'What happened.' }),
    order: t.field({
      type: ReceivedOrder,
      nullable: true,
      description: 'The order; null where no id was found.',
      resolve: ({ order }) => order,
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
    type: connectionOf('IntegrationDelivery', IntegrationDelivery),
    description: 'What shops sent, newest first where no order is asked for.',
    authScopes: { scope: 'integrations:read' },
    args: {
      ...listArgs(Filter, Order),
    },
    resolve: (_root, args, context, info) => deliveryPage(context, args, selectionOf(info)),
  }),
  integrationDelivery: t.field({
    type: IntegrationDelivery,
    nullable: true,
    description: 'One payload that a shop sent, by global id or databaseId.',
    authScopes: { scope: 'integrations:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) =>
      deliveryOf(context.db.read, tenantOf(context), uuidOf('IntegrationDelivery', id)),
  }),
  dryRunIntegration: t.field({
    type: DryRunType,
    description:
      'What would be done with a payload: whom it is for, what fills the template, how that reads, or why not. Nothing is written or sent; counters of the plan are not looked at. It costs ten points of the rate limit.',
    authScopes: { scope: 'integrations:read' },
    // Each of up to fifty mappings looks for the contact, the template and what was done.
    extensions: { points: 10 },
    args: {
      integrationId: t.arg.id({ required: true, description: 'The integration.' }),
      deliveryId: t.arg.id({ description: 'A payload that was received; this or payload.' }),
      payload: t.arg({ type: 'JSON', description: 'A payload as the shop would send it; this or deliveryId.' }),
      topic: t.arg.string({
        description: 'What happened, such as `order.created`; that of the delivery when nothing is said.',
      }),
    },
    resolve: (_root, { integrationId, deliveryId, ...args }, context) =>
      dryRun(context, {
        ...args,
        integrationId: numericId('Integration', integrationId),
        deliveryId: deliveryId == null ? null : uuidOf('IntegrationDelivery', deliveryId),
      }),
  }),
}));
