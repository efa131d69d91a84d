import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { EXPORT_COLUMNS, type ExportRow } from './export.ts';

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

/** One page of exports, latest first by default. */
export const exportPage = (context: Context, args: ListArgs): Promise<Page<ExportRow>> =>
  readPage<ExportRow>(context.db.read, LIST, tenantOf(context), args, SELECT);
