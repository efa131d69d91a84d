import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyByKey } from '../../database/expressions.ts';
import { ALL_COLUMNS, NEW_CONTACT, type NewContactRow } from './columns.ts';
import type { ContactRow } from './contact.ts';

const columns = sql.raw(ALL_COLUMNS);

const insertNew = (tenantId: number, contacts: readonly NewContactRow[]): RawBuilder<unknown> => sql`
  insert into contacts (tenant_id, ${NEW_CONTACT.columns})
  select ${tenantId}::bigint, ${NEW_CONTACT.values(tenantId)}
  from rows from (jsonb_to_recordset(${JSON.stringify(contacts)}::jsonb) as (${NEW_CONTACT.definitions}))
    with ordinality as r (${NEW_CONTACT.columns}, position)
  order by r.position`;

/**
 * Inserts contacts and counts them. Duplicates by phone or e-mail address are skipped, so the result may have fewer rows. It keeps
 * the order given.
 */
export async function insertContacts(
  trx: Db,
  tenantId: number,
  contacts: readonly NewContactRow[],
): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    with c as (
      ${insertNew(tenantId, contacts)} on conflict do nothing returning *
    ), counted as (
      update tenant_usage set contacts = contacts + (select count(*) from c) where tenant_id = ${tenantId}
    )
    select ${columns} from c order by c.id`.execute(trx);
  return rows;
}

/**
 * Inserts senders of inbound messages, even beyond the plan's limit, so that no message is rejected: the ceiling rises with the
 * counter. In the order given.
 */
export async function insertPersons(
  trx: Db,
  tenantId: number,
  persons: readonly NewContactRow[],
): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    with c as (
      ${insertNew(tenantId, persons)} returning *
    ), counted as (
      update tenant_usage u set contacts = u.contacts + n.made,
        contacts_ceiling = greatest(u.contacts_ceiling, case when u.contacts_ceiling is not null then u.contacts + n.made end)
      from (select count(*) as made from c) n where u.tenant_id = ${tenantId}
    )
    select ${columns} from c order by c.id`.execute(trx);
  return rows;
}

/** Deletes contacts with dependent rows and reduces the counter (its ceiling not below the plan's maximum). */
export async function deleteContacts(trx: Db, tenantId: number, ids: readonly number[]): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    with c as (
      delete from contacts where tenant_id = ${tenantId} and id = ${anyByKey(ids)} returning *
    ), counted as (
      update tenant_usage u
      set contacts = u.contacts - n.gone,
          contacts_ceiling = case when u.contacts_maximum is not null then greatest(u.contacts_maximum, u.contacts - n.gone) end
      from (select count(*) as gone from c) n where u.tenant_id = ${tenantId}
    )
    select ${columns} from c order by c.id`.execute(trx);
  return rows;
}

/** Replaces the groups of a contact. @returns whether they changed */
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

/** Adds contacts to groups that they are not in yet. */
export async function addToGroups(
  trx: Db,
  tenantId: number,
  members: readonly { readonly contactId: number; readonly groupId: number }[],
): Promise<void> {
  await sql`
    insert into contact_groups (tenant_id, contact_id, group_id)
    select ${tenantId}::bigint, m.contact_id, m.group_id
    from unnest(${members.map(({ contactId }) => contactId)}::bigint[], ${members.map(({ groupId }) => groupId)}::bigint[])
      as m (contact_id, group_id)
    on conflict do nothing`.execute(trx);
}

/** Ids by table. */
export interface References {
  readonly sources: readonly number[];
  readonly statuses: readonly number[];
  readonly staff: readonly number[];
  readonly groups: readonly number[];
}

/** Finds which of the ids exist in the tenant. */
export async function findReferences(db: Db, tenantId: number, wanted: References): Promise<References> {
  return selectReferences(db, tenantId, wanted, sql``);
}

/** Like `findReferences`, but locks the rows against deletion until the transaction ends. */
export async function lockReferences(trx: Db, tenantId: number, wanted: References): Promise<References> {
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
  return rows[0] ?? { sources: [], statuses: [], staff: [], groups: [] };
}
