import type { Db } from '../../../database/database.ts';
import { unassignContacts } from '../../contacts/update.ts';
import type { StaffRow } from './staff-member.ts';
import { deleteStaff, findStaff } from './store.ts';

export interface RemovedStaff {
  readonly member: StaffRow;
  /** Number of contacts that were assigned to the staff member. */
  readonly unassigned: number;
}

/**
 * Removes a staff member, in the caller's transaction, and unassigns their contacts.
 * @param emailOrId as `parley tenant staff list` prints them
 * @returns undefined if there is no such staff member
 */
export async function removeStaff(trx: Db, tenantId: number, emailOrId: string): Promise<RemovedStaff | undefined> {
  const member = await findStaff(trx, tenantId, emailOrId);
  if (!member) return undefined;
  const unassigned = await unassignContacts(trx, tenantId, member.id);
  await deleteStaff(trx, tenantId, member.id);
  return { member, unassigned };
}
