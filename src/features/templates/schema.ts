import { builder } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../../schema/lists.ts';
import { rowLoader } from '../../schema/loaders.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { oneOf } from '../../schema/one-of.ts';
import { Quality } from '../../schema/quality.ts';
import { templateById, templateByNetworkId } from './find.ts';
import { templatePage } from './list.ts';
import { Body, Button, Footer, Header } from './parts-schema.ts';
import { getTemplates } from './store.ts';
import { CATEGORIES, codeExpirationOf, partsOf, QUALITIES, STATUSES, type TemplateRow, wordOf } from './template.ts';

export const Category = builder.enumType('TemplateCategory', {
  description: 'Purpose of a template. The network may assign another one than was submitted.',
  values: {
    MARKETING: { description: 'Offers and announcements.' },
    UTILITY: { description: 'Information about something that the recipient requested or agreed to.' },
    AUTHENTICATION: { description: 'One-time passwords.' },
    OTHER: { description: 'Another category of the network; see `networkCategory`. It cannot be submitted.' },
  } as const,
});
const Status = builder.enumType('TemplateStatus', {
  description: 'State of a template on the network. Only APPROVED templates can be sent.',
  values: {
    APPROVED: { description: 'Can be sent.' },
    PENDING: { description: 'Under review.' },
    REJECTED: { description: 'Refused by the review; `statusReason` says why.' },
    PAUSED: { description: 'Not sent for some hours, because people block it or report it.' },
    DISABLED: { description: 'Not sent any more, after several pauses.' },
    IN_APPEAL: { description: 'Rejected, and reviewed again.' },
    REINSTATED: { description: 'Sent again after it was disabled.' },
    FLAGGED: { description: 'Rated low; it will be disabled unless its rating rises.' },
    PENDING_DELETION: { description: 'Deleted as soon as its messages are delivered.' },
    DELETED: { description: 'Deleted; only in events.' },
    LIMIT_EXCEEDED: { description: 'The account has too many templates.' },
    LOCKED: { description: 'Cannot be edited.' },
    ARCHIVED: { description: 'Archived by the network because it was not used for a year.' },
    UNARCHIVED: { description: 'Restored from the archive.' },
    OTHER: { description: 'Another status of the network; see `networkStatus`.' },
  } as const,
});
export const ParameterFormat = builder.enumType('TemplateParameterFormat', {
  description: 'How variables of a template are identified.',
  values: {
    POSITIONAL: { description: 'By number: `{{1}}`, `{{2}}`.' },
    NAMED: { description: 'By name in lower case: `{{first_name}}`.' },
  } as const,
});

export const templateLoader = rowLoader(getTemplates);

export const Template = builder.objectRef<TemplateRow>('Template');

builder.node(Template, {
  name: 'Template',
  description: 'A message template of a business account in one language.',
  id: { resolve: template => template.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('templates:read', getTemplates),
  fields: t => ({
    databaseId: databaseId(t),
    networkId: t.exposeString('network_id', { description: 'Id of the template on the network.' }),
    wabaId: t.exposeString('waba_id', { description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
    name: t.exposeString('name', { description: 'Name of the template; it may exist in several languages.' }),
    language: t.exposeString('language', { description: 'Language code, for example `en` or `en_US`.' }),
    category: t.field({
      type: Category,
      description: 'Purpose of the template.',
      resolve: ({ category }) => wordOf(CATEGORIES, 'OTHER', category),
    }),
    networkCategory: t.exposeString('category', { description: "The category in the network's word." }),
    status: t.field({
      type: Status,
      description: 'State of the template. Only APPROVED templates can be sent.',
      resolve: ({ status }) => wordOf(STATUSES, 'OTHER', status),
    }),
    networkStatus: t.exposeString('status', { description: "The status in the network's word." }),
    statusReason: t.exposeString('status_reason', {
      nullable: true,
      description: "Why the template was rejected or paused, in the network's terms; null if there is no reason.",
    }),
    parameterFormat: t.field({
      type: ParameterFormat,
      description: 'Whether variables are numbered or named.',
      resolve: ({ parameter_format: format }) => (format.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL'),
    }),
    quality: t.field({
      type: Quality,
      description: 'Rating of the template by the network.',
      resolve: ({ quality }) => wordOf(QUALITIES, 'UNKNOWN', quality),
    }),
    raw: t.field({
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

const Filter = filterOf('Template', 'templates', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the template.' }),
  name: t.field({ type: StringFilter, description: 'Name of the template.' }),
  language: t.field({ type: StringFilter, description: 'Language code, for example `en_US`.' }),
  category: t.field({ type: enumFilter(Category), description: 'Purpose of the template.' }),
  networkCategory: t.field({ type: StringFilter, description: "Category in the network's word, in upper case." }),
  status: t.field({ type: enumFilter(Status), description: 'State of the template.' }),
  networkStatus: t.field({ type: StringFilter, description: "Status in the network's word, in upper case." }),
  quality: t.field({ type: enumFilter(Quality), description: 'Rating of the template by the network.' }),
  wabaId: t.field({ type: StringFilter, description: 'Id of the WhatsApp Business Account (WABA) on the network.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'Time of the first sync.' }),
  updatedAt: t.field({ type: DateTimeFilter, description: 'Time of the last change that a sync found.' }),
}));
const Order = orderOf('Template', 'templates', {
  ID: { value: 'id', description: 'Order of first appearance.' },
  NAME: { value: 'name', description: 'Name of the template.' },
  CREATED_AT: { value: 'createdAt', description: 'Time of the first sync.' },
  UPDATED_AT: { value: 'updatedAt', description: 'Time of the last change that a sync found.' },
});

export const TemplateConnection = connectionOf('Template', Template);

export const templateArgs = () => listArgs(Filter, Order);

const IdentifierInput = builder.inputType('TemplateIdentifierInput', {
  description: 'One key of a template.',
  isOneOf: true,
  fields: t => ({
    id: t.id({ description: 'Global id or databaseId.' }),
    networkId: t.string({ description: 'Id of the template on the network.' }),
  }),
});

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
    description: 'Returns one template; null if there is none.',
    authScopes: { scope: 'templates:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the template.' }) },
    resolve: (_root, { id }, context) => templateById(context, id),
  }),
  templateByIdentifier: t.field({
    type: Template,
    nullable: true,
    description: 'Returns the template with a key; null if there is none.',
    authScopes: { scope: 'templates:read' },
    args: { identifier: t.arg({ type: IdentifierInput, required: true, description: 'A key of the template.' }) },
    resolve: (_root, { identifier }, context) => {
      const { field, value } = oneOf(identifier, 'identifier');
      return field === 'id' ? templateById(context, value) : templateByNetworkId(context, value);
    },
  }),
}));
