import { conflict, FieldErrorList } from '../../core/errors.ts';
import type { NewEvent } from '../../core/events.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { keyFaults } from '../../schema/idempotency-key.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { addFailure, readUse, takeVerification } from './caps.sql.ts';
import { capRefusal, verifyCaps } from './caps.ts';
import { codeFault, codeOf, isMacOf } from './code.ts';
import { attemptsRemaining, eventOtp, MAX_ATTEMPTS, type OtpRow } from './otp.ts';
import { readPlace } from './request.ts';
import { type AgedOtp, countAttempt, endLive, lastCode } from './store.ts';

export interface VerifyOtpInput {
  readonly phone: string;
  readonly code: string;
  readonly purpose?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Why a code was not verified. */
export const REASONS = ['OTP_NOT_FOUND', 'OTP_EXPIRED', 'INVALID_CODE', 'MAX_ATTEMPTS_EXCEEDED'] as const;
export type Reason = (typeof REASONS)[number];

export interface Verification {
  readonly phone: string;
  readonly purpose: string;
  readonly verified: boolean;
  readonly reason: Reason | null;
  readonly attempts_remaining: number;
  readonly verified_at: string | null;
}

/** Placeholder HMAC if there is no code; no code matches it. */
const NO_MAC = new Uint8Array(32);

/**
 * Checks a code against the live one of a phone number and purpose, and consumes it on success.
 *
 * Runs in one transaction that first counts the attempt on the number's row. The row stays locked, so that verifications of one
 * number are serialized across processes. The attempt is counted before the comparison, and the result is returned only after the
 * commit: every guess whose result is visible has been counted.
 *
 * Numbers without a code take the same path, including HMAC and comparison, so that timing reveals nothing. A repetition with its
 * idempotency key returns the first result and does not count as an attempt, so that a lost response does not cost the login.
 *
 * @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE; RATE_LIMIT_EXCEEDED with retry_after, which does not count as an attempt
 */
export async function verifyOtp(context: Context, input: VerifyOtpInput): Promise<Verification> {
  const { config, secrets, signals } = context;
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'otp');
  const errors = new FieldErrorList();
  const place = readPlace(input, errors);
  const given = codeOf(input.code);
  const fault = codeFault(given);
  if (fault !== undefined) errors.add('code', fault.message, fault.code);
  errors.include(keyFaults(input.idempotencyKey));
  errors.throwIfAny();
  // A rehearsed guess would not be counted, and its duration might tell whether it is right.
  if (context.isRehearsal) throw conflict('A code is verified only once.');

  const caps = verifyCaps(config.otp);
  const verify = async (trx: Db): Promise<Outcome> => {
    if (!(await takeVerification(trx, tenant.id, place.phoneKey, caps.verifications, caps.failures)))
      throw capRefusal(Object.values(caps), await readUse(trx, tenant.id, place.phoneKey));
    const tried = await countAttempt(trx, tenant.id, place);
    const last = tried ? undefined : await lastCode(trx, tenant.id, place);
    const code = tried ?? last;
    const isRight = isMacOf(code?.mac ?? NO_MAC, secrets, tenant.id, place, code?.id ?? '', given);
    if (tried) return isRight ? succeed(trx, tenant.id, tried) : fail(trx, tenant.id, tried);
    return refuse(trx, tenant.id, last);
  };
  const keyed = { operation: 'verifyOtp', key: input.idempotencyKey, input };
  const verification = await once<Verification>(context, keyed, {
    run: async trx => resultOf(place, await verify(trx)),
    store: answer => answer,
    rebuild: async stored => stored as Verification,
  });
  signals.send('events');
  return verification;
}

const resultOf = ({ phone, purpose }: ReturnType<typeof readPlace>, { reason, otp }: Outcome): Verification => ({
  phone,
  purpose,
  verified: reason === null,
  reason,
  attempts_remaining: reason === 'INVALID_CODE' && otp ? attemptsRemaining(otp) : 0,
  verified_at: reason === null ? (otp?.verified_at ?? null) : null,
});

interface Outcome {
  /** Null: verified. */
  readonly reason: Reason | null;
  readonly otp: OtpRow | undefined;
}

async function succeed(trx: Db, tenantId: number, tried: OtpRow): Promise<Outcome> {
  const otp = await endLive(trx, tenantId, tried.id, 'verified');
  if (!otp) return { reason: 'OTP_NOT_FOUND', otp };
  await append(trx, tenantId, [{ type: 'otp.verified', payload: { otp: eventOtp(otp) } }]);
  return { reason: null, otp };
}

async function fail(trx: Db, tenantId: number, tried: OtpRow): Promise<Outcome> {
  await addFailure(trx, tenantId, tried.phone_key);
  const ended = tried.attempts >= MAX_ATTEMPTS ? await endLive(trx, tenantId, tried.id, 'exhausted') : undefined;
  const otp = ended ?? tried;
  await append(trx, tenantId, [failed(otp, 'INVALID_CODE')]);
  return { reason: 'INVALID_CODE', otp };
}

async function refuse(trx: Db, tenantId: number, code: AgedOtp | undefined): Promise<Outcome> {
  const reason = refusalOf(code);
  if (code && reason === 'MAX_ATTEMPTS_EXCEEDED') await append(trx, tenantId, [failed(code, reason)]);
  return { reason, otp: code };
}

/** Why the number has no code that can be verified. */
function refusalOf(code: AgedOtp | undefined): Reason {
  if (!code || code.state === 'verified') return 'OTP_NOT_FOUND';
  if (code.state === 'expired' || code.left_ms <= 0) return 'OTP_EXPIRED';
  return code.state === 'exhausted' ? 'MAX_ATTEMPTS_EXCEEDED' : 'OTP_NOT_FOUND';
}

const failed = (otp: OtpRow, reason: 'INVALID_CODE' | 'MAX_ATTEMPTS_EXCEEDED'): NewEvent => ({
  type: 'otp.failed',
  payload: { otp: eventOtp(otp), reason },
});
