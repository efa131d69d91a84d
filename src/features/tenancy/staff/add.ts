import { CodedError, invalid } from '../../../core/errors.ts';
import type { Db } from '../../../database/database.ts';
import { COMMAND_LINE } from '../audit/author.ts';
import { recordStaff } from './record.ts';
import { type NewStaff, parseStaff, type StaffRow } from './staff-member.ts';
import { insertStaff, lockStaffQuota } from './store.ts';

/**
 * Adds a staff member, in the caller's transaction, with an audit entry.
 * @throws VALIDATION_ERROR by field, FEATURE_LIMIT_EXCEEDED if the plan's limit is reached
 */
export async function addStaff(trx: Db, tenantId: number, given: NewStaff, author = COMMAND_LINE): Promise<StaffRow> {
  const staff = parseStaff(given);
  const { used, maximum } = await lockStaffQuota(trx, tenantId);
  if (maximum !== null && used >= maximum)
    throw new CodedError(
      'FEATURE_LIMIT_EXCEEDED',
      `The plan has no room for another staff member: ${used} of ${maximum}.`,
      {
        details: {
          feature: 'staff',
          current: used,
          maximum,
        },
      },
    );
  const added = await insertStaff(trx, tenantId, staff);
  if (!added) throw emailTaken();
  await recordStaff(trx, tenantId, author, 'staff.created', added);
  return added;
}

export const emailTaken = (): CodedError =>
  invalid({ email: ['Another staff member has this e-mail address.'] }, 'TAKEN');
