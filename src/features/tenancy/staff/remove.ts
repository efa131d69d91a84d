import type { Author } from '../../../core/author.ts';
import type { Database, Db } from '../../../database/database.ts';
import { unassignContacts } from '../../contacts/update.ts';
import { unassignConversations } from '../../conversations/housekeeping.ts';
import { recordStaff } from './record.ts';
import type { StaffRow } from './staff-member.ts';
import { deleteStaff, findStaff } from './store.ts';

/** Contacts, and as many conversations, that are unassigned by one set of statements. */
const BATCH = 500;

/** Numbers of rows of one batch. */
interface Unassigned {
  readonly contacts: number;
  readonly conversations: number;
}

export interface RemovedStaff {
  readonly member: StaffRow;
  /** Number of contacts that were assigned to the staff member. */
  readonly unassigned: number;
}

/**
 * Removes a staff member, with an audit entry, and unassigns their contacts and conversations. If the process dies meanwhile, the
 * member remains, with those that are still assigned.
 * @param emailOrId as `parley tenant staff list` prints them
 * @returns undefined if there is no such staff member
 */
export async function removeStaff(
  db: Database,
  tenantId: number,
  emailOrId: string,
  author: Author,
): Promise<RemovedStaff | undefined> {
  const member = await findStaff(db.write, tenantId, emailOrId);
  if (!member) return undefined;
  const before = await unassignMany(db, tenantId, member.id);
  const rest = await db.transaction(trx => writeRemoved(trx, tenantId, member, author));
  return rest === undefined ? undefined : { member, unassigned: before + rest };
}

/**
 * Unassigns a staff member from all contacts and conversations, in transactions of 500 each: readers of the event log cannot pass one
 * that has written, so that a long one holds up subscriptions, webhooks and bots of all tenants.
 * @returns the number of contacts
 */
export const unassignMany = (db: Database, tenantId: number, staffId: number): Promise<number> =>
  unassignAll(work => db.transaction(work), tenantId, staffId);

/**
 * The last part of the removal, in the caller's transaction and after `unassignMany`: what was assigned since is unassigned.
 * @returns the number of these contacts; undefined if the member does not exist any more
 */
export async function writeRemoved(
  trx: Db,
  tenantId: number,
  member: StaffRow,
  author: Author,
): Promise<number | undefined> {
  const count = await unassignAll(work => work(trx), tenantId, member.id);
  if (!(await deleteStaff(trx, tenantId, member.id))) return undefined;
  await recordStaff(trx, tenantId, author, 'staff.deleted', member);
  return count;
}

/** @param run runs one batch. @returns the number of contacts */
async function unassignAll(
  run: (work: (trx: Db) => Promise<Unassigned>) => Promise<Unassigned>,
  tenantId: number,
  staffId: number,
): Promise<number> {
  for (let count = 0; ; ) {
    const { contacts, conversations } = await run(async trx => ({
      contacts: await unassignContacts(trx, tenantId, staffId, BATCH),
      conversations: await unassignConversations(trx, tenantId, staffId, BATCH),
    }));
    count += contacts;
    if (contacts < BATCH && conversations < BATCH) return count;
  }
}
