import { encodeGlobalId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../../database/list.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { DataCount } from '../../../schema/data-count.ts';
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
import { mutation, payloadOf } from '../../../schema/payload.ts';
import { Author } from '../../tenancy/audit/schema.ts';
import { contactId } from '../mutation-schema.ts';
import { removeContact } from '../remove.ts';
import { publicReceipt, type ReceiptRow, retainedUntil } from './receipt.ts';
import { getReceipts, RECEIPT_COLUMNS } from './store.ts';

const ErasureReason = builder.enumType('ErasureReason', {
  description: 'Why a person was erased.',
  values: {
    SUBJECT_REQUEST: { value: 'subject_request', description: 'The person asked for it.' },
    RETENTION: { value: 'retention', description: 'The retention period of the data has ended.' },
    OTHER: { value: 'other', description: 'Another reason.' },
  } as const,
});

export const ErasureReceipt = builder.objectRef<ReceiptRow>('ErasureReceipt');
builder.node(ErasureReceipt, {
  name: 'ErasureReceipt',
  description: 'What an erasure removed, and what is kept and why. Holds no personal data.',
  id: { resolve: receipt => receipt.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByUuid('contacts:read', getReceipts),
  fields: t => ({
    databaseId: databaseUuid(t),
    subjectDigest: t.string({
      description: 'Keyed digest of the identities of the person, in hex.',
      resolve: receipt => publicReceipt(receipt).subject_digest,
    }),
    reason: t.expose('reason', {
      type: ErasureReason,
      description: 'Why the person was erased.',
    }),
    author: t.expose('author', {
      type: Author,
      description: 'Who erased the person.',
    }),
    requestedAt: t.expose('requested_at', { type: 'DateTime', description: 'When the erasure began.' }),
    completedAt: t.expose('completed_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When everything was erased; null while the event log is being blanked.',
    }),
    erased: t.field({
      type: [DataCount],
      description: 'What was erased.',
      resolve: receipt => [...publicReceipt(receipt).erased],
    }),
    retained: t.field({
      type: [DataCount],
      description: 'What is kept, and why.',
      resolve: (receipt, _args, { config }) => retainedUntil(receipt, config.retention.eventsDays),
    }),
    signature: t.string({
      nullable: true,
      description: 'Signature of the complete receipt with the key of this deployment, in hex.',
      resolve: receipt => publicReceipt(receipt).signature,
    }),
  }),
});

const column = listColumns('erasure_receipts', 'r');
const id = column('id', 'uuid');
const requestedAt = column('requested_at', 'timestamptz');

const RECEIPTS: ListDefinition = {
  from: 'erasure_receipts r',
  tenantColumn: 'r.tenant_id',
  filters: {
    id: { ...id, node: 'ErasureReceipt' },
    reason: column('reason', 'text'),
    requestedAt,
    completedAt: column('completed_at', 'timestamptz'),
  },
  sorts: { id, requestedAt },
  id,
  // Ids are in the order of creation.
  defaultOrder: [{ column: id, descending: true }],
};

const SELECT = RECEIPT_COLUMNS.map(name => `r.${name}` as const);

const Filter = filterOf('ErasureReceipt', 'receipts of erasures', t => ({
  id: t.field({ type: IDFilter, description: 'Id of the receipt.' }),
  reason: t.field({ type: enumFilter(ErasureReason), description: 'Why the person was erased.' }),
  requestedAt: t.field({ type: DateTimeFilter, description: 'When the erasure began.' }),
  completedAt: t.field({ type: DateTimeFilter, description: 'When everything was erased.' }),
}));
const Order = orderOf('ErasureReceipt', 'receipts of erasures', {
  ID: { value: 'id', description: 'Order of creation.' },
  REQUESTED_AT: { value: 'requestedAt', description: 'When the erasure began.' },
});

builder.queryFields(t => ({
  erasureReceipts: t.field({
    type: connectionOf('ErasureReceipt', ErasureReceipt),
    description: 'Lists the receipts of erasures, latest first by default.',
    authScopes: { scope: 'contacts:read' },
    args: { ...listArgs(Filter, Order, { search: false }) },
    resolve: (_root, args, context) => readPage<ReceiptRow>(context.db.read, RECEIPTS, tenantOf(context), args, SELECT),
  }),
  erasureReceipt: t.field({
    type: ErasureReceipt,
    nullable: true,
    description: 'Returns the receipt of an erasure; null if there is none.',
    authScopes: { scope: 'contacts:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the receipt.' }) },
    resolve: (_root, { id }, context) => findByUuid(context, 'ErasureReceipt', id, getReceipts),
  }),
}));

interface Erased {
  readonly erasureReceipt: ReceiptRow;
  readonly deletedId: string;
}

mutation('eraseContact', {
  description:
    'Erases a person from all tables, and returns the receipt. Conversations, messages and one-time passwords are deleted, the event log is blanked, queued messages are not sent. It cannot be undone.',
  scope: 'contacts:delete',
  input: builder.inputType('EraseContactInput', {
    description: 'The person to erase.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the contact.' }),
      reason: t.field({
        type: ErasureReason,
        required: true,
        defaultValue: 'subject_request',
        description: 'Why the person is erased.',
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: payloadOf<Erased>('ErasureReceiptPayload', 'Result of an erasure.', t => ({
    erasureReceipt: t.field({
      type: ErasureReceipt,
      nullable: true,
      description: 'The receipt.',
      resolve: ({ erasureReceipt }) => erasureReceipt ?? null,
    }),
    deletedId: t.id({
      nullable: true,
      description: 'Global id of the contact that was erased.',
      resolve: ({ deletedId }) => deletedId ?? null,
    }),
  })),
  resolve: async ({ id, reason, idempotencyKey }, context) => {
    const request = { operation: 'eraseContact', reason, idempotencyKey };
    const erased = await removeContact(context, contactId(context, id), request);
    return {
      ...(erased.receipt && { erasureReceipt: erased.receipt }),
      deletedId: encodeGlobalId('Contact', tenantOf(context), erased.id),
    };
  },
});
