import type { Db } from '../../platform/database.ts';
import { unassignContacts } from '../contacts/unassign.ts';
import type { StaffRow } from './staff-member.ts';
import { deleteStaff, findStaff } from './store.ts';

export interface RemovedStaff {
  readonly member: StaffRow;
  /** How many contacts nobody looks after any more. */
  readonly unassigned: number;
}

/**
 * Removes a person of a tenant, in the caller's transaction. Contacts that were assigned to them stay, assigned to nobody.
 * @param emailOrId as `staff list` shows them
 * @returns undefined when there is no such person
 */
export async function removeStaff(trx: Db, tenantId: number, emailOrId: string): Promise<RemovedStaff | undefined> {
  const member = await findStaff(trx, tenantId, emailOrId);
  if (!member) return undefined;
  const unassigned = await unassignContacts(trx, tenantId, member.id);
  await deleteStaff(trx, tenantId, member.id);
  return { member, unassigned };
}
