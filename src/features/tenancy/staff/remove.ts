import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';
import { unassignContacts } from '../../contacts/update.ts';
import { unassignConversations } from '../../conversations/housekeeping.ts';
import { recordStaff } from './record.ts';
import type { StaffRow } from './staff-member.ts';
import { deleteStaff, findStaff } from './store.ts';

export interface RemovedStaff {
  readonly member: StaffRow;
  /** Number of contacts that were assigned to the staff member. */
  readonly unassigned: number;
}

/**
 * Removes a staff member, in the caller's transaction, with an audit entry, and unassigns their contacts and conversations.
 * @param emailOrId as `parley tenant staff list` prints them
 * @returns undefined if there is no such staff member
 */
export async function removeStaff(
  trx: Db,
  tenantId: number,
  emailOrId: string,
  author: Author,
): Promise<RemovedStaff | undefined> {
  const member = await findStaff(trx, tenantId, emailOrId);
  if (!member) return undefined;
  const unassigned = await unassignContacts(trx, tenantId, member.id);
  await unassignConversations(trx, tenantId, member.id);
  await deleteStaff(trx, tenantId, member.id);
  await recordStaff(trx, tenantId, author, 'staff.deleted', member);
  return { member, unassigned };
}
