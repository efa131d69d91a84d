import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { CONSENT_COLUMNS, type ConsentRow } from './store.ts';

const column = listColumns('consent_entries', 'e');
const id = column('id', 'bigint');
const occurredAt = column('occurred_at', 'timestamptz');

const ENTRIES: ListDefinition = {
  from: 'consent_entries e',
  tenantColumn: 'e.tenant_id',
  filters: { contactId: { sql: 'e.contact_id', type: 'bigint' } },
  sorts: { id, occurredAt },
  id,
  defaultOrder: [{ column: occurredAt, descending: true }],
};

/** The consent entries of a contact, latest first. */
export const entryPage = (context: Context, contactId: number, args: ListArgs): Promise<Page<ConsentRow>> =>
  readPage<ConsentRow>(
    context.db.read,
    ENTRIES,
    tenantOf(context),
    { ...args, filter: { contactId: { eq: contactId } } },
    CONSENT_COLUMNS.map(name => `e.${name}` as const),
  );
