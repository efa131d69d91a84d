import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../database/list.ts';
import { builder, IDEMPOTENCY_KEY } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { listQueries } from '../../schema/list-queries.ts';
import { StringFilter } from '../../schema/lists.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { mutation, payloadOf } from '../../schema/payload.ts';
import { documentIdOf } from './document.ts';
import { publish } from './publish.ts';
import { DOCUMENT_COLUMNS, type DocumentRow, getDocuments } from './store.ts';

const TrustedDocument = builder.objectRef<DocumentRow>('TrustedDocument');

builder.node(TrustedDocument, {
  name: 'TrustedDocument',
  description: 'A published document. Requests name it with `documentId` instead of sending its text.',
  id: { resolve: document => document.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('documents:read', getDocuments),
  fields: t => ({
    databaseId: databaseId(t),
    documentId: t.string({
      description: '`sha256:` and the SHA-256 of the text in hexadecimal.',
      resolve: ({ hash }) => documentIdOf(hash),
    }),
    name: t.exposeString('name', { description: 'Name of its first operation; empty if that has none.' }),
    body: t.exposeString('body', { description: 'Text of the document.' }),
    lastUsedAt: t.expose('last_used_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Last use, to the day. A document that is neither used nor published for 180 days is deleted.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of its first publication.' }),
  }),
});

const column = listColumns('trusted_documents', 'd');
const id = column('id', 'bigint');
const name = column('name', 'text');
const createdAt = column('created_at', 'timestamptz');

const DOCUMENTS: ListDefinition = {
  from: 'trusted_documents d',
  tenantColumn: 'd.tenant_id',
  filters: { id: { ...id, node: 'TrustedDocument' }, name, createdAt },
  sorts: { id, name, createdAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
};

const SELECT = DOCUMENT_COLUMNS.map(one => `d.${one}` as const);

listQueries(TrustedDocument, {
  list: 'trustedDocuments',
  one: 'trustedDocument',
  noun: 'document',
  plural: 'trusted documents',
  description: 'Lists the published documents.',
  scope: 'documents:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of its first operation.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of its first operation.' },
  },
  idOrder: 'Order of publication.',
  dates: { createdAt: 'Time of its first publication.' },
  search: false,
  page: (context, args) => readPage<DocumentRow>(context.db.read, DOCUMENTS, tenantOf(context), args, SELECT),
  get: getDocuments,
});

const PublishDocumentsInput = builder.inputType('PublishDocumentsInput', {
  description: 'Documents to publish.',
  fields: t => ({
    documents: t.stringList({
      required: true,
      description: 'Texts of 1 to 500 documents. A mutation must select `userErrors` of its payload.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const PublishDocumentsPayload = payloadOf<{ readonly trustedDocuments: readonly DocumentRow[] }>(
  'PublishDocumentsPayload',
  'Result of publishing documents.',
  t => ({
    trustedDocuments: t.field({
      type: [TrustedDocument],
      description: 'The documents, in the order of their texts; empty if one was refused.',
      resolve: ({ trustedDocuments = [] }) => [...trustedDocuments],
    }),
  }),
);

mutation('publishDocuments', {
  description:
    'Publishes documents, all or none; an account may have 2,000. Existing documents are kept, so that each build can publish all documents of an app.',
  scope: 'documents:write',
  input: PublishDocumentsInput,
  payload: PublishDocumentsPayload,
  resolve: async ({ documents, idempotencyKey }, context, { schema }) => ({
    trustedDocuments: await publish(context, schema, documents, idempotencyKey),
  }),
});
