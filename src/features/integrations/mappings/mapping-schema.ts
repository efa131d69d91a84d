import { inputId, optionalInputId, requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../../schema/builder.ts';
import { databaseId } from '../../../schema/database-id.ts';
import { deleteMutation } from '../../../schema/delete-mutation.ts';
import { nodesByNumber } from '../../../schema/nodes.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { channelLoader } from '../../channels/loaders.ts';
import { Channel } from '../../channels/schema.ts';
import { Group } from '../../contacts/labels/schema.ts';
import { MERGED_IN_REPLY } from '../../messages/send/merge-fields.ts';
import type { Place } from '../../templates/sending/parameters.ts';
import { TemplateLocationInput } from '../../templates/sending/send-schema.ts';
import { getMappings } from '../integrations.sql.ts';
import { integrationLoader } from '../loaders.ts';
import { changeMapping, createMapping, removeMapping } from './change-mapping.ts';
import type { MappedHeader, MappedTemplate, MappingRow, Value } from './mapping.ts';
import { pathsOf } from './mapping.ts';
import {
  MAX_ALTERNATIVES,
  MAX_FIXED,
  MAX_MAPPINGS,
  MAX_PARAMETERS,
  MAX_WORDS,
  type MappingInput,
} from './mapping-input.ts';
import type { Paths } from './paths.ts';

/** Fields of a mapping, for its type and its input. */

const TEXT = `Fixed text. ${MERGED_IN_REPLY}`;
const WORDS = {
  path: 'Path of the value in the payload, for example `billing.first_name` or `line_items[0].name`.',
  fallback: 'Value used if the path is empty. Without it the template is not sent in that case.',
  text: TEXT,
};
const HEADER_WORDS = {
  text: 'Value of the variable in a text header.',
  image: 'URL of the image for a header of format IMAGE.',
  video: 'URL of the video for a header of format VIDEO.',
  document: 'URL of the document for a header of format DOCUMENT.',
  filename: 'File name of the document that the recipient sees.',
};
const PATH_WORDS: Readonly<Record<keyof Paths, string>> = {
  phone: 'Phone number of the customer. National numbers are read in the country of the order.',
  firstName: 'First name of the customer.',
  lastName: 'Last name of the customer.',
  email: 'E-mail address of the customer.',
  country: 'Country of the customer: ISO 3166-1 alpha-2 or alpha-3 code, or English name.',
  orderId: "The shop's id of the order. Required to recognize repeated reports of one order.",
  orderNumber: 'Order number that the customer sees.',
  status: 'Status of the order.',
  total: 'Total amount of the order.',
  currency: 'Currency of the order.',
};

const ValueType = builder.objectRef<Value>('IntegrationValue').implement({
  description: 'Value of a template variable: taken from the payload (`path`), or fixed (`text`).',
  fields: t => ({
    path: t.string({ nullable: true, description: WORDS.path, resolve: ({ path }) => path ?? null }),
    fallback: t.string({ nullable: true, description: WORDS.fallback, resolve: ({ fallback }) => fallback ?? null }),
    text: t.string({ nullable: true, description: WORDS.text, resolve: ({ text }) => text ?? null }),
  }),
});
const ValueInput = builder.inputRef<Value>('IntegrationValueInput').implement({
  description: 'Value of a template variable. Set exactly one of `path` and `text`.',
  fields: t => ({
    path: t.string({ description: WORDS.path }),
    fallback: t.string({ description: `${WORDS.fallback} At most ${MAX_FIXED} characters.` }),
    text: t.string({ description: `${WORDS.text} At most ${MAX_FIXED} characters.` }),
  }),
});

const PlaceType = builder.objectRef<Place>('IntegrationPlace').implement({
  description: 'A fixed location for the header of a template.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Latitude in degrees, from -90 to 90.' }),
    longitude: t.exposeFloat('longitude', { description: 'Longitude in degrees, from -180 to 180.' }),
    name: t.string({
      nullable: true,
      description: 'Name of the location; null if not set.',
      resolve: ({ name }) => name ?? null,
    }),
    address: t.string({
      nullable: true,
      description: 'Street address; null if not set.',
      resolve: ({ address }) => address ?? null,
    }),
  }),
});

const header = (name: keyof typeof HEADER_WORDS) => ({
  nullable: true as const,
  description: HEADER_WORDS[name],
  type: ValueType,
  resolve: (of: MappedHeader) => of[name] ?? null,
});
const HeaderType = builder.objectRef<MappedHeader>('IntegrationHeader').implement({
  description: 'Values for the header of a template, according to its format.',
  fields: t => ({
    text: t.field(header('text')),
    image: t.field(header('image')),
    video: t.field(header('video')),
    document: t.field(header('document')),
    filename: t.field(header('filename')),
    location: t.field({
      type: PlaceType,
      nullable: true,
      description: 'Location for a header of format LOCATION.',
      resolve: ({ location }) => location ?? null,
    }),
  }),
});
const HeaderInput = builder.inputRef<MappedHeader>('IntegrationHeaderInput').implement({
  description: 'Values for the header of a template. Set only what its format requires.',
  fields: t => ({
    text: t.field({ type: ValueInput, description: HEADER_WORDS.text }),
    image: t.field({ type: ValueInput, description: HEADER_WORDS.image }),
    video: t.field({ type: ValueInput, description: HEADER_WORDS.video }),
    document: t.field({ type: ValueInput, description: HEADER_WORDS.document }),
    filename: t.field({ type: ValueInput, description: HEADER_WORDS.filename }),
    location: t.field({ type: TemplateLocationInput, description: 'Location for a header of format LOCATION.' }),
  }),
});

type Named = NonNullable<MappedTemplate['bodyByName']>[number];
const NamedType = builder.objectRef<Named>('IntegrationNamedValue').implement({
  description: 'A named variable, with where its value comes from.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name of the variable, without braces.' }),
    value: t.expose('value', { type: ValueType, description: 'Value that fills the variable.' }),
  }),
});
const NamedInput = builder.inputRef<Named>('IntegrationNamedValueInput').implement({
  description: 'A named variable, with where its value comes from.',
  fields: t => ({
    name: t.string({ required: true, description: 'Name of the variable, without braces.' }),
    value: t.field({ type: ValueInput, required: true, description: 'Value that fills the variable.' }),
  }),
});

type Button = NonNullable<MappedTemplate['buttons']>[number];
const INDEX = 'Position of the button, starting at 0 (`TemplateButton.index`).';
const ButtonType = builder.objectRef<Button>('IntegrationButton').implement({
  description: 'Value of a template button.',
  fields: t => ({
    index: t.exposeInt('index', { description: INDEX }),
    value: t.expose('value', { type: ValueType, description: 'Value of the button.' }),
  }),
});
const ButtonInput = builder.inputRef<Button>('IntegrationButtonInput').implement({
  description: 'Value of a template button: the end of the URL of a link, or the code of a copy-code button.',
  fields: t => ({
    index: t.int({ required: true, description: INDEX }),
    value: t.field({ type: ValueInput, required: true, description: 'Value of the button.' }),
  }),
});

const TEMPLATE_WORDS = {
  name: 'Name of an approved template.',
  language: 'Language code in which the template exists, for example `en` or `en_US`.',
  header: 'Values for the header, required if it has a variable, a file or a location.',
  body: 'Values of the numbered body variables, in order: the first fills `{{1}}`.',
  bodyByName: 'Values of the named body variables, if `Template.parameterFormat` is NAMED.',
  buttons: 'Values of the buttons that need one.',
};
const TemplateType = builder.objectRef<MappedTemplate>('IntegrationTemplate').implement({
  description: 'Template that a mapping sends, with the values of its variables.',
  fields: t => ({
    name: t.exposeString('name', { description: TEMPLATE_WORDS.name }),
    language: t.exposeString('language', { description: TEMPLATE_WORDS.language }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: "Channel to send from; null for the tenant's default channel.",
      authScopes: { scope: 'channels:read' },
      resolve: ({ channelId }, _args, context) => (channelId == null ? null : channelLoader(context).load(channelId)),
    }),
    header: t.field({
      type: HeaderType,
      nullable: true,
      description: TEMPLATE_WORDS.header,
      resolve: template => template.header ?? null,
    }),
    body: t.field({
      type: [ValueType],
      description: TEMPLATE_WORDS.body,
      resolve: ({ body }) => [...(body ?? [])],
    }),
    bodyByName: t.field({
      type: [NamedType],
      description: TEMPLATE_WORDS.bodyByName,
      resolve: ({ bodyByName }) => [...(bodyByName ?? [])],
    }),
    buttons: t.field({
      type: [ButtonType],
      description: TEMPLATE_WORDS.buttons,
      resolve: ({ buttons }) => [...(buttons ?? [])],
    }),
  }),
});

type TemplateInput = Omit<MappedTemplate, 'channelId'> & { readonly channelId?: string | null | undefined };
const TemplateInput = builder.inputRef<TemplateInput>('IntegrationTemplateInput').implement({
  description: 'Template that a mapping sends, with the values of its variables.',
  fields: t => ({
    name: t.string({ required: true, description: TEMPLATE_WORDS.name }),
    language: t.string({ required: true, description: TEMPLATE_WORDS.language }),
    channelId: t.id({ description: "Channel to send from. Default: the tenant's default channel." }),
    header: t.field({ type: HeaderInput, description: TEMPLATE_WORDS.header }),
    body: t.field({ type: [ValueInput], description: `${TEMPLATE_WORDS.body} At most ${MAX_PARAMETERS}.` }),
    bodyByName: t.field({ type: [NamedInput], description: TEMPLATE_WORDS.bodyByName }),
    buttons: t.field({ type: [ButtonInput], description: TEMPLATE_WORDS.buttons }),
  }),
});

const FIRST = 'The first path that has a value is used.';
const PathsType = builder.objectRef<Paths>('IntegrationPaths').implement({
  description: `Paths of values in a payload. ${FIRST}`,
  fields: t => ({
    phone: t.exposeStringList('phone', { description: PATH_WORDS.phone }),
    firstName: t.exposeStringList('firstName', { description: PATH_WORDS.firstName }),
    lastName: t.exposeStringList('lastName', { description: PATH_WORDS.lastName }),
    email: t.exposeStringList('email', { description: PATH_WORDS.email }),
    country: t.exposeStringList('country', { description: PATH_WORDS.country }),
    orderId: t.exposeStringList('orderId', { description: PATH_WORDS.orderId }),
    orderNumber: t.exposeStringList('orderNumber', { description: PATH_WORDS.orderNumber }),
    status: t.exposeStringList('status', { description: PATH_WORDS.status }),
    total: t.exposeStringList('total', { description: PATH_WORDS.total }),
    currency: t.exposeStringList('currency', { description: PATH_WORDS.currency }),
  }),
});
const PathsInput = builder.inputType('IntegrationPathsInput', {
  description: `Paths of values in a payload: one path each, or up to ${MAX_ALTERNATIVES}, of which the first with a value is used. Omitted fields use the default of the integration's kind; an empty list disables the value.`,
  fields: t => ({
    phone: t.stringList({ description: PATH_WORDS.phone }),
    firstName: t.stringList({ description: PATH_WORDS.firstName }),
    lastName: t.stringList({ description: PATH_WORDS.lastName }),
    email: t.stringList({ description: PATH_WORDS.email }),
    country: t.stringList({ description: PATH_WORDS.country }),
    orderId: t.stringList({ description: PATH_WORDS.orderId }),
    orderNumber: t.stringList({ description: PATH_WORDS.orderNumber }),
    status: t.stringList({ description: PATH_WORDS.status }),
    total: t.stringList({ description: PATH_WORDS.total }),
    currency: t.stringList({ description: PATH_WORDS.currency }),
  }),
});

const MAPPING_WORDS = {
  name: 'Name of the mapping (1 to 100 characters).',
  isEnabled: 'Whether the mapping is applied to orders.',
  topics:
    'Event types of the shop to which the mapping applies, for example `order.created` or `orders/create`; empty for all.',
  statuses: 'Order statuses to which the mapping applies, ignoring case, for example `processing`; empty for all.',
  template: 'Template to send; null to update only the contact.',
};

export const IntegrationMapping = builder.objectRef<MappingRow>('IntegrationMapping');

builder.node(IntegrationMapping, {
  name: 'IntegrationMapping',
  description:
    'What happens when a shop reports an order: the contact is found or created, added to groups, and sent a template. Applied once for each order and status, however often the shop reports it.',
  id: { resolve: mapping => mapping.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('integrations:read', getMappings),
  fields: t => ({
    databaseId: databaseId(t),
    name: t.exposeString('name', { description: MAPPING_WORDS.name }),
    isEnabled: t.exposeBoolean('is_enabled', { description: MAPPING_WORDS.isEnabled }),
    topics: t.stringList({ description: MAPPING_WORDS.topics, resolve: ({ topics }) => [...topics] }),
    statuses: t.stringList({ description: MAPPING_WORDS.statuses, resolve: ({ statuses }) => [...statuses] }),
    paths: t.field({
      type: PathsType,
      description: "Paths of values in the payload, including the defaults of the integration's kind.",
      resolve: async (mapping, _args, context) =>
        pathsOf((await integrationLoader(context).load(mapping.integration_id))?.kind ?? 'generic', mapping),
    }),
    groups: t.field({
      type: [Group],
      description: 'Groups that the contact is added to.',
      resolve: ({ groups }) => [...groups],
    }),
    template: t.expose('template', {
      type: TemplateType,
      nullable: true,
      description: MAPPING_WORDS.template,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

const fields = (t: InputFields) => ({
  isEnabled: t.boolean({ description: `${MAPPING_WORDS.isEnabled} Default: true.` }),
  topics: t.stringList({
    description: `${MAPPING_WORDS.topics} At most ${MAX_WORDS}. Default for a shop: created and updated orders.`,
  }),
  statuses: t.stringList({ description: `${MAPPING_WORDS.statuses} At most ${MAX_WORDS}.` }),
  paths: t.field({
    type: PathsInput,
    description: "Paths of values in the payload that differ from the defaults of the integration's kind.",
  }),
  groupIds: t.idList({
    description: 'Global ids or databaseIds of the groups that the contact is added to. They replace the present ones.',
  }),
  template: t.field({ type: TemplateInput, description: MAPPING_WORDS.template }),
});
export const NewMappingInput = builder.inputType('IntegrationMappingInput', {
  description: 'Settings of a new mapping.',
  fields: t => ({ name: t.string({ required: true, description: MAPPING_WORDS.name }), ...fields(t) }),
});
const CreateMappingInput = builder.inputType('CreateIntegrationMappingInput', {
  description: `Settings of a new mapping. An integration has at most ${MAX_MAPPINGS} mappings.`,
  fields: t => ({
    integrationId: t.id({ required: true, description: 'Global id or databaseId of the integration.' }),
    name: t.string({ required: true, description: MAPPING_WORDS.name }),
    ...fields(t),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});
const mappingId = (t: InputFields) => t.id({ required: true, description: 'Global id or databaseId of the mapping.' });
const UpdateMappingInput = builder.inputType('UpdateIntegrationMappingInput', {
  description:
    'Changes to a mapping. Omitted fields keep their values; `paths` and `template` are replaced as a whole.',
  fields: t => ({
    id: mappingId(t),
    name: t.string({ description: MAPPING_WORDS.name }),
    ...fields(t),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

/** Parses the input: decodes ids. @param prefix where it stands in the input */
export const mappingInputOf = (
  tenantId: number,
  input: Omit<MappingInput, 'template'> & { readonly template?: TemplateInput | null | undefined },
  prefix = '',
): MappingInput => ({
  ...input,
  template: input.template && {
    ...input.template,
    channelId: optionalInputId(
      tenantId,
      'Channel',
      input.template.channelId ?? undefined,
      `${prefix}template.channelId`,
    ),
  },
});

const MappingPayload = entityPayload('integrationMapping', IntegrationMapping, 'The mapping after the mutation.');

mutation('createIntegrationMapping', {
  description: 'Adds a mapping to an integration.',
  scope: 'integrations:write',
  input: CreateMappingInput,
  payload: MappingPayload,
  resolve: async ({ integrationId, ...input }, context) => ({
    integrationMapping: await createMapping(
      context,
      inputId(tenantOf(context), 'Integration', integrationId, 'integrationId'),
      mappingInputOf(tenantOf(context), input),
    ),
  }),
});
mutation('updateIntegrationMapping', {
  description: 'Changes a mapping. Orders that it has already processed are not processed again.',
  scope: 'integrations:write',
  input: UpdateMappingInput,
  payload: MappingPayload,
  resolve: async ({ id, ...input }, context) => ({
    integrationMapping: await changeMapping(
      context,
      requireId(tenantOf(context), 'IntegrationMapping', id),
      mappingInputOf(tenantOf(context), input),
    ),
  }),
});
deleteMutation('IntegrationMapping', {
  noun: 'mapping',
  description: 'Deletes a mapping with its record of processed orders.',
  scope: 'integrations:write',
  remove: removeMapping,
});
