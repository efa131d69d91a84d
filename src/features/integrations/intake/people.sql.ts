import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** Indexes the persons in a payload. Does nothing if the payload is being deleted with its integration. */
export async function notePeople(
  db: Db,
  tenantId: number,
  deliveryId: string,
  people: readonly string[],
): Promise<void> {
  await sql`
    insert into integration_delivery_people (tenant_id, delivery_id, person)
    select d.tenant_id, d.id, person
    from (select tenant_id, id from integration_deliveries where tenant_id = ${tenantId} and id = ${deliveryId}::uuid for key share) d,
      unnest(${people}::text[]) as person
    on conflict do nothing`.execute(db);
}

/**
 * Erases payloads that contain any of these persons. Lock order: by id, as in `replaySince`, to avoid deadlocks.
 * @returns how many
 */
export async function erasePayloads(
  trx: Db,
  tenantId: number,
  people: readonly string[],
  nowIso: string,
): Promise<number> {
  const { numAffectedRows } = await sql`
    with unindexed as (
      delete from integration_delivery_people where tenant_id = ${tenantId} and person = any(${people}::text[])
    )
    update integration_deliveries set body = null, erased_at = ${nowIso}::timestamptz
    where tenant_id = ${tenantId} and id = any(array(
      select id from integration_deliveries
      where tenant_id = ${tenantId} and erased_at is null and id = any(array(
        select delivery_id from integration_delivery_people where tenant_id = ${tenantId} and person = any(${people}::text[])))
      order by id for update))`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
