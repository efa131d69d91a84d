import { CodedError, invalid } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { type NewStaff, parseStaff, type StaffRow } from './staff-member.ts';
import { insertStaff, lockStaffRoom } from './store.ts';

/**
 * Adds a person of a tenant, in the caller's transaction.
 * @throws VALIDATION_ERROR by field, FEATURE_LIMIT_EXCEEDED when the plan's staff is complete
 */
export async function addStaff(trx: Db, tenantId: number, given: NewStaff): Promise<StaffRow> {
  const staff = parseStaff(given);
  const { used, maximum } = await lockStaffRoom(trx, tenantId);
  if (maximum !== null && used >= maximum)
    throw new CodedError(
      'FEATURE_LIMIT_EXCEEDED',
      `The plan has no room for another staff member: ${used} of ${maximum}.`,
      {
        feature: 'staff',
        current: used,
        maximum,
      },
    );
  const added = await insertStaff(trx, tenantId, staff);
  if (!added) throw invalid({ email: ['Another staff member has this e-mail address.'] });
  return added;
}
