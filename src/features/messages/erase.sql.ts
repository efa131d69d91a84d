import { sql } from 'kysely';
import { NIL_UUID } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';

/**
 * Deletes the queued messages of contacts from the outbox. Lock order: message_states by id, then the outbox by position.
 * @returns the contact of each, and whether it was submitted to the network
 */
export async function deleteQueuedOf(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<{ readonly contact_id: number; readonly in_flight: boolean }[]> {
  await sql`
    select from message_states s join outbox q on q.tenant_id = ${tenantId} and q.message_id = s.message_id
    where s.tenant_id = ${tenantId} and q.contact_id = any(${contactIds}::bigint[]) order by s.message_id for update of s`.execute(
    trx,
  );
  const { rows } = await sql<{ contact_id: number; in_flight: boolean }>`
    with waiting as materialized (
      select message_id from outbox
      where tenant_id = ${tenantId} and contact_id = any(${contactIds}::bigint[]) order by position for update
    )
    delete from outbox o using waiting w where o.tenant_id = ${tenantId} and o.message_id = w.message_id
    returning o.contact_id, o.dispatched_at is not null as in_flight`.execute(trx);
  return rows;
}

/** Deletes messages of contacts, at most `limit`. @returns the contact of each, and the network's ids of its files */
export async function deleteSomeMessagesOf(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
  limit: number,
): Promise<{ readonly contact_id: number; readonly media: readonly string[] | null }[]> {
  const { rows } = await sql<{ contact_id: number; media: readonly string[] | null }>`
    delete from messages where tenant_id = ${tenantId} and id = any(array(
      select id from messages where tenant_id = ${tenantId} and contact_id = any(${contactIds}::bigint[]) order by id limit ${limit} for update))
    returning contact_id, case when direction = 'outbound' and type <> 'text' then array(
      select id #>> '{}' from jsonb_path_query(content, 'lax $.**.id') as id) end as media`.execute(trx);
  return rows;
}

/** Ids of a contact's messages after an id, in their order. */
export async function listIdsOfContact(
  db: Db,
  tenantId: number,
  contactId: number,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('messages')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', contactId)
    .where('id', '>', after ?? NIL_UUID)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(row => row.id);
}
