import { inputId, optionalInputId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { connectionOf, DateTimeFilter, listArgs, orderOf, StringFilter } from '../../schema/lists.ts';
import { createTemplate } from './create.ts';
import { templateOf } from './find.ts';
import { templatePage } from './list.ts';
import { removeTemplate } from './remove.ts';
import { getTemplates } from './store.ts';
import type { SyncCounts } from './sync/sync.ts';
import { syncNow } from './sync/sync-now.ts';
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
  'Names of the values that a send must give: `1`, `2`, … or, if `parameterFormat` is NAMED, names such as `first_name`.';

const Header = builder.objectRef<TemplateHeader>('TemplateHeader').implement({
  description: 'Header of a template.',
  fields: t => ({
    format: t.exposeString('format', {
      description: 'TEXT, IMAGE, VIDEO, DOCUMENT or LOCATION; the network may add formats.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of a header of format TEXT, with its variable; null for other formats.',
    }),
    parameters: t.stringList({ description: PARAMETERS, resolve: header => [...header.parameters] }),
  }),
});

const Body = builder.objectRef<TemplateText>('TemplateBody').implement({
  description: 'Body text of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Text with its variables, for example `{{1}}`.' }),
    parameters: t.stringList({ description: PARAMETERS, resolve: body => [...body.parameters] }),
  }),
});

const Footer = builder.objectRef<TemplateFooter>('TemplateFooter').implement({
  description: 'Footer of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Text of the footer; null if the network writes it.' }),
    codeExpirationMinutes: t.exposeInt('codeExpirationMinutes', {
      nullable: true,
      description: 'Lifetime in minutes that the footer states for a one-time code; null if it states none.',
    }),
  }),
});

const Button = builder.objectRef<TemplateButton>('TemplateButton').implement({
  description: 'A button of a template.',
  fields: t => ({
    index: t.exposeInt('index', {
      description: 'Position of the button, starting at 0. A send refers to it by this number.',
    }),
    type: t.exposeString('type', {
      description: 'QUICK_REPLY, URL, PHONE_NUMBER, COPY_CODE, OTP or FLOW; the network may add types.',
    }),
    text: t.exposeString('text', { nullable: true, description: 'Label of the button.' }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'URL that the button opens, with a variable only at its end; null for other types.',
    }),
    phoneNumber: t.exposeString('phoneNumber', {
      nullable: true,
      description: 'Phone number that the button calls; null for other types.',
    }),
    needsParameter: t.exposeBoolean('needsParameter', {
      description: 'Whether a send must give a value for this button.',
    }),
  }),
});

export const Template = builder.objectRef<TemplateRow>('Template');

builder.node(Template, {
  name: 'Template',
  description:
    'A message template of a business account in one language. Category, status and quality are values of the network, which may add new ones.',
  id: { resolve: template => template.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('templates:read')) return ids.map(() => undefined);
    const rows = await getTemplates(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({
      type: 'BigInt',
      description: 'Numeric id of the template in this gateway.',
      resolve: template => template.id,
    }),
    networkId: t.exposeString('network_id', { description: 'Id of the template on the network.' }),
    wabaId: t.exposeString('waba_id', { description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
    name: t.exposeString('name', { description: 'Name of the template; it may exist in several languages.' }),
    language: t.exposeString('language', { description: 'Language code, for example `en` or `en_US`.' }),
    category: t.exposeString('category', { description: 'MARKETING, UTILITY or AUTHENTICATION.' }),
    status: t.exposeString('status', {
      description:
        'APPROVED, PENDING, REJECTED, PAUSED, DISABLED or another value of the network. Only APPROVED templates can be sent.',
    }),
    statusReason: t.exposeString('status_reason', {
      nullable: true,
      description: "Why the template was rejected or paused, in the network's terms; null if there is no reason.",
    }),
    parameterFormat: t.exposeString('parameter_format', {
      description: 'POSITIONAL: variables are numbered. NAMED: variables have names.',
    }),
    quality: t.exposeString('quality', {
      nullable: true,
      description: 'Quality rating GREEN, YELLOW, RED or UNKNOWN; null if the network gave none.',
    }),
    components: t.field({
      type: ['JSON'],
      description: "All components in the network's format.",
      resolve: template => [...template.components],
    }),
    header: t.field({
      type: Header,
      nullable: true,
      description: 'Header of the template; null if it has none.',
      resolve: template => partsOf(template).header,
    }),
    body: t.field({
      type: Body,
      nullable: true,
      description: 'Body of the template. The network writes the text of one-time codes and may not disclose it.',
      resolve: template => partsOf(template).body,
    }),
    footer: t.field({
      type: Footer,
      nullable: true,
      description: 'Footer of the template; null if it has none.',
      resolve: template => partsOf(template).footer,
    }),
    buttons: t.field({
      type: [Button],
      description: 'Buttons of the template, in order.',
      resolve: template => [...partsOf(template).buttons],
    }),
    codeExpirationMinutes: t.int({
      nullable: true,
      description: 'Lifetime in minutes that the template states for a one-time code; null if it states none.',
      resolve: codeExpirationOf,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of the first sync.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change that a sync found.' }),
  }),
});

const Filter = builder.inputType('TemplateFilter', {
  description: 'Conditions for templates; all of them must hold.',
  fields: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the template.' }),
    language: t.field({ type: StringFilter, description: 'Language code, for example `en_US`.' }),
    category: t.field({ type: StringFilter, description: 'Category in upper case, for example `MARKETING`.' }),
    status: t.field({ type: StringFilter, description: 'Status in upper case, for example `APPROVED`.' }),
    wabaId: t.field({ type: StringFilter, description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'Time of the first sync.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change that a sync found.' }),
  }),
});
const Order = orderOf('Template', 'templates', {
  ID: { value: 'id', description: 'Order of first appearance.' },
  NAME: { value: 'name', description: 'Name of the template.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of the first sync.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change that a sync found.' },
});

export const TemplateConnection = connectionOf('Template', Template);

export const templateArgs = () => listArgs(Filter, Order);

builder.queryFields(t => ({
  templates: t.field({
    type: TemplateConnection,
    description: "Lists the tenant's templates, sorted by name by default. `search` matches names and texts.",
    authScopes: { scope: 'templates:read' },
    args: templateArgs(),
    resolve: (_root, args, context) => templatePage(context, args),
  }),
  template: t.field({
    type: Template,
    nullable: true,
    description: 'Returns one template. Errors: NOT_FOUND.',
    authScopes: { scope: 'templates:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id, databaseId or network id of the template.' }) },
    resolve: (_root, { id }, context) => templateOf(context, id),
  }),
}));

const SyncResult = builder.objectRef<SyncCounts>('SyncTemplatesResult').implement({
  description: 'Result of a template sync.',
  fields: t => ({
    created: t.exposeInt('created', { description: 'Number of new templates.' }),
    updated: t.exposeInt('updated', { description: 'Number of changed templates.' }),
    removed: t.exposeInt('removed', { description: 'Number of templates that no longer exist on the network.' }),
    unchanged: t.exposeInt('unchanged', { description: 'Number of unchanged templates.' }),
    total: t.exposeInt('total', { description: 'Number of templates on the network.' }),
  }),
});

export const Category = builder.enumType('TemplateCategory', {
  description: 'Purpose of a template. The network may assign another one.',
  values: {
    MARKETING: { description: 'Offers and announcements.' },
    UTILITY: { description: 'Information about something that the recipient requested or agreed to.' },
    AUTHENTICATION: { description: 'One-time passwords.' },
  } as const,
});
const ParameterFormat = builder.enumType('TemplateParameterFormat', {
  description: 'How variables of a template are identified.',
  values: {
    POSITIONAL: { description: 'By number: `{{1}}`, `{{2}}`.' },
    NAMED: { description: 'By name in lower case: `{{first_name}}`.' },
  } as const,
});

const CreateTemplateInput = builder.inputType('CreateTemplateInput', {
  description: 'A template to submit to the network for review.',
  fields: t => ({
    name: t.string({ required: true, description: 'Name: 1 to 512 characters (a to z, 0 to 9, underscore).' }),
    language: t.string({ required: true, description: 'Language code, for example `en` or `en_US`.' }),
    category: t.field({
      type: Category,
      required: true,
      description: 'Purpose of the template, reviewed by the network.',
    }),
    parameterFormat: t.field({
      type: ParameterFormat,
      required: true,
      defaultValue: 'POSITIONAL',
      description: 'Whether variables are numbered or named.',
    }),
    components: t.field({
      type: ['JSON'],
      required: true,
      description:
        "Components in the network's format, as in `Template.components`: HEADER (text of at most 60 characters with one variable, or a format), BODY (required, at most 1024 characters), FOOTER (at most 60 characters), BUTTONS (at most 10).",
    }),
    channelId: t.id({ description: "Channel of the business account. Default: the tenant's default channel." }),
  }),
});

builder.mutationFields(t => ({
  syncTemplates: t.field({
    type: SyncResult,
    description:
      'Reads all templates from the network now. This also happens every hour, when a channel is connected, and when the network reports an unknown template.',
    authScopes: { scope: 'templates:sync' },
    args: {
      channelId: t.arg.id({
        description: 'Reads only the business account of this channel. Default: all accounts of the tenant.',
      }),
    },
    resolve: (_root, { channelId }, context) =>
      syncNow(context, channelId == null ? undefined : inputId('Channel', channelId, 'channelId')),
  }),
  createTemplate: t.field({
    type: Template,
    description:
      'Submits a template to the network for review. It is PENDING until an event `template.status_changed` reports the result. Errors: VALIDATION_ERROR, MESSAGING_NOT_CONFIGURED, FEATURE_NOT_AVAILABLE.',
    authScopes: { scope: 'templates:write' },
    args: { input: t.arg({ type: CreateTemplateInput, required: true, description: 'The template to submit.' }) },
    resolve: (_root, { input }, context) =>
      createTemplate(context, {
        ...input,
        channelId: optionalInputId('Channel', input.channelId ?? undefined, 'channelId'),
      }),
  }),
  deleteTemplate: t.field({
    type: Template,
    description:
      'Deletes a template in one language from the network and returns its last state. The name cannot be reused for 30 days. Errors: NOT_FOUND.',
    authScopes: { scope: 'templates:write' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the template.' }) },
    resolve: (_root, { id }, context) => removeTemplate(context, id),
  }),
}));
