import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    integration_delivery_people: { tenant_id: number; delivery_id: string; person: string };
  }
}

/** Notes whom a payload tells of; one that is being taken away with its integration tells of nobody. */
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

/** Erases the payloads that tell of any of these people. Locked in the order of their ids, as by `replaySince`. */
export async function erasePayloads(
  trx: Db,
  tenantId: number,
  people: readonly string[],
  nowIso: string,
): Promise<void> {
  await sql`
    update integration_deliveries set body = null, erased_at = ${nowIso}::timestamptz
    where tenant_id = ${tenantId} and id = any(array(
      select id from integration_deliveries
      where tenant_id = ${tenantId} and erased_at is null and id = any(array(
        select delivery_id from integration_delivery_people where tenant_id = ${tenantId} and person = any(${people}::text[])))
      order by id for update))`.execute(trx);
}
