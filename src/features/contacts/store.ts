import { type RawBuilder, sql } from 'kysely';
import type { Selection } from '../../graphql/selection.ts';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import type { LabelRow } from '../labels/label.ts';
import type { ListStatement } from '../lists/list.ts';
import { ALL_COLUMNS, ContactPage, type PageJson } from './columns.ts';
import type { ContactFields, ContactRow, PublicContact } from './contact.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    contacts: PublicContact & { tenant_id: number };
    tenant_usage: { tenant_id: number; contacts: number };
  }
}

const columns = sql.raw(ALL_COLUMNS);

/** A selection comes again with its document, and so does the page. */
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

/** All contacts of a tenant, by its counter. */
export async function countContacts(db: Db, tenantId: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select contacts as total from tenant_usage where tenant_id = ${tenantId}`.execute(db);
  return rows[0]?.total ?? 0;
}

export async function getContacts(db: Db, tenantId: number, ids: readonly number[]): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    select ${columns} from contacts c where c.tenant_id = ${tenantId} and c.id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

/** The groups of several contacts, by name. */
export async function getGroupsOf(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, LabelRow[]>> {
  const { rows } = await sql<LabelRow & { contact_id: number }>`
    select cg.contact_id, g.id, g.name, g.created_at, g.updated_at
    from contact_groups cg join groups g on g.tenant_id = cg.tenant_id and g.id = cg.group_id
    where cg.tenant_id = ${tenantId} and cg.contact_id = any(${contactIds}::bigint[]) order by g.name`.execute(db);
  const groups = new Map<number, LabelRow[]>();
  for (const row of rows) {
    const list = groups.get(row.contact_id);
    if (list) list.push(row);
    else groups.set(row.contact_id, [row]);
  }
  return groups;
}

/** Which of these ids are rows of the tenant. */
export interface References {
  readonly sources: readonly number[];
  readonly statuses: readonly number[];
  readonly staff: readonly number[];
  readonly groups: readonly number[];
}

export async function findReferences(db: Db, tenantId: number, wanted: References): Promise<References> {
  return selectReferences(db, tenantId, wanted, sql``);
}

/** As `findReferences`, and what was found stays until the transaction ends: it may be referred to without a further look. */
export async function holdReferences(trx: Db, tenantId: number, wanted: References): Promise<References> {
  return selectReferences(trx, tenantId, wanted, sql`for key share`);
}

async function selectReferences(
  db: Db,
  tenantId: number,
  wanted: References,
  lock: RawBuilder<unknown>,
): Promise<References> {
  const { rows } = await sql<References>`
    select
      array(select id from sources where tenant_id = ${tenantId} and id = any(${wanted.sources}::bigint[]) ${lock}) as sources,
      array(select id from statuses where tenant_id = ${tenantId} and id = any(${wanted.statuses}::bigint[]) ${lock}) as statuses,
      array(select id from staff where tenant_id = ${tenantId} and id = any(${wanted.staff}::bigint[]) ${lock}) as staff,
      array(select id from groups where tenant_id = ${tenantId} and id = any(${wanted.groups}::bigint[]) ${lock}) as groups`.execute(
    db,
  );
  const numbers = (ids: readonly unknown[]): number[] => ids.map(Number);
  const found = rows[0] ?? { sources: [], statuses: [], staff: [], groups: [] };
  return {
    sources: numbers(found.sources),
    statuses: numbers(found.statuses),
    staff: numbers(found.staff),
    groups: numbers(found.groups),
  };
}

/** The phone keys and lower-case e-mail addresses among these that contacts of the tenant have. */
export async function findTaken(
  db: Db,
  tenantId: number,
  phoneKeys: readonly string[],
  emails: readonly string[],
): Promise<{ phoneKeys: Set<string>; emails: Set<string> }> {
  const { rows } = await sql<{ phone_key: string | null; email: string | null }>`
    select phone_key, null as email from contacts where tenant_id = ${tenantId} and phone_key = any(${phoneKeys}::text[])
    union all
    select null, lower(email) from contacts where tenant_id = ${tenantId} and lower(email) = any(${emails}::text[])`.execute(
    db,
  );
  return {
    phoneKeys: new Set(rows.flatMap(row => row.phone_key ?? [])),
    emails: new Set(rows.flatMap(row => row.email ?? [])),
  };
}

/**
 * Room left under the plan, with the counter locked until the transaction ends; null: unlimited.
 * Whoever makes or removes contacts takes this lock before any of theirs, or two could wait for each other.
 */
export async function lockRoom(
  trx: Db,
  tenantId: number,
): Promise<{ used: number; room: number | null; maximum: number | null }> {
  const { rows } = await sql<{ used: number; room: number | null; maximum: number | null }>`
    select contacts as used, case when contacts_maximum is not null then greatest(contacts_maximum - contacts, 0) end as room, contacts_maximum as maximum
    from tenant_usage where tenant_id = ${tenantId} for update`.execute(trx);
  const row = rows[0];
  if (!row) throw new Error(`The tenant ${tenantId} has no counters.`);
  return row;
}

export interface NewContact extends ContactFields {
  readonly source_id: number | null;
  readonly status_id: number | null;
  readonly assigned_id: number | null;
  readonly opted_out_at?: string | null;
}

/**
 * Inserts contacts and counts them. Sources and statuses may come from the tenant's defaults as a cache has them: one that
 * has meanwhile been deleted is none. A phone, e-mail address or person that the tenant has already is left out, so the
 * answer may have fewer rows; it has them in the order given.
 */
export async function insertContacts(
  trx: Db,
  tenantId: number,
  contacts: readonly NewContact[],
): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    with c as (
      insert into contacts (tenant_id, firstname, lastname, company, type, email, phone, phone_key, description, address, city, state, zip,
                            country_id, source_id, status_id, assigned_id, opted_out_at)
      select ${tenantId}::bigint, coalesce(r.firstname, ''), coalesce(r.lastname, ''), r.company, coalesce(r.type, 'lead'), r.email, r.phone,
             r.phone_key, r.description, r.address, r.city, r.state, r.zip, r.country_id,
             (select id from sources s where s.tenant_id = ${tenantId} and s.id = r.source_id),
             (select id from statuses s where s.tenant_id = ${tenantId} and s.id = r.status_id), r.assigned_id, r.opted_out_at
      from rows from (jsonb_to_recordset(${JSON.stringify(contacts)}::jsonb) as (
        firstname text, lastname text, company text, type text, email text, phone text, phone_key text, description text, address text,
        city text, state text, zip text, country_id smallint, source_id bigint, status_id bigint, assigned_id bigint,
        opted_out_at timestamptz)
      ) with ordinality as r (firstname, lastname, company, type, email, phone, phone_key, description, address, city, state, zip, country_id,
                              source_id, status_id, assigned_id, opted_out_at, position)
      order by r.position
      on conflict do nothing
      returning *
    ), counted as (
      update tenant_usage set contacts = contacts + (select count(*) from c) where tenant_id = ${tenantId}
    )
    select ${columns} from c order by c.id`.execute(trx);
  return rows;
}

export async function lockContact(trx: Db, tenantId: number, id: number): Promise<ContactRow | undefined> {
  const { rows } = await sql<ContactRow>`
    select ${columns} from contacts c where c.tenant_id = ${tenantId} and c.id = ${id} for update`.execute(trx);
  return rows[0];
}

/**
 * As `lockContact`, to change what is no key. A send to the contact does not stand in the way (`for key share`): it may be
 * waiting for the conversation that whoever calls this has locked, and they would wait in a circle.
 */
export async function lockContactBesideSends(trx: Db, tenantId: number, id: number): Promise<ContactRow | undefined> {
  const { rows } = await sql<ContactRow>`
    select ${columns} from contacts c where c.tenant_id = ${tenantId} and c.id = ${id} for no key update`.execute(trx);
  return rows[0];
}

/** Columns that an update may set; the names come from here, never from a caller. */
const UPDATABLE = [
  'firstname',
  'lastname',
  'company',
  'type',
  'email',
  'phone',
  'phone_key',
  'description',
  'address',
  'city',
  'state',
  'zip',
  'country_id',
  'source_id',
  'status_id',
  'assigned_id',
  'opted_out_at',
] as const;

export type ContactUpdate = ContactFields & {
  readonly source_id?: number | null;
  readonly status_id?: number | null;
  readonly assigned_id?: number | null;
  readonly opted_out_at?: string | null;
};

export async function updateContact(
  trx: Db,
  tenantId: number,
  id: number,
  fields: ContactUpdate,
): Promise<ContactRow | undefined> {
  const set = UPDATABLE.filter(column => fields[column] !== undefined).map(
    column => sql`${sql.ref(column)} = ${fields[column]}`,
  );
  const { rows } = await sql<ContactRow>`
    update contacts c set ${sql.join([...set, sql`updated_at = now()`])} where c.tenant_id = ${tenantId} and c.id = ${id}
    returning ${columns}`.execute(trx);
  return rows[0];
}

/** Takes an assignee off at most `limit` contacts. */
export async function unassignSome(trx: Db, tenantId: number, staffId: number, limit: number): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    update contacts c set assigned_id = null, updated_at = now()
    where c.tenant_id = ${tenantId} and c.id = any(array(
      select id from contacts where tenant_id = ${tenantId} and assigned_id = ${staffId} order by id limit ${limit} for update))
    returning ${columns}`.execute(trx);
  return rows;
}

/** Removes contacts with all that belongs to them, and gives their room back (down to a smaller plan's maximum). */
export async function deleteContacts(trx: Db, tenantId: number, ids: readonly number[]): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    with c as (
      delete from contacts where tenant_id = ${tenantId} and id = any(${ids}::bigint[]) returning *
    ), counted as (
      update tenant_usage u
      set contacts = u.contacts - n.gone,
          contacts_ceiling = case when u.contacts_maximum is not null then greatest(u.contacts_maximum, u.contacts - n.gone) end
      from (select count(*) as gone from c) n where u.tenant_id = ${tenantId}
    )
    select ${columns} from c order by c.id`.execute(trx);
  return rows;
}

/** Sets the groups of one contact to exactly these. @returns whether they were others before */
export async function setGroups(
  trx: Db,
  tenantId: number,
  contactId: number,
  groupIds: readonly number[],
): Promise<boolean> {
  const { rows } = await sql`
    with gone as (
      delete from contact_groups
      where tenant_id = ${tenantId} and contact_id = ${contactId} and group_id <> all(${groupIds}::bigint[])
      returning group_id
    ), added as (
      insert into contact_groups (tenant_id, contact_id, group_id)
      select ${tenantId}::bigint, ${contactId}::bigint, group_id from unnest(${groupIds}::bigint[]) as group_id
      on conflict do nothing
      returning group_id
    )
    select group_id from gone union all select group_id from added`.execute(trx);
  return rows.length > 0;
}
