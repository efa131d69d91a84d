import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { ListError, ListedContact } from './list-row.ts';

/**
 * The contacts of numbers, by their keys: as their phone number, or as another number that is theirs.
 * @param spellings of the numbers as identities, each with the place of its key
 */
export async function contactsOfKeys(
  db: Db,
  tenantId: number,
  keys: readonly string[],
  spellings: { readonly texts: readonly string[]; readonly keys: readonly string[] },
): Promise<Map<string, number>> {
  const { rows } = await sql<{ key: string; contact_id: number }>`
    select c.phone_key as key, c.id as contact_id from contacts c
    where c.tenant_id = ${tenantId} and c.phone_key = any(${keys}::text[])
    union all
    select s.key, h.contact_id from number_holders(${tenantId}, ${spellings.texts}::text[]) h
    join unnest(${spellings.texts}::text[], ${spellings.keys}::text[]) as s (number, key) on s.number = h.number`.execute(
    db,
  );
  // The first holder counts: that of the phone number.
  return new Map(rows.toReversed().map(row => [row.key, row.contact_id]));
}

/** Adds people to a list, apart from contacts that are no longer there. @returns how many were added */
export async function insertListRows(
  trx: Db,
  tenantId: number,
  listId: number,
  rows: readonly ListedContact[],
): Promise<number> {
  const values = rows.map(row => ({ contact_id: row.contactId, row_number: row.rowNumber, values: row.values }));
  const { rows: added } = await sql<{ count: number }>`
    with added as (
      insert into campaign_list_rows (tenant_id, list_id, contact_id, row_number, "values")
      select c.tenant_id, ${listId}::bigint, c.id, r.row_number, r.values
      from jsonb_to_recordset(${JSON.stringify(values)}::jsonb) as r (contact_id bigint, row_number integer, values jsonb)
      join contacts c on c.tenant_id = ${tenantId} and c.id = r.contact_id
      order by r.row_number
      returning id
    ) select count(*)::int as count from added`.execute(trx);
  return added[0]?.count ?? 0;
}

export async function insertListErrors(
  trx: Db,
  tenantId: number,
  listId: number,
  errors: readonly ListError[],
): Promise<void> {
  await sql`
    insert into campaign_list_errors (tenant_id, list_id, row_number, message)
    select ${tenantId}::bigint, ${listId}::bigint, e.row_number, e.message
    from unnest(${errors.map(error => error.row_number)}::integer[], ${errors.map(error => error.message)}::text[]) as e (row_number, message)
    on conflict do nothing`.execute(trx);
}

/** The values of the first row of a list, for a test and for samples; null: it has none. */
export async function firstValues(
  db: Db,
  tenantId: number,
  listId: number,
): Promise<Readonly<Record<string, string>> | null> {
  const { rows } = await sql<{ values: Readonly<Record<string, string>> }>`
    select l.values from campaign_list_rows l where l.tenant_id = ${tenantId} and l.list_id = ${listId}
    order by l.contact_id, l.row_number limit 1`.execute(db);
  return rows[0]?.values ?? null;
}
