import type { Author } from '../../../core/author.ts';
import type { Db } from '../../../database/database.ts';
import { record } from '../audit/record.ts';
import type { StaffRow } from './staff-member.ts';

/** Adds a change of a staff member to the audit log, without name and e-mail address. */
export const recordStaff = (
  trx: Db,
  tenantId: number,
  author: Author,
  action: 'staff.created' | 'staff.updated' | 'staff.deleted',
  { id, role }: StaffRow,
): Promise<void> => record(trx, tenantId, { author, action, subject: `staff:${id}`, details: { role } });
