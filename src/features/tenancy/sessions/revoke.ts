import { notFound } from '../../../core/errors.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../audit/author.ts';
import { record } from '../audit/record.ts';
import type { StaffRow } from '../staff/staff-member.ts';
import { endSession, endSessionsOf } from './store.ts';

/** Revokes all sessions of a staff member, with an audit entry. Their connections are closed within a second. */
export async function revokeSessions(context: Context, staffMember: StaffRow): Promise<void> {
  const { tenant } = callerOf(context);
  await context.db.transaction(async trx => {
    const count = await endSessionsOf(trx, tenant.id, staffMember.id);
    if (count === 0) return;
    await record(trx, tenant.id, {
      author: authorOf(context),
      action: 'staff_session.revoked',
      subject: `staff:${staffMember.id}`,
      details: { sessions: count },
    });
  });
  context.tokens.revoked(tenant.id);
}

/**
 * Revokes the session of the caller: the page signs out.
 * @returns the id of its staff member
 * @throws NOT_FOUND if the caller is no session
 */
export async function revokeOwnSession(context: Context): Promise<number> {
  const { tenant, session } = callerOf(context);
  if (!session) throw notFound('StaffSession');
  await endSession(context.db.write, tenant.id, session.id);
  context.tokens.revoked(tenant.id);
  return session.staffId;
}
