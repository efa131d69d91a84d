import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { LIST_COLUMNS, type RecipientListRow } from './list-row.ts';

const column = listColumns('campaign_lists', 'l');
const id = column('id', 'bigint');
const name = column('name', 'text');
const createdAt = column('created_at', 'timestamptz');

const LISTS: ListDefinition = {
  from: 'campaign_lists l',
  tenantColumn: 'l.tenant_id',
  where: 'l.is_listed',
  filters: { id: { ...id, node: 'RecipientList' }, name, createdAt },
  sorts: { id, name, createdAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(l.name)',
};

const SELECT = LIST_COLUMNS.map(name => `l.${name}` as const);

/** One page of uploaded lists, newest first by default. */
export const uploadedListPage = (context: Context, args: ListArgs): Promise<Page<RecipientListRow>> =>
  readPage<RecipientListRow>(context.db.read, LISTS, tenantOf(context), args, SELECT);
