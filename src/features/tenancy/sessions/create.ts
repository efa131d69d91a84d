import { CodedError, FieldErrorList, notFound } from '../../../core/errors.ts';
import { callerOf, type Principal } from '../../../core/principal.ts';
import { isWithin, ROLE_SCOPES, type StaffRole } from '../../../core/staff-roles.ts';
import { HOUR, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../audit/author.ts';
import { record } from '../audit/record.ts';
import { once } from '../idempotency/once.ts';
import type { StaffRow } from '../staff/staff-member.ts';
import { holdStaff } from '../staff/store.ts';
import { generateToken, hashToken, SESSION_PREFIX } from '../tokens/token.ts';
import { findSession, insertSession } from './store.ts';

export interface SessionRequest {
  readonly role: StaffRole | undefined;
  readonly ttlSeconds: number;
  readonly documentsOnly: boolean;
  readonly origins: readonly string[];
  readonly callsPerMinute: number;
}

export interface CreatedSession {
  readonly staffMember: StaffRow;
  readonly expiresAt: string;
  /** Null in the response to a repeated request, because only the hash is stored. */
  readonly token: string | null;
}

const MIN_TTL_SECONDS = MINUTE / SECOND;
const MAX_TTL_SECONDS = (12 * HOUR) / SECOND;
const MAX_ORIGINS = 20;

/**
 * Creates a session of a staff member, with an audit entry. Its scopes are those of the role that the calling token has too; it
 * ends with that token, at the latest.
 * @param known the staff member as looked up; the role is read again under a lock, because a concurrent change to a narrower one ends the
 *   sessions that it sees
 * @throws NOT_FOUND, VALIDATION_ERROR by field, INSUFFICIENT_SCOPE if the caller is a session itself
 */
export function createSession(
  context: Context,
  known: StaffRow,
  request: SessionRequest,
  keyed: { readonly key: string | null | undefined; readonly input: unknown },
): Promise<CreatedSession> {
  const principal = callerOf(context);
  if (principal.session) throw new CodedError('INSUFFICIENT_SCOPE', 'A staff session cannot create another one.');
  const { tenant, tokenId } = principal;
  return once<CreatedSession & { readonly id: number }>(
    context,
    { operation: 'createStaffSession', ...keyed },
    {
      async run(trx) {
        const staffMember = await holdStaff(trx, tenant.id, known.id);
        if (!staffMember) throw notFound('StaffMember', 'staffMember');
        const session = boundsOf(principal, staffMember, request, context.clock.now());
        const token = generateToken(SESSION_PREFIX);
        const row = await insertSession(trx, tenant.id, {
          ...session,
          staffId: staffMember.id,
          tokenId,
          hash: hashToken(token),
        });
        await record(trx, tenant.id, {
          author: authorOf(context),
          action: 'staff_session.created',
          subject: `staff:${staffMember.id}`,
          details: { session_id: row.id, scopes: session.scopes, expires_at: row.expires_at },
        });
        return { id: row.id, staffMember, expiresAt: row.expires_at, token };
      },
      store: ({ id }) => ({ id }),
      rebuild: async stored => {
        const row = await findSession(context.db.write, tenant.id, (stored as { id: number }).id);
        if (!row) throw notFound('StaffSession');
        return { id: row.id, staffMember: known, expiresAt: row.expires_at, token: null };
      },
    },
  );
}

function boundsOf(principal: Principal, staffMember: StaffRow, request: SessionRequest, nowMs: number) {
  const errors = new FieldErrorList();
  const { ttlSeconds, callsPerMinute, documentsOnly, role = staffMember.role } = request;
  if (!isWithin(role, staffMember.role))
    errors.add(
      'role',
      `${staffMember.name} has the role ${staffMember.role.toUpperCase()}, which is narrower.`,
      'OUT_OF_RANGE',
    );
  if (ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS)
    errors.add('ttlSeconds', `Must be from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`, 'OUT_OF_RANGE');
  if (callsPerMinute < 1) errors.add('callsPerMinute', 'Must be at least 1.', 'OUT_OF_RANGE');
  if (request.origins.length > MAX_ORIGINS) errors.add('origins', `May have at most ${MAX_ORIGINS} items.`, 'TOO_MANY');
  const origins = request.origins.map((text, index) => {
    const origin = parseOrigin(text);
    if (origin === undefined)
      errors.add(`origins.${index}`, 'Must be an origin such as https://app.example, without a path.', 'INVALID');
    return origin ?? '';
  });
  const scopes = ROLE_SCOPES[role].filter(scope => principal.scopes.has(scope));
  if (scopes.length === 0) errors.add('role', 'Your own token has none of the scopes of this role.', 'OUT_OF_RANGE');
  errors.throwIfAny();
  const expiresAtMs = Math.min(nowMs + ttlSeconds * SECOND, principal.expiresAtMs ?? Number.POSITIVE_INFINITY);
  return {
    scopes,
    origins,
    documentsOnly: documentsOnly || principal.documentsOnly,
    callsPerMinute: Math.min(callsPerMinute, principal.callsPerMinute),
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}

/**
 * Returns an origin as browsers send it (`https://app.example`), from the same with a path or capitals.
 * @returns undefined if the text is not an http or https URL without user, query and path
 */
function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}
