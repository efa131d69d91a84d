import { conflict, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { isWithin } from '../../../core/staff-roles.ts';
import type { Db } from '../../../database/database.ts';
import { differs } from '../../../platform/differs.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../audit/author.ts';
import { once } from '../idempotency/once.ts';
import { endSessionsOf } from '../sessions/store.ts';
import { addStaff, emailTaken } from './add.ts';
import { recordStaff } from './record.ts';
import { unassignMany, writeRemoved } from './remove.ts';
import { type NewStaff, parseStaffChange, type StaffChange, type StaffRow } from './staff-member.ts';
import { countAdmins, findStaff, getStaff, lockStaffQuota, updateStaff } from './store.ts';

type Key = string | null | undefined;

/** Adds a staff member to the caller's account. @throws VALIDATION_ERROR, FEATURE_LIMIT_EXCEEDED */
export function createStaff(context: Context, input: NewStaff, key: Key): Promise<StaffRow> {
  const tenantId = tenantOf(context);
  return once(
    context,
    { operation: 'createStaffMember', key, input },
    {
      run: trx => addStaff(trx, tenantId, input, authorOf(context)),
      store: ({ id }) => ({ id }),
      rebuild: stored => requireStaff(context.db.write, tenantId, (stored as { id: number }).id),
    },
  );
}

/**
 * Changes a staff member. A narrower role ends the member's sessions, which have the scopes of the old one.
 * @throws NOT_FOUND, VALIDATION_ERROR; CONFLICT for the role of the only admin
 */
export async function changeStaff(context: Context, id: number, input: StaffChange, key: Key): Promise<StaffRow> {
  const tenantId = tenantOf(context);
  const change = parseStaffChange(input);
  const member = await once(
    context,
    { operation: 'updateStaffMember', key, input: { id, ...input } },
    {
      run: async trx => {
        await lockStaffQuota(trx, tenantId);
        const before = await requireStaff(trx, tenantId, id);
        if (!differs(before, change)) return before;
        if (change.role !== undefined && change.role !== 'admin') await keepAnAdmin(trx, tenantId, before);
        const holder = change.email === undefined ? undefined : await findStaff(trx, tenantId, change.email);
        if (holder && holder.id !== id) throw emailTaken();
        const after = await updateStaff(trx, tenantId, id, change);
        if (!isWithin(before.role, after.role)) await endSessionsOf(trx, tenantId, id);
        await recordStaff(trx, tenantId, authorOf(context), 'staff.updated', after);
        return after;
      },
      store: () => ({ id }),
      rebuild: () => requireStaff(context.db.write, tenantId, id),
    },
  );
  context.tokens.revoked(tenantId);
  return member;
}

/** Removes a staff member. @throws NOT_FOUND; CONFLICT for the only admin */
export async function deleteStaffMember(context: Context, id: number, key: Key): Promise<void> {
  const tenantId = tenantOf(context);
  const [found] = await getStaff(context.db.write, tenantId, [id]);
  if (found) {
    // Checked again under the lock below.
    await keepAnAdmin(context.db.write, tenantId, found);
    await unassignMany(context.db, tenantId, id);
  }
  await once<void>(
    context,
    { operation: 'deleteStaffMember', key, input: { id } },
    {
      run: async trx => {
        await lockStaffQuota(trx, tenantId);
        const member = await requireStaff(trx, tenantId, id);
        await keepAnAdmin(trx, tenantId, member);
        await writeRemoved(trx, tenantId, member, authorOf(context));
      },
      store: () => ({}),
      rebuild: async () => undefined,
    },
  );
  context.tokens.revoked(tenantId);
  context.signals.send('events');
}

/**
 * Without an admin nobody could manage staff in a browser any more. The operator may remove the last one on the command line.
 * Call it under `lockStaffQuota`, so that two admins do not remove each other.
 */
async function keepAnAdmin(trx: Db, tenantId: number, { role, name }: StaffRow): Promise<void> {
  if (role === 'admin' && (await countAdmins(trx, tenantId)) === 1)
    throw conflict(`${name} is the only ADMIN of the account. Give another staff member this role first.`);
}

async function requireStaff(db: Db, tenantId: number, id: number): Promise<StaffRow> {
  const [member] = await getStaff(db, tenantId, [id]);
  if (!member) throw notFound('StaffMember');
  return member;
}
