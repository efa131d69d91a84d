import type { ListArgs } from '../../core/list-args.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listStatement, Page } from '../../database/list.ts';
import { countList } from '../../database/page.ts';
import { type SearchTerm, searchWords } from '../../database/search.ts';
import { nationalDigits } from '../../platform/phone.ts';
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
  search: 'c.search_text',
};

/** Returns one page of contacts with the selected fields and related rows, read in one statement. */
export async function contactPage(context: Context, args: ListArgs, selection: Selection): Promise<Page<ContactRow>> {
  const tenantId = tenantOf(context);
  const terms = contactSearch(args.search ?? '', callerOf(context).tenant.defaultCountry);
  const statement = listStatement(CONTACTS, tenantId, args, terms);
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
 * The terms of a search for contacts. What looks like a phone number is searched by its digits, as typed and as a national number
 * of the account's country ("0171 123" finds +49171123… in Germany); everything else by its words.
 */
function contactSearch(text: string, country: string | null): SearchTerm[] {
  if (isPhoneLike(text)) return [phoneTerm(text, country)];
  return searchWords(text).map(([word]) => (isPhoneLike(word) ? phoneTerm(word, country) : [word]));
}

/** Short digit strings without + or a leading 0 are searched as text: house numbers, years. */
const isPhoneLike = (text: string): boolean =>
  /^(\+(?=\D*\d)|(?=0(\D*\d){3})|(?=(\D*\d){6}))[\d\s().-]+$/.test(text.trim());

function phoneTerm(text: string, country: string | null): SearchTerm {
  const digits = text.replace(/\D/g, '').replace(/^00/, '');
  const national = nationalDigits(text, country);
  return national === undefined || national.includes(digits) ? [digits] : [digits, national];
}
