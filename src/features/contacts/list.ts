import { invalid } from '../../core/errors.ts';
import type { Filter, ListArgs } from '../../core/list-args.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import { countList, type ListDefinition, listStatement, Page, whereOf } from '../../database/list.ts';
import type { FilterColumn, FilterColumns } from '../../database/list-filter.ts';
import { type SearchTerm, searchWords } from '../../database/search.ts';
import { countryByCode } from '../../platform/countries.ts';
import { nationalDigits } from '../../platform/phone.ts';
import type { Context } from '../../schema/context.ts';
import { merged, type Selection, selectionAt } from '../../schema/selection.ts';
import { currentContact } from './columns.ts';
import { CONSENT_CATEGORIES } from './consent/consent.ts';
import type { ContactRow } from './contact.ts';
import { listContacts } from './page.sql.ts';
import { countContacts } from './store.ts';

const id = { sql: 'c.id', type: 'bigint' } as const;
const firstName = { sql: 'c.firstname', type: 'text' } as const;
const lastName = { sql: 'c.lastname', type: 'text' } as const;
const createdAt = { sql: 'c.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 'c.updated_at', type: 'timestamptz' } as const;
const optedOutAt = { sql: 'c.opted_out_at', type: 'timestamptz' } as const;
const countryId = { sql: 'c.country_id', type: 'smallint' } as const;

/** Filters of contacts; the table is `c`, the tenant `$1`. */
export const CONTACT_FILTERS: FilterColumns = {
  id: { ...id, node: 'Contact', currentId: currentContact },
  type: { sql: 'c.type', type: 'text' },
  statusId: { sql: 'c.status_id', type: 'bigint', node: 'ContactStatus' },
  sourceId: { sql: 'c.source_id', type: 'bigint', node: 'ContactSource' },
  assigneeId: { sql: 'c.assigned_id', type: 'bigint', node: 'StaffMember' },
  groupId: {
    sql: 'cg.group_id',
    type: 'bigint',
    node: 'ContactGroup',
    exists: predicate =>
      `exists (select from contact_groups cg where cg.tenant_id = $1 and cg.contact_id = c.id and ${predicate})`,
  },
  phone: { sql: 'c.phone', type: 'text' },
  email: { sql: 'c.email', type: 'text' },
  company: { sql: 'c.company', type: 'text', searchText: 'c.search_text' },
  country: { ...countryId, rewrite: byCountry },
  timeZone: { sql: 'c.time_zone', type: 'text' },
  isOptedOut: { ...optedOutAt, rewrite: byOptOut },
  consent: { sql: 'e.state', type: 'text', rewrite: byConsent },
  lastMessageAt: {
    sql: 'max(v.last_activity_at)',
    type: 'timestamptz',
    rewrite: byLastMessage,
  },
  optedOutAt,
  createdAt,
  updatedAt,
};

const CONTACTS: ListDefinition = {
  from: 'contacts c',
  tenantColumn: 'c.tenant_id',
  filters: CONTACT_FILTERS,
  sorts: { id, firstName, lastName, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'c.search_text',
};

/** Two- and three-letter codes as the numbers that are stored. @throws VALIDATION_ERROR for a code that no country has */
function byCountry(conditions: Filter, path: string): { column: FilterColumn; conditions: Filter } {
  const numberOf = (code: unknown): number => {
    const country = countryByCode(String(code));
    if (!country)
      throw invalid({ [path]: [`Must be a country by ISO 3166-1 code, for example DE, not ${String(code)}.`] });
    return country.id;
  };
  const numbers = Object.entries(conditions).map(([operator, value]) => [
    operator,
    Array.isArray(value) ? value.map(numberOf) : typeof value === 'string' ? numberOf(value) : value,
  ]);
  return { column: countryId, conditions: Object.fromEntries(numbers) };
}

/** As a condition on the time, which is indexed: `is not null`, `is null`, neither or nothing. */
function byOptOut({ eq, ne, in: among, notIn, isNull }: Filter): { column: FilterColumn; conditions: Filter } {
  const wanted = [true, false].filter(
    value =>
      (eq == null || value === eq) &&
      (ne == null || value !== ne) &&
      (among == null || (among as boolean[]).includes(value)) &&
      (notIn == null || !(notIn as boolean[]).includes(value)) &&
      isNull !== true,
  );
  const [only] = wanted;
  if (wanted.length === 2) return { column: optedOutAt, conditions: {} };
  return { column: optedOutAt, conditions: only === undefined ? { in: [] } : { isNull: !only } };
}

/**
 * The time of the last message to or from a contact is the latest of their conversations. That it is after an instant is the same as that
 * one of them is, which has an index; other conditions read the conversations once, not once per contact.
 */
function byLastMessage(conditions: Filter): { column: FilterColumn; conditions: Filter } {
  const isAfter = Object.entries(conditions).every(
    ([operator, value]) => value == null || operator === 'gt' || operator === 'gte',
  );
  const within = (condition: string): string =>
    `c.id in (select v.contact_id from conversations v where v.tenant_id = $1 ${condition})`;
  const column: FilterColumn = isAfter
    ? {
        sql: 'v.last_activity_at',
        type: 'timestamptz',
        slot: 'v.activity_slot',
        exists: predicate => within(`and ${predicate}`),
      }
    : {
        sql: 'max(v.last_activity_at)',
        type: 'timestamptz',
        exists: predicate => within(`group by v.contact_id having ${predicate}`),
      };
  return { column, conditions };
}

/**
 * The state of consent that holds for a category, by its latest entry or that of all categories: an opt-out of all outweighs a
 * later opt-in to one (`optedOutOf`). Null without an entry.
 */
function byConsent({ category, ...conditions }: Filter): { column: FilterColumn; conditions: Filter } {
  const categories = `('all', '${CONSENT_CATEGORIES.find(known => known === category) ?? 'all'}')`;
  const column: FilterColumn = {
    sql: 'e.state',
    type: 'text',
    // An uncorrelated subquery, which joins the contact again: PostgreSQL starts from the few entries instead of checking each contact.
    exists: predicate => `c.id in (
      select e.contact_id from consent_entries e join contacts o on o.tenant_id = $1 and o.id = e.contact_id
      where e.tenant_id = $1 and e.category in ${categories} and ${predicate}
        and (e.category = 'all' or o.opted_out_at is null)
        and not exists (
          select from consent_entries l
          where l.tenant_id = $1 and l.contact_id = e.contact_id and l.category in ${categories}
            and (l.category = 'all' or o.opted_out_at is null) and (l.occurred_at, l.id) > (e.occurred_at, e.id)))`,
  };
  return { column, conditions };
}

/**
 * The contacts (`c`) that meet a filter, as a condition for statements of other features.
 * @returns the condition with its parameters, of which `$1` is the tenant
 * @throws VALIDATION_ERROR as the list
 */
export function contactsWhere(
  tenantId: number,
  filter: Filter,
): { readonly text: string; readonly values: readonly unknown[] } {
  return whereOf(CONTACTS, tenantId, filter);
}

/**
 * Returns one page of contacts with the selected fields and related rows, read in one statement.
 * @param within the group whose members are listed
 */
export async function contactPage(
  context: Context,
  args: ListArgs,
  selection: Selection,
  within: { readonly groupId?: number } = {},
): Promise<Page<ContactRow>> {
  const tenantId = tenantOf(context);
  const terms = contactSearch(args.search ?? '', callerOf(context).tenant.defaultCountry);
  const statement = listStatement(
    CONTACTS,
    tenantId,
    args,
    terms,
    within.groupId === undefined ? {} : { groupId: { eq: within.groupId } },
  );
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
export function contactSearch(text: string, country: string | null): SearchTerm[] {
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
