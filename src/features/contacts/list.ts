import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listStatement, Page } from '../../database/list.ts';
import { countList } from '../../database/page.ts';
import type { Context } from '../../schema/context.ts';
import { merged, type Selection, selectionAt } from '../../schema/selection.ts';
import type { ContactRow } from './contact.ts';
import { listContacts } from './page.sql.ts';
import { countContacts } from './store.ts';

const id = { sql: 'c.id', type: 'bigint' } as const;
const firstName = { sql: 'c.firstname', type: 'text' } as const;
const lastName = { sql: 'c.lastname', type: 'text' } as const;
const createdAt = { sql: 'c.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 'c.updated_at', type: 'timestamptz' } as const;

const CONTACTS: ListDefinition = {
  from: 'contacts c',
  tenantColumn: 'c.tenant_id',
  filters: {
    type: { sql: 'c.type', type: 'text' },
    statusId: { sql: 'c.status_id', type: 'bigint', node: 'Status' },
    sourceId: { sql: 'c.source_id', type: 'bigint', node: 'Source' },
    assigneeId: { sql: 'c.assigned_id', type: 'bigint', node: 'StaffMember' },
    groupId: {
      sql: 'cg.group_id',
      type: 'bigint',
      node: 'Group',
      exists: predicate =>
        `exists (select from contact_groups cg where cg.tenant_id = $1 and cg.contact_id = c.id and ${predicate})`,
    },
    phone: { sql: 'c.phone', type: 'text' },
    email: { sql: 'c.email', type: 'text' },
    optedOutAt: { sql: 'c.opted_out_at', type: 'timestamptz' },
    createdAt,
    updatedAt,
  },
  sorts: { id, firstName, lastName, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: pattern => `c.search_text like ${pattern}`,
};

/** One page of contacts, read in one statement with what is selected of them and around them. */
export async function contactPage(context: Context, args: ListArgs, selection: Selection): Promise<Page<ContactRow>> {
  const tenantId = tenantOf(context);
  const search = args.search && searchTerm(args.search);
  const statement = listStatement(CONTACTS, tenantId, { ...args, search });
  const nodes = merged(selectionAt(selection, 'edges', 'node'), selectionAt(selection, 'nodes'));
  // A list without a filter is counted by the tenant's counter: counting 200,000 rows takes 15 ms, reading one 0.05.
  const count = (): Promise<number> =>
    statement.isUnfiltered ? countContacts(context.db.read, tenantId) : countList(context.db.read, statement);
  // Started with the page, so that both run concurrently.
  const total = selection.has('totalCount') ? count() : undefined;
  total?.catch(() => undefined);
  const rows = await listContacts(
    context.db.read,
    statement,
    nodes,
    selection.has('edges') || selection.has('pageInfo'),
  );
  return new Page(statement, rows, () => total ?? count());
}

/**
 * Searches phone numbers by digits, with a leading 00 read as +. Short digit strings without + are searched as text.
 */
function searchTerm(text: string): string {
  const digits = text.replace(/\D/g, '');
  const looksLikePhone = /^(\+(?=\D*\d)|(?=(\D*\d){6}))[\d\s().-]+$/.test(text.trim());
  return looksLikePhone ? digits.replace(/^00/, '') : text;
}
