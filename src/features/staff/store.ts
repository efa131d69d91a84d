import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import type { NewStaff, StaffRow } from './staff-member.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    staff: StaffRow & { tenant_id: number };
  }
}

export async function getStaff(db: Db, tenantId: number, ids: readonly number[]): Promise<StaffRow[]> {
  const { rows } = await sql<StaffRow>`
    select id, name, email from staff where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

/** By name. A plan has some tens of people, so that the list has no pages. */
export async function listStaff(db: Db, tenantId: number): Promise<StaffRow[]> {
  const { rows } =
    await sql<StaffRow>`select id, name, email from staff where tenant_id = ${tenantId} order by name, id`.execute(db);
  return rows;
}

/** A person by e-mail address, whatever its case, or by id. */
export async function findStaff(db: Db, tenantId: number, emailOrId: string): Promise<StaffRow | undefined> {
  const { rows } = await sql<StaffRow>`
    select id, name, email from staff
    where tenant_id = ${tenantId} and (lower(email) = lower(${emailOrId}) or id::text = ${emailOrId})`.execute(db);
  return rows[0];
}

/**
 * How many people there are, and the plan's maximum (null: unlimited). Whoever adds one waits here for whoever is adding
 * another, until the transaction ends: the count is taken afterwards, by a statement that sees what the other has written.
 */
export async function lockStaffRoom(trx: Db, tenantId: number): Promise<{ used: number; maximum: number | null }> {
  await sql`select from tenant_usage where tenant_id = ${tenantId} for update`.execute(trx);
  const { rows } = await sql<{ used: number; maximum: number | null }>`
    select (select count(*) from staff s where s.tenant_id = t.tenant_id) as used, p.max_staff as maximum
    from tenants t join plans p on p.id = t.plan_id where t.tenant_id = ${tenantId}`.execute(trx);
  const [row] = rows;
  if (!row) throw new Error(`There is no tenant ${tenantId}.`);
  return row;
}

/** @returns undefined when somebody of the tenant has the e-mail address, in whatever case; under `lockStaffRoom` that is certain */
export async function insertStaff(trx: Db, tenantId: number, { name, email }: NewStaff): Promise<StaffRow | undefined> {
  const { rows } = await sql<StaffRow>`
    insert into staff (tenant_id, name, email)
    select ${tenantId}::bigint, ${name}, ${email}
    where not exists (select from staff where tenant_id = ${tenantId} and lower(email) = lower(${email}))
    returning id, name, email`.execute(trx);
  return rows[0];
}

export async function deleteStaff(trx: Db, tenantId: number, id: number): Promise<void> {
  await sql`delete from staff where tenant_id = ${tenantId} and id = ${id}`.execute(trx);
}
