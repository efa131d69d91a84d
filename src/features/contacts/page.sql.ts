import type { Db } from '../../database/database.ts';
import type { ListStatement } from '../../database/list.ts';
import { type Row, shapeOf, type Values } from '../../database/row-shape.ts';
import { raw } from '../../database/statements.ts';
import { hasOnlyKey, type Selection } from '../../schema/selection.ts';
import { contactColumns, nestedColumns } from './columns.ts';
import type { ContactRow } from './contact.ts';

/** End of the service window on the tenant's default channel. */
const WINDOW_SQL = `(select v.window_expires_at from conversations v
    join channels ch on ch.tenant_id = v.tenant_id and ch.id = v.channel_id and ch.is_default
    where v.tenant_id = c.tenant_id and v.contact_id = c.id)`;

/** Tables that contacts refer to, and the referring columns. */
const REFERENCES = {
  source: { table: 'sources', by: 'source_id' },
  status: { table: 'statuses', by: 'status_id' },
  assignee: { table: 'staff', by: 'assigned_id' },
} as const;

type Reference = keyof typeof REFERENCES;
const isReference = (field: string): field is Reference => field in REFERENCES;

/** A subquery for related rows, read once per row instead of once per contact. */
interface RelatedQuery {
  readonly name: Reference | 'groups';
  readonly columns: readonly string[];
  readonly sql: string;
}

const list = (alias: string, columns: readonly string[]): string =>
  `json_build_array(${columns.map(column => `${alias}.${column}`).join(', ')})`;

function referenceQuery(name: Reference, selection: Selection): RelatedQuery {
  const { table, by } = REFERENCES[name];
  const columns = nestedColumns(selection);
  const sql = `select json_agg(${list('r', columns)}) from ${table} r where r.tenant_id = $1 and r.id = any(array(select ${by} from p))`;
  return { name, columns, sql };
}

/** Memberships of the page's contacts, ordered by group name. */
function groupsQuery(selection: Selection): RelatedQuery {
  const columns = nestedColumns(selection);
  const sql = `select json_agg(json_build_array(cg.contact_id, ${list('g', columns)}) order by g.name) from contact_groups cg
    join groups g on g.tenant_id = cg.tenant_id and g.id = cg.group_id
    where cg.tenant_id = $1 and cg.contact_id = any(array(select id from p))`;
  return { name: 'groups', columns, sql };
}

/** The one row that a page's statement returns: a list of values per row; null for no rows. */
type PageJson = { readonly [name in RelatedQuery['name'] | 'page']?: readonly Values[] | null };

/**
 * One page of contacts with the selected fields, in one statement.
 *
 * Rows are JSON arrays, which PostgreSQL writes and V8 parses in native code (143 µs of our process for 50 contacts with source,
 * status and groups, against 320 for columns that the driver parses one by one). Related rows are read by separate subqueries (460 µs
 * in the database, against 650 for a subquery per row).
 */
class ContactPage {
  readonly #columns: readonly string[];
  readonly #selected: string;
  readonly #related: readonly RelatedQuery[];

  constructor(selection: Selection) {
    const columns = contactColumns(selection);
    const related: RelatedQuery[] = [];
    let window = false;
    for (const [field, below] of selection) {
      if (isReference(field)) {
        // The resolver makes the object from the key that the contact has.
        if (!hasOnlyKey(below)) related.push(referenceQuery(field, below));
      } else if (field === 'groups') related.push(groupsQuery(below));
      else if (field === 'serviceWindow') window = true;
    }
    this.#columns = [...columns, ...(window ? ['window_expires_at'] : [])];
    this.#selected = [
      ...columns.map(column => `c.${column}`),
      ...(window ? [`${WINDOW_SQL} as window_expires_at`] : []),
    ].join(', ');
    this.#related = related;
  }

  /** @param keys expressions of the cursor's values, as in `ListStatement`; empty if no cursor is selected */
  sql(tail: string, keys: readonly string[]): string {
    const columns = [...this.#columns, ...keys.map((_, index) => `k${index}`)];
    const related = this.#related.map(({ name, sql }) => `, (${sql}) as ${name}`).join('');
    return `with p as (select ${[this.#selected, ...keys].join(', ')} ${tail}) select (select json_agg(${list('p', columns)}) from p) as page${related}`;
  }

  read(json: PageJson, keys: readonly string[]): ContactRow[] {
    const columns = [...this.#columns, ...keys.map((_, index) => `k${index}`)];
    const contacts = (json.page ?? []).map(shapeOf([...columns, ...this.#related.map(({ name }) => name)]));
    for (const { name, columns: nested } of this.#related) {
      const values = json[name] ?? [];
      if (name === 'groups') addGroups(contacts, nested, values);
      else addReferences(contacts, name, nested, values);
    }
    // Columns that were not selected are missing, and no resolver reads them.
    return contacts as unknown as ContactRow[];
  }
}

/** Caches the SQL of a page by selection, which is reused with its document. */
const pages = new WeakMap<Selection, ContactPage>();

function pageOf(selection: Selection): ContactPage {
  const page = pages.get(selection) ?? new ContactPage(selection);
  pages.set(selection, page);
  return page;
}

export async function listContacts(
  db: Db,
  statement: ListStatement,
  selection: Selection,
  withCursors: boolean,
): Promise<ContactRow[]> {
  const page = pageOf(selection);
  const keys = withCursors ? statement.keys : [];
  const { rows } = await db.executeQuery(raw<PageJson>(page.sql(statement.tail, keys), statement.values));
  return page.read(rows[0] ?? {}, keys);
}

function addReferences(
  contacts: readonly Row[],
  name: Reference,
  columns: readonly string[],
  values: readonly Values[],
): void {
  const shape = shapeOf(columns);
  const byId = new Map(values.map(row => [row[0], shape(row)]));
  for (const contact of contacts) contact[name] = byId.get(contact[REFERENCES[name].by]) ?? null;
}

function addGroups(contacts: readonly Row[], columns: readonly string[], values: readonly Values[]): void {
  const shape = shapeOf(columns);
  const byContact = new Map<unknown, Row[]>(contacts.map(contact => [contact['id'], []]));
  for (const [contactId, group] of values) byContact.get(contactId)?.push(shape(group as Values));
  for (const contact of contacts) contact['groups'] = byContact.get(contact['id']);
}
