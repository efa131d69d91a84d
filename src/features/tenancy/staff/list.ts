import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import type { StaffRow } from './staff-member.ts';
import { STAFF_COLUMNS } from './store.ts';

const column = listColumns('staff', 's');
const id = column('id', 'bigint');
const name = column('name', 'text');
const email = column('email', 'text');
const createdAt = column('created_at', 'timestamptz');

const STAFF: ListDefinition = {
  from: 'staff s',
  tenantColumn: 's.tenant_id',
  filters: { id: { ...id, node: 'StaffMember' }, name, email, role: column('role', 'text'), createdAt },
  sorts: { id, name, email, createdAt },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: `search_fold(s.name || ' ' || s.email)`,
};

const SELECT = STAFF_COLUMNS.map(name => `s.${name}` as const);

/** One page of staff members, by name by default. */
export const staffPage = (context: Context, args: ListArgs): Promise<Page<StaffRow>> =>
  readPage<StaffRow>(context.db.read, STAFF, tenantOf(context), args, SELECT);
