import { builder } from '../../builder.ts';
import { inputId, optionalInputId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { connectionOf, DateTimeFilter, listArgs, orderOf, StringFilter } from '../lists/schema.ts';
import { createTemplate } from './create.ts';
import { templateOf } from './find.ts';
import { templatePage } from './list.ts';
import { removeTemplate } from './remove.ts';
import { getTemplates } from './store.ts';
import type { SyncCounts } from './sync.ts';
import { syncNow } from './sync-now.ts';
import {
  codeExpirationOf,
  partsOf,
  type TemplateButton,
  type TemplateFooter,
  type TemplateHeader,
  type TemplateRow,
  type TemplateText,
} from './template.ts';

const PARAMETERS =
  'Names of the values that a send gives: `1`, `2`, … or, where parameterFormat is NAMED, words such as `first_name`.';

const Header = builder.objectRef<TemplateHeader>('TemplateHeader').implement({
  description: 'What stands above the text of a template.',
  fields: t => ({
    format: t.exposeString('format', { description: "TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION, or the network's word." }),
    text: t.exposeString('text', { nullable: true, description: 'Of a text header, with its variable.' }),
    parameters: t.stringList({ description: PARAMETERS, resolve: header => [...header.parameters] }),
  }),
});

const Body = builder.objectRef<TemplateText>('TemplateBody').implement({
  description: 'The text of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'With its variables, such as `{{1}}`.' }),
    parameters: t.stringList({ description: PARAMETERS, resolve: body => [...body.parameters] }),
  }),
});

const Footer = builder.objectRef<TemplateFooter>('TemplateFooter').implement({
  description: 'What stands below the text of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Null where the network writes it.' }),
    codeExpirationMinutes: t.exposeInt('codeExpirationMinutes', {
      nullable: true,
      description: 'For how many minutes it says that a one-time code is good.',
    }),
  }),
});

const Button = builder.objectRef<TemplateButton>('TemplateButton').implement({
  description: 'A button of a template.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Its place, counted from 0: a send names it by this.' }),
    type: t.exposeString('type', {
      description: "QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, OTP, FLOW, … : the network's word.",
    }),
    text: t.exposeString('text', { nullable: true, description: 'What stands on it.' }),
    url: t.exposeString('url', { nullable: true, description: 'Where it leads; its variable stands at the end.' }),
    phoneNumber: t.exposeString('phoneNumber', { nullable: true, description: 'Whom it calls.' }),
    needsParameter: t.exposeBoolean('needsParameter', { description: 'Whether a send has to give a value for it.' }),
  }),
});

export const Template = builder.objectRef<TemplateRow>('Template');

builder.node(Template, {
  name: 'Template',
  description:
    'A message template of a business account, in one language. Words of the network (category, status, quality) are shown as it writes them, and it may add new ones.',
  id: { resolve: template => template.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('templates:read')) return ids.map(() => undefined);
    const rows = await getTemplates(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({ type: 'BigInt', description: 'Our own number for it.', resolve: template => template.id }),
    networkId: t.exposeString('network_id', { description: "The network's id." }),
    wabaId: t.exposeString('waba_id', { description: "The network's id of the business account." }),
    name: t.exposeString('name', { description: 'Its name; the same name may exist in several languages.' }),
    language: t.exposeString('language', { description: 'Such as `en` or `en_US`.' }),
    category: t.exposeString('category', { description: 'MARKETING, UTILITY or AUTHENTICATION.' }),
    status: t.exposeString('status', {
      description: 'Only APPROVED can be sent. Others are PENDING, REJECTED, PAUSED, DISABLED and more.',
    }),
    statusReason: t.exposeString('status_reason', {
      nullable: true,
      description: "Why it was rejected or paused: the network's word.",
    }),
    parameterFormat: t.exposeString('parameter_format', {
      description: 'POSITIONAL: its variables are numbered. NAMED: they have names.',
    }),
    quality: t.exposeString('quality', {
      nullable: true,
      description: 'GREEN, YELLOW, RED or UNKNOWN; null where the network has not said.',
    }),
    components: t.field({
      type: ['JSON'],
      description: 'All of it, as the network writes it.',
      resolve: template => [...template.components],
    }),
    header: t.field({
      type: Header,
      nullable: true,
      description: 'What stands above its text.',
      resolve: template => partsOf(template).header,
    }),
    body: t.field({
      type: Body,
      nullable: true,
      description: 'Its text. That of one-time codes is written by the network, which may not show its words.',
      resolve: template => partsOf(template).body,
    }),
    footer: t.field({
      type: Footer,
      nullable: true,
      description: 'What stands below its text.',
      resolve: template => partsOf(template).footer,
    }),
    buttons: t.field({
      type: [Button],
      description: 'Its buttons in their order.',
      resolve: template => [...partsOf(template).buttons],
    }),
    codeExpirationMinutes: t.int({
      nullable: true,
      description: 'For how many minutes it says that a one-time code is good.',
      resolve: codeExpirationOf,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When we first saw it.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last seen to change.' }),
  }),
});

const Filter = builder.inputType('TemplateFilter', {
  description: 'Which templates a list shows.',
  fields: t => ({
    name: t.field({ type: StringFilter, description: 'By name.' }),
    language: t.field({ type: StringFilter, description: 'By language, such as `en_US`.' }),
    category: t.field({ type: StringFilter, description: 'By category, in capitals.' }),
    status: t.field({ type: StringFilter, description: 'By status, in capitals.' }),
    wabaId: t.field({ type: StringFilter, description: "By the network's id of the business account." }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when we first saw it.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'By when it was last seen to change.' }),
  }),
});
const Order = orderOf('Template', 'templates', {
  ID: { value: 'id', description: 'The order in which we first saw them.' },
  NAME: { value: 'name', description: 'The name.' },
  CREATED_AT: { value: 'createdAt', description: 'When we first saw it.' },
  UPDATED_AT: { value: 'updatedAt', description: 'When it was last seen to change.' },
});

export const TemplateConnection = connectionOf('Template', Template);

export const templateArgs = () => listArgs(Filter, Order);

builder.queryFields(t => ({
  templates: t.field({
    type: TemplateConnection,
    description:
      'The templates of the tenant, by name unless another order is asked for. `search` looks in names and texts.',
    authScopes: { scope: 'templates:read' },
    args: templateArgs(),
    resolve: (_root, args, context) => templatePage(context, args),
  }),
  template: t.field({
    type: Template,
    nullable: true,
    description: "One template, by global id, the network's id or databaseId.",
    authScopes: { scope: 'templates:read' },
    args: { id: t.arg.id({ required: true, description: "Its global id, the network's id or its databaseId." }) },
    resolve: (_root, { id }, context) => templateOf(context, id),
  }),
}));

const SyncResult = builder.objectRef<SyncCounts>('SyncTemplatesResult').implement({
  description: 'What reading the templates from the network came to.',
  fields: t => ({
    created: t.exposeInt('created', { description: 'How many are new.' }),
    updated: t.exposeInt('updated', { description: 'How many have changed.' }),
    removed: t.exposeInt('removed', { description: 'How many the network has no more.' }),
    unchanged: t.exposeInt('unchanged', { description: 'How many are as they were.' }),
    total: t.exposeInt('total', { description: 'How many the network has.' }),
  }),
});

export const Category = builder.enumType('TemplateCategory', {
  description: 'What a template is for. The network may decide on another one.',
  values: {
    MARKETING: { description: 'Offers and news.' },
    UTILITY: { description: 'About something that the person asked for or agreed to.' },
    AUTHENTICATION: { description: 'One-time codes.' },
  } as const,
});
const ParameterFormat = builder.enumType('TemplateParameterFormat', {
  description: 'How the variables of a template are told apart.',
  values: {
    POSITIONAL: { description: 'By number: `{{1}}`, `{{2}}`.' },
    NAMED: { description: 'By name: `{{first_name}}`; small letters and underscores.' },
  } as const,
});

const CreateTemplateInput = builder.inputType('CreateTemplateInput', {
  description: 'A template to be submitted to the network for review.',
  fields: t => ({
    name: t.string({ required: true, description: '1 to 512 small letters (a to z), digits and underscores.' }),
    language: t.string({ required: true, description: 'Such as `en` or `en_US`.' }),
    category: t.field({ type: Category, required: true, description: 'What it is for.' }),
    parameterFormat: t.field({
      type: ParameterFormat,
      required: true,
      defaultValue: 'POSITIONAL',
      description: 'How its variables are told apart.',
    }),
    components: t.field({
      type: ['JSON'],
      required: true,
      description:
        'HEADER (text of at most 60 characters with one variable, or a format), BODY (required, at most 1024 characters), FOOTER (at most 60 characters), BUTTONS (at most 10), as the network writes them: what `Template.components` shows of another template fits here.',
    }),
    channelId: t.id({ description: 'A channel of the business account; the default one when nothing is said.' }),
  }),
});

builder.mutationFields(t => ({
  syncTemplates: t.field({
    type: SyncResult,
    description:
      'Reads the templates from the network now, every page of them. It is done by itself every hour, when a channel is connected, and when the network tells of a template that is not known.',
    authScopes: { scope: 'templates:sync' },
    args: {
      channelId: t.arg.id({ description: "Only of this channel's business account; of all when nothing is said." }),
    },
    resolve: (_root, { channelId }, context) =>
      syncNow(context, channelId == null ? undefined : inputId('Channel', channelId, 'channelId')),
  }),
  createTemplate: t.field({
    type: Template,
    description:
      'Submits a template to the network. It is PENDING until the network has reviewed it; `template.status_changed` tells how that went.',
    authScopes: { scope: 'templates:write' },
    args: { input: t.arg({ type: CreateTemplateInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) =>
      createTemplate(context, {
        ...input,
        channelId: optionalInputId('Channel', input.channelId ?? undefined, 'channelId'),
      }),
  }),
  deleteTemplate: t.field({
    type: Template,
    description:
      'Takes a template away from the network, in this language alone. Its name cannot be used again for 30 days. Answers what it was.',
    authScopes: { scope: 'templates:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => removeTemplate(context, id),
  }),
}));
