import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { databaseUuid } from '../../../schema/database-id.ts';
import {
  connectionOf,
  DateTimeFilter,
  enumFilter,
  filterOf,
  IDFilter,
  listArgs,
  orderOf,
} from '../../../schema/lists.ts';
import { findByUuid, nodesByUuid } from '../../../schema/nodes.ts';
import { oneOf } from '../../../schema/one-of.ts';
import { entityPayload, mutation } from '../../../schema/payload.ts';
import { RecipientFilter } from '../../campaigns/recipients/schema.ts';
import { signUrl } from '../../messages/content/media/signed-url.ts';
import { CostEntryFilter } from '../../messages/pricing/cost-entries-schema.ts';
import { MessageFilter } from '../../messages/schema.ts';
import { Author } from '../../tenancy/audit/schema.ts';
import { ContactFilter } from '../inputs.ts';
import { contactLoader } from '../loaders.ts';
import { contactId } from '../mutation-schema.ts';
import { Contact } from '../schema.ts';
import { createExport, exportPerson } from './create.ts';
import { EXPORT_COLUMNS, type ExportRow } from './export.ts';
import { getExports } from './store.ts';

const JobState = builder.enumType('JobState', {
  description: 'How far a job is that runs in the background.',
  values: {
    QUEUED: { value: 'queued', description: 'The job waits for its turn, or for another attempt.' },
    RUNNING: { value: 'running', description: 'The job is in progress.' },
    COMPLETED: { value: 'completed', description: 'The result of the job can be used.' },
    FAILED: { value: 'failed', description: 'The job was given up; `error` says why.' },
    EXPIRED: { value: 'expired', description: 'The result of the job was deleted.' },
  } as const,
});

const FileType = builder.enumType('FileType', {
  description: 'Format of a file.',
  values: {
    CSV: {
      value: 'csv',
      description:
        'UTF-8 with a header, as in RFC 4180. A text that a spreadsheet would execute as a formula begins with an apostrophe.',
    },
    JSON: { value: 'json', description: 'An array with an object for each row; of one person: one object.' },
  } as const,
});

const signedUrl = ({ secrets, clock, config, principal }: Context, id: string): string =>
  signUrl(secrets, { tenantId: tenantOf({ principal }), id, kind: 'export' }, clock.now(), config.publicUrl).url;

export const Export = builder.objectRef<ExportRow>('Export');
builder.node(Export, {
  name: 'Export',
  description: 'A file with data of the account, written in the background.',
  id: { resolve: row => row.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('contacts:export', getExports),
  fields: t => ({
    databaseId: databaseUuid(t),
    state: t.expose('state', { type: JobState, description: 'How far it is.' }),
    fileType: t.field({ type: FileType, description: 'Format of the file.', resolve: row => row.file_type }),
    rowCount: t.exposeInt('row_count', {
      nullable: true,
      description: 'Rows in the file; null until it is complete.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it failed, why its file was deleted early, or why it is attempted again.',
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The person whose data it has, of `exportContact`; null once the person was erased.',
      authScopes: { scope: 'contacts:read' },
      resolve: ({ contact_id: id }, _args, context) => (id === null ? null : contactLoader(context).load(id)),
    }),
    url: t.string({
      nullable: true,
      description:
        'Signed URL of the file, which needs no token: valid for 15 to 30 minutes, then query it again. Null without a file.',
      resolve: ({ id, state }, _args, context) => (state === 'completed' ? signedUrl(context, id) : null),
    }),
    expiresAt: t.expose('expires_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When the file is deleted, a day after its completion; earlier if a person in it is erased.',
    }),
    author: t.expose('author', { type: Author, description: 'Who requested it.' }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was requested.' }),
    completedAt: t.expose('completed_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When the file was complete, or the export given up.',
    }),
  }),
});

const column = listColumns('exports', 'e');
const id = column('id', 'uuid');
const createdAt = column('created_at', 'timestamptz');

const LIST: ListDefinition = {
  from: 'exports e',
  tenantColumn: 'e.tenant_id',
  filters: {
    id: { ...id, node: 'Export' },
    state: column('state', 'text'),
    contactId: { ...column('contact_id', 'bigint'), node: 'Contact' },
    createdAt,
    expiresAt: column('expires_at', 'timestamptz'),
  },
  sorts: { id, createdAt },
  id,
  // Ids are in the order of creation.
  defaultOrder: [{ column: id, descending: true }],
};

const SELECT = EXPORT_COLUMNS.map(name => `e.${name}` as const);

const Filter = filterOf('Export', 'exports', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the export.' }),
  state: t.field({ type: enumFilter(JobState), description: 'How far it is.' }),
  contactId: t.field({ type: IDFilter, description: 'Id of the person, of exports of one person.' }),
  createdAt: t.field({ type: DateTimeFilter, description: 'When it was requested.' }),
  expiresAt: t.field({ type: DateTimeFilter, description: 'When its file is deleted.' }),
}));
const Order = orderOf('Export', 'exports', {
  ID: { value: 'id', description: 'Order of creation.' },
  CREATED_AT: { value: 'createdAt', description: 'When it was requested.' },
});

builder.queryFields(t => ({
  exports: t.field({
    type: connectionOf('Export', Export),
    description: 'Lists exports, latest first by default. They are listed for 90 days.',
    authScopes: { scope: 'contacts:export' },
    args: { ...listArgs(Filter, Order, { search: false }) },
    resolve: (_root, args, context) => readPage<ExportRow>(context.db.read, LIST, tenantOf(context), args, SELECT),
  }),
  export: t.field({
    type: Export,
    nullable: true,
    description: 'Returns one export; null if there is none.',
    authScopes: { scope: 'contacts:export' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the export.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'Export', id, getExports),
  }),
}));

const ExportPayload = entityPayload('export', Export, 'The export, which runs in the background.');

const RecipientsInput = builder.inputType('ExportedRecipientsInput', {
  description: 'Recipients of one campaign.',
  fields: t => ({
    campaignId: t.id({ required: true, description: 'Global id or databaseId of the campaign.' }),
    filter: t.field({ type: RecipientFilter, description: 'Only these recipients. Default: all.' }),
  }),
});

const ExportResourceInput = builder.inputType('ExportResourceInput', {
  description: 'The list to export, and its filter; an empty filter exports all rows.',
  isOneOf: true,
  fields: t => ({
    contacts: t.field({ type: ContactFilter, description: 'Contacts. Needs `contacts:read` too.' }),
    messages: t.field({ type: MessageFilter, description: 'Messages. Needs `messages:read` too.' }),
    costs: t.field({
      type: CostEntryFilter,
      description: 'Messages with a price, and their costs. Needs `costs:read` too.',
    }),
    campaignRecipients: t.field({
      type: RecipientsInput,
      description: 'Recipients of a campaign, and what became of them. Needs `campaigns:read` and `contacts:read` too.',
    }),
  }),
});

mutation('createExport', {
  description:
    'Writes the rows of a list to a file, in the order of their ids, in the background. At most 20 exports of an account wait at a time.',
  scope: 'contacts:export',
  input: builder.inputType('CreateExportInput', {
    description: 'The list and the format of its file.',
    fields: t => ({
      resource: t.field({ type: ExportResourceInput, required: true, description: 'What is exported.' }),
      fileType: t.field({ type: FileType, required: true, defaultValue: 'csv', description: 'Format of the file.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: ExportPayload,
  resolve: async ({ resource, fileType, idempotencyKey }, context) => {
    return { export: await createExport(context, oneOf(resource, 'resource'), fileType, idempotencyKey) };
  },
});

mutation('exportContact', {
  description:
    'Writes everything that is held about a person to one JSON file, in the background: fields, identities, consent, notes, conversations, messages with their files, events, deliveries.',
  scope: ['contacts:export', 'contacts:read'],
  input: builder.inputType('ExportContactInput', {
    description: 'Whose data is exported.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the contact.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: ExportPayload,
  resolve: async ({ id, idempotencyKey }, context) => ({
    export: await exportPerson(context, contactId(context, id), idempotencyKey),
  }),
});
