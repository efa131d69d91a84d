import type { StaffRole } from '../../../core/staff-roles.ts';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf } from '../../../database/expressions.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import type { NewStaff, StaffRow } from './staff-member.ts';

export const STAFF_COLUMNS = [
  'id',
  'name',
  'email',
  'role',
  'created_at',
] as const satisfies readonly (keyof StaffRow)[];

export const getStaff = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db
    .selectFrom('staff')
    .select(STAFF_COLUMNS)
    .$narrowType<{ role: StaffRole }>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids)),
);

/** All staff members by name. A tenant has some tens of them, so the list has no pages. */
export const listStaff = (db: Db, tenantId: number): Promise<StaffRow[]> =>
  db
    .selectFrom('staff')
    .select(STAFF_COLUMNS)
    .$narrowType<{ role: StaffRole }>()
    .where('tenant_id', '=', tenantId)
    .orderBy('name')
    .orderBy('id')
    .execute();

/** Finds a staff member by e-mail address, ignoring case, or by id. */
export const findStaff = (db: Db, tenantId: number, emailOrId: string): Promise<StaffRow | undefined> =>
  db
    .selectFrom('staff')
    .select(STAFF_COLUMNS)
    .$narrowType<{ role: StaffRole }>()
    .where('tenant_id', '=', tenantId)
    .where(eb =>
      eb.or([
        eb(eb.fn<string>('lower', ['email']), '=', eb.fn<string>('lower', [eb.val(emailOrId)])),
        eb(eb.cast<string>('id', 'text'), '=', emailOrId),
      ]),
    )
    .executeTakeFirst();

/** Reads a staff member, who is neither changed nor removed until the transaction ends. */
export const holdStaff = (trx: Db, tenantId: number, id: number): Promise<StaffRow | undefined> =>
  trx
    .selectFrom('staff')
    .select(STAFF_COLUMNS)
    .$narrowType<{ role: StaffRole }>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();

/**
 * Locks the tenant's counters until the transaction ends, which serialises additions of staff, then counts.
 * @returns the number of staff members and the plan's maximum (`null`: unlimited)
 */
export async function lockStaffQuota(trx: Db, tenantId: number): Promise<{ used: number; maximum: number | null }> {
  await lockTenantUsage(trx, tenantId);
  // A statement of its own, so that it sees what the previous holder of the lock has written.
  return await trx
    .selectFrom('tenants as t')
    .innerJoin('plans as p', 'p.id', 't.plan_id')
    .select(eb => [
      eb
        .selectFrom('staff as s')
        .select(({ fn }) => fn.countAll<number>().as('used'))
        .whereRef('s.tenant_id', '=', 't.tenant_id')
        .$asScalar()
        .$notNull()
        .as('used'),
      'p.max_staff as maximum',
    ])
    .where('t.tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
}

/** @returns undefined if the e-mail address is taken, ignoring case. Call it under `lockStaffQuota` */
export async function insertStaff(
  trx: Db,
  tenantId: number,
  { name, email, role }: NewStaff,
): Promise<StaffRow | undefined> {
  if (await findStaff(trx, tenantId, email)) return undefined;
  return trx
    .insertInto('staff')
    .values({ tenant_id: tenantId, name, email, role })
    .returning(STAFF_COLUMNS)
    .$narrowType<{ role: StaffRole }>()
    .executeTakeFirstOrThrow();
}

/** Sets the fields that are given. Call it under `lockStaffQuota` */
export const updateStaff = (
  trx: Db,
  tenantId: number,
  id: number,
  { name, email, role }: Partial<StaffRow>,
): Promise<StaffRow> =>
  trx
    .updateTable('staff')
    .set({ name, email, role })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(STAFF_COLUMNS)
    .$narrowType<{ role: StaffRole }>()
    .executeTakeFirstOrThrow();

export async function countAdmins(db: Db, tenantId: number): Promise<number> {
  const { count } = await db
    .selectFrom('staff')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('role', '=', 'admin')
    .executeTakeFirstOrThrow();
  return count;
}

/** @returns whether there was such a staff member */
export async function deleteStaff(trx: Db, tenantId: number, id: number): Promise<boolean> {
  const deleted = await trx
    .deleteFrom('staff')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return deleted !== undefined;
}
