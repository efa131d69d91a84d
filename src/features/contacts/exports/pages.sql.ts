import type { Filter } from '../../../core/list-args.ts';
import { type Db, isoTimestamp } from '../../../database/database.ts';
import { raw } from '../../../database/statements.ts';
import { CONTACT_COLUMNS } from '../contact.ts';
import { contactsWhere } from '../list.ts';

/** A page of rows for a file. */
export interface ExportedPage {
  /** The columns of CSV, which are keys of the rows. */
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Whose data it has. */
  readonly contactIds: readonly number[];
  /** The last id that was examined; null at the end. */
  readonly last: string | null;
}

const COLUMNS: readonly string[] = [...CONTACT_COLUMNS, 'source', 'status', 'assignee', 'groups'];
const OWN = CONTACT_COLUMNS.map(column => `'${column}', c.${column}`).join(', ');

/**
 * The contacts that meet a filter, among the next `limit` after an id: a statement examines as many rows as that, however few meet
 * the filter. Names stand beside keys.
 */
export async function readContacts(
  db: Db,
  tenantId: number,
  filter: Filter,
  after: string | null,
  limit: number,
): Promise<ExportedPage> {
  const { text, values } = contactsWhere(tenantId, filter);
  const [from, size] = [`$${values.length + 1}::bigint`, `$${values.length + 2}::int`];
  const { rows } = await db.executeQuery(
    raw<{ last: string | null; size: number; rows: Record<string, unknown>[] }>(
      `with page as materialized (
         select * from contacts where tenant_id = $1 and id > ${from} order by id limit ${size}
       )
       select (select p.id::text from page p order by p.id desc limit 1) as last, (select count(*) from page) as size, coalesce((
         select json_agg(json_build_object(${OWN},
           'source', (select s.name from sources s where s.tenant_id = $1 and s.id = c.source_id),
           'status', (select s.name from statuses s where s.tenant_id = $1 and s.id = c.status_id),
           'assignee', (select s.name from staff s where s.tenant_id = $1 and s.id = c.assigned_id),
           'groups', array(select g.name from contact_groups cg join groups g on g.tenant_id = $1 and g.id = cg.group_id
             where cg.tenant_id = $1 and cg.contact_id = c.id order by g.name)) order by c.id)
         from page c where ${text}), '[]') as rows`,
      [...values, after ?? '0', limit],
    ),
  );
  const [page] = rows;
  const found = page?.rows ?? [];
  return {
    columns: COLUMNS,
    rows: found.map(row => ({ ...row, ...timesOf(row) })),
    contactIds: found.map(row => Number(row['id'])),
    last: page && page.size === limit ? page.last : null,
  };
}

const TIMES = ['opted_out_at', 'created_at', 'updated_at'] as const;

/** Times as the API writes them. */
const timesOf = (row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(TIMES.map(name => [name, typeof row[name] === 'string' ? isoTimestamp(row[name]) : null]));
