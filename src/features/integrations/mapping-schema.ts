import { builder } from '../../builder.ts';
import { inputId, numericId, optionalInputId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { Channel } from '../channels/schema.ts';
import { Group } from '../labels/schema.ts';
import { TemplateLocationInput } from '../templates/send-schema.ts';
import { changeMapping, createMapping, removeMapping } from './change-mapping.ts';
import type { MappedHeader, MappedTemplate, MappingRow, Paths, Place, Value } from './mapping.ts';
import { pathsOf } from './mapping.ts';
import {
  MAX_ALTERNATIVES,
  MAX_FIXED,
  MAX_MAPPINGS,
  MAX_PARAMETERS,
  MAX_WORDS,
  type MappingInput,
} from './mapping-input.ts';
import { getMappings } from './store.ts';

/** What a mapping is, as it is read and as it is written: both have the same fields. */

const TEXT = 'A fixed text; merge fields such as `@{contact_first_name}` are filled from the contact.';
const WORDS = {
  path: 'Where the value stands in the payload, such as `billing.first_name` or `line_items[0].name`.',
  fallback: 'What to say where nothing stands there; without it nothing is sent then.',
  text: TEXT,
};
const HEADER_WORDS = {
  text: 'For the variable of a text header.',
  image: 'The address of a picture.',
  video: 'The address of a video.',
  document: 'The address of a document.',
  filename: 'What the document is called.',
};
const PATH_WORDS: Readonly<Record<keyof Paths, string>> = {
  phone: 'The phone number. A national one is read as one of the country of the order.',
  firstName: 'The first name.',
  lastName: 'The last name.',
  email: 'The e-mail address.',
  country: 'The country: ISO 3166-1 alpha-2 or alpha-3, or its English name.',
  orderId: "The shop's id of the order, by which it is known again.",
  orderNumber: 'The number that people know the order by.',
  status: 'The status of the order.',
  total: 'What the order comes to.',
  currency: 'The currency of the order.',
};

const ValueType = builder.objectRef<Value>('IntegrationValue').implement({
  description: 'What fills a variable: what stands at a path of the payload, or a fixed text.',
  fields: t => ({
    path: t.string({ nullable: true, description: WORDS.path, resolve: ({ path }) => path ?? null }),
    fallback: t.string({ nullable: true, description: WORDS.fallback, resolve: ({ fallback }) => fallback ?? null }),
    text: t.string({ nullable: true, description: WORDS.text, resolve: ({ text }) => text ?? null }),
  }),
});
const ValueInput = builder.inputRef<Value>('IntegrationValueInput').implement({
  description: 'What fills a variable: exactly one of path and text.',
  fields: t => ({
    path: t.string({ description: WORDS.path }),
    fallback: t.string({ description: `${WORDS.fallback} At most ${MAX_FIXED} characters.` }),
    text: t.string({ description: `${WORDS.text} At most ${MAX_FIXED} characters.` }),
  }),
});

const PlaceType = builder.objectRef<Place>('IntegrationPlace').implement({
  description: 'A place.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Degrees, from -90 to 90.' }),
    longitude: t.exposeFloat('longitude', { description: 'Degrees, from -180 to 180.' }),
    name: t.string({ nullable: true, description: 'What it is called.', resolve: ({ name }) => name ?? null }),
    address: t.string({ nullable: true, description: 'Its address.', resolve: ({ address }) => address ?? null }),
  }),
});

const header = (name: keyof typeof HEADER_WORDS) => ({
  nullable: true as const,
  description: HEADER_WORDS[name],
  type: ValueType,
  resolve: (of: MappedHeader) => of[name] ?? null,
});
const HeaderType = builder.objectRef<MappedHeader>('IntegrationHeader').implement({
  description: 'What fills the header of a template.',
  fields: t => ({
    text: t.field(header('text')),
    image: t.field(header('image')),
    video: t.field(header('video')),
    document: t.field(header('document')),
    filename: t.field(header('filename')),
    location: t.field({
      type: PlaceType,
      nullable: true,
      description: 'A fixed place.',
      resolve: ({ location }) => location ?? null,
    }),
  }),
});
const HeaderInput = builder.inputRef<MappedHeader>('IntegrationHeaderInput').implement({
  description: 'What fills the header of a template: what its format asks for, and nothing else.',
  fields: t => ({
    text: t.field({ type: ValueInput, description: HEADER_WORDS.text }),
    image: t.field({ type: ValueInput, description: HEADER_WORDS.image }),
    video: t.field({ type: ValueInput, description: HEADER_WORDS.video }),
    document: t.field({ type: ValueInput, description: HEADER_WORDS.document }),
    filename: t.field({ type: ValueInput, description: HEADER_WORDS.filename }),
    location: t.field({ type: TemplateLocationInput, description: 'A fixed place.' }),
  }),
});

type Named = NonNullable<MappedTemplate['bodyByName']>[number];
const NamedType = builder.objectRef<Named>('IntegrationNamedValue').implement({
  description: 'What fills a named variable.',
  fields: t => ({
    name: t.exposeString('name', { description: 'The name of the variable, without its braces.' }),
    value: t.field({ type: ValueType, description: 'What fills it.', resolve: ({ value }) => value }),
  }),
});
const NamedInput = builder.inputRef<Named>('IntegrationNamedValueInput').implement({
  description: 'What fills a named variable.',
  fields: t => ({
    name: t.string({ required: true, description: 'The name of the variable, without its braces.' }),
    value: t.field({ type: ValueInput, required: true, description: 'What fills it.' }),
  }),
});

type Button = NonNullable<MappedTemplate['buttons']>[number];
const INDEX = 'Its place, counted from 0 (`TemplateButton.index`).';
const ButtonType = builder.objectRef<Button>('IntegrationButton').implement({
  description: 'What a button carries.',
  fields: t => ({
    index: t.exposeInt('index', { description: INDEX }),
    value: t.field({ type: ValueType, description: 'What it carries.', resolve: ({ value }) => value }),
  }),
});
const ButtonInput = builder.inputRef<Button>('IntegrationButtonInput').implement({
  description: 'What a button carries: of a link the end of its address, of a button that copies a code the code.',
  fields: t => ({
    index: t.int({ required: true, description: INDEX }),
    value: t.field({ type: ValueInput, required: true, description: 'What it carries.' }),
  }),
});

const TEMPLATE_WORDS = {
  name: 'The name of an approved template.',
  language: 'Such as `en` or `en_US`: one in which the template exists.',
  header: 'Where the header of the template has a variable, a file or a place.',
  body: 'What fills the variables of the text, in their order: the first one fills `{{1}}`.',
  bodyByName: 'The same by name, where `Template.parameterFormat` is NAMED.',
  buttons: 'For buttons that need a value.',
};
const TemplateType = builder.objectRef<MappedTemplate>('IntegrationTemplate').implement({
  description: 'The template that a mapping sends, and what fills it.',
  fields: t => ({
    name: t.exposeString('name', { description: TEMPLATE_WORDS.name }),
    language: t.exposeString('language', { description: TEMPLATE_WORDS.language }),
    channel: t.field({
      type: Channel,
      nullable: true,
      description: 'The channel to send from; null: the default one.',
      authScopes: { scope: 'channels:read' },
      resolve: ({ channelId }, _args, { loaders }) => (channelId == null ? null : loaders.channel.load(channelId)),
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
  description: 'The template that a mapping sends, and what fills it.',
  fields: t => ({
    name: t.string({ required: true, description: TEMPLATE_WORDS.name }),
    language: t.string({ required: true, description: TEMPLATE_WORDS.language }),
    channelId: t.id({ description: 'The channel to send from; the default one when nothing is said.' }),
    header: t.field({ type: HeaderInput, description: TEMPLATE_WORDS.header }),
    body: t.field({ type: [ValueInput], description: `${TEMPLATE_WORDS.body} At most ${MAX_PARAMETERS}.` }),
    bodyByName: t.field({ type: [NamedInput], description: TEMPLATE_WORDS.bodyByName }),
    buttons: t.field({ type: [ButtonInput], description: TEMPLATE_WORDS.buttons }),
  }),
});

const FIRST = 'The first path at which there is something counts.';
const PathsType = builder.objectRef<Paths>('IntegrationPaths').implement({
  description: `Where a payload has what. ${FIRST}`,
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
  description: `Where a payload has what: one path, or up to ${MAX_ALTERNATIVES}, of which the first counts at which there is something. What is not given is as the kind of shop has it; an empty list is nowhere.`,
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
  name: 'What people call it (1 to 100 characters).',
  isEnabled: 'Whether it does anything.',
  topics: "What has to have happened, in the shop's words: `order.created`, `orders/create`; empty: anything.",
  statuses: 'In which status the order has to be, whatever the case, such as `processing`; empty: in any.',
  template: 'What is sent; null: nothing, the contact alone is kept.',
};

export const IntegrationMapping = builder.objectRef<MappingRow>('IntegrationMapping');

builder.node(IntegrationMapping, {
  name: 'IntegrationMapping',
  description:
    'What is done when a shop tells of an order: the contact is found or made, put into groups, and sent a template. Once for each order and status, however often the shop tells of it.',
  id: { resolve: mapping => mapping.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('integrations:read')) return ids.map(() => undefined);
    const rows = await getMappings(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({ type: 'BigInt', description: 'Our own number for it.', resolve: mapping => mapping.id }),
    name: t.exposeString('name', { description: MAPPING_WORDS.name }),
    isEnabled: t.exposeBoolean('is_enabled', { description: MAPPING_WORDS.isEnabled }),
    topics: t.stringList({ description: MAPPING_WORDS.topics, resolve: ({ topics }) => [...topics] }),
    statuses: t.stringList({ description: MAPPING_WORDS.statuses, resolve: ({ statuses }) => [...statuses] }),
    paths: t.field({
      type: PathsType,
      description: 'Where the payload has what, the defaults of the kind among them.',
      resolve: async (mapping, _args, { loaders }) =>
        pathsOf((await loaders.integration.load(mapping.integration_id))?.kind ?? 'generic', mapping),
    }),
    groups: t.field({
      type: [Group],
      description: 'The groups that the contact is put into.',
      resolve: ({ groups }) => [...groups],
    }),
    template: t.field({
      type: TemplateType,
      nullable: true,
      description: MAPPING_WORDS.template,
      resolve: ({ template }) => template,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

const fields = (t: InputFields) => ({
  isEnabled: t.boolean({ description: `${MAPPING_WORDS.isEnabled} A new one does when nothing is said.` }),
  topics: t.stringList({
    description: `${MAPPING_WORDS.topics} At most ${MAX_WORDS}. A new one of a shop wants orders that are made or changed when nothing is said.`,
  }),
  statuses: t.stringList({ description: `${MAPPING_WORDS.statuses} At most ${MAX_WORDS}.` }),
  paths: t.field({ type: PathsInput, description: 'Where the payload has what, where it differs from the defaults.' }),
  groupIds: t.idList({ description: 'Exactly the groups that the contact is put into.' }),
  template: t.field({ type: TemplateInput, description: MAPPING_WORDS.template }),
});
const KEY = 'Makes a repeated request the same one for 24 hours (at most 255 characters).';

export const NewMappingInput = builder.inputType('IntegrationMappingInput', {
  description: 'A new mapping.',
  fields: t => ({ name: t.string({ required: true, description: MAPPING_WORDS.name }), ...fields(t) }),
});
const CreateMappingInput = builder.inputType('CreateIntegrationMappingInput', {
  description: `A new mapping of an integration, which has at most ${MAX_MAPPINGS}.`,
  fields: t => ({
    integrationId: t.id({ required: true, description: 'The integration.' }),
    name: t.string({ required: true, description: MAPPING_WORDS.name }),
    ...fields(t),
    idempotencyKey: t.string({ description: KEY }),
  }),
});
const UpdateMappingInput = builder.inputType('UpdateIntegrationMappingInput', {
  description: 'What to change of a mapping; what is not given stays, paths and template are replaced as a whole.',
  fields: t => ({
    name: t.string({ description: MAPPING_WORDS.name }),
    ...fields(t),
    idempotencyKey: t.string({ description: KEY }),
  }),
});

/** What a caller wrote, ids read. @param prefix where it stands in the input */
export const mappingInputOf = (
  input: Omit<MappingInput, 'template'> & { readonly template?: TemplateInput | null | undefined },
  prefix = '',
): MappingInput => ({
  ...input,
  template: input.template && {
    ...input.template,
    channelId: optionalInputId('Channel', input.template.channelId ?? undefined, `${prefix}template.channelId`),
  },
});

builder.mutationFields(t => ({
  createIntegrationMapping: t.field({
    type: IntegrationMapping,
    description: 'Adds a mapping to an integration.',
    authScopes: { scope: 'integrations:write' },
    args: { input: t.arg({ type: CreateMappingInput, required: true, description: 'The mapping.' }) },
    resolve: (_root, { input: { integrationId, ...input } }, context) =>
      createMapping(context, inputId('Integration', integrationId, 'integrationId'), mappingInputOf(input)),
  }),
  updateIntegrationMapping: t.field({
    type: IntegrationMapping,
    description: 'Changes a mapping. What it has done for an order is not done again.',
    authScopes: { scope: 'integrations:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({ type: UpdateMappingInput, required: true, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, context) =>
      changeMapping(context, numericId('IntegrationMapping', id), mappingInputOf(input)),
  }),
  deleteIntegrationMapping: t.field({
    type: IntegrationMapping,
    description: 'Takes a mapping away, and answers what it was.',
    authScopes: { scope: 'integrations:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => removeMapping(context, numericId('IntegrationMapping', id)),
  }),
}));
