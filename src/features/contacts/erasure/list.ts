import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import type { ReceiptRow } from './receipt.ts';
import { RECEIPT_COLUMNS } from './store.ts';

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

/** One page of the receipts of erasures. */
export const receiptPage = (context: Context, args: ListArgs): Promise<Page<ReceiptRow>> =>
  readPage<ReceiptRow>(
    context.db.read,
    RECEIPTS,
    tenantOf(context),
    args,
    RECEIPT_COLUMNS.map(name => `r.${name}` as const),
  );
