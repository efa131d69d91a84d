import type { Context } from '../../context.ts';
import { FieldErrorList } from '../../errors.ts';
import { append, type NewEvent } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { callerOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { requireFeature } from '../tenants/feature.ts';
import { capRefusal, verifyCaps, windowStart } from './caps.ts';
import { addFailure, readUse, takeVerification } from './caps-store.ts';
import { codeFault, codeOf, isSameMac, macOf } from './code.ts';
import { attemptsRemaining, MAX_ATTEMPTS, type OtpRow, publicOtp } from './otp.ts';
import { readPlace } from './request.ts';
import { countAttempt, endLive, lastCode } from './store.ts';

export interface VerifyOtpInput {
  readonly phone: string;
  readonly code: string;
  readonly purpose?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Why a code did not verify. */
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

/** What stands for the HMAC of a code that does not exist: no code has it. */
const NO_MAC = new Uint8Array(32);

/**
 * Says whether a code is the live one of a phone number and purpose, and uses it up when it is.
 *
 * One transaction, which begins by counting the verification at the number's row: the row stays locked, so that verifications
 * of one number come one after the other, whatever process they run in. The try is counted before anything is compared, and
 * an answer is only given once all of it is committed: nobody learns of a guess that was not counted.
 *
 * A number that has no code goes the same way, HMAC and comparison included. A repetition with its idempotency key is told
 * again what the first request was, and counts as no try: whoever lost the answer must not lose the login.
 *
 * @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE; RATE_LIMIT_EXCEEDED with retry_after, which counts as no try
 */
export async function verifyOtp(context: Context, input: VerifyOtpInput): Promise<Verification> {
  const { clock, config, secrets, signals } = context;
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'otp');
  const errors = new FieldErrorList();
  const place = readPlace(input, errors);
  const given = codeOf(input.code);
  const fault = codeFault(given);
  if (fault !== undefined) errors.add('code', fault);
  errors.throwIfAny();

  const now = clock.now();
  const nowIso = new Date(now).toISOString();
  const caps = verifyCaps(config.otp);
  const windowOf = (cap: (typeof caps)[keyof typeof caps]) => ({ since: windowStart(now, cap), max: cap.max });
  const [verifications, failures] = [windowOf(caps.verifications), windowOf(caps.failures)];
  const verify = async (trx: Db): Promise<Outcome> => {
    if (!(await takeVerification(trx, tenant.id, place.phoneKey, nowIso, verifications, failures)))
      throw capRefusal(Object.values(caps), await readUse(trx, tenant.id, place.phoneKey), now);
    const tried = await countAttempt(trx, tenant.id, place, nowIso);
    const code = tried ?? (await lastCode(trx, tenant.id, place));
    const mac = macOf(secrets, tenant.id, place, code?.id ?? '', given);
    const isRight = isSameMac(mac, code?.mac ?? NO_MAC);
    if (tried) return isRight ? succeed(trx, tenant.id, tried, nowIso) : fail(trx, tenant.id, tried, nowIso);
    return refuse(trx, tenant.id, code, nowIso);
  };
  const keyed = { operation: 'verifyOtp', key: input.idempotencyKey, input };
  const verification = await once<Verification>(context, keyed, {
    run: async trx => told(place, await verify(trx)),
    store: answer => answer,
    again: async stored => stored as Verification,
  });
  signals.send('events');
  return verification;
}

const told = ({ phone, purpose }: ReturnType<typeof readPlace>, { reason, otp }: Outcome): Verification => ({
  phone,
  purpose,
  verified: reason === null,
  reason,
  attempts_remaining: reason === 'INVALID_CODE' && otp ? attemptsRemaining(otp) : 0,
  verified_at: reason === null ? (otp?.verified_at ?? null) : null,
});

interface Outcome {
  /** Null: it verified. */
  readonly reason: Reason | null;
  readonly otp: OtpRow | undefined;
}

async function succeed(trx: Db, tenantId: number, tried: OtpRow, nowIso: string): Promise<Outcome> {
  const otp = await endLive(trx, tenantId, tried.id, 'verified', nowIso);
  if (!otp) return { reason: 'OTP_NOT_FOUND', otp };
  await append(trx, tenantId, [{ type: 'otp.verified', payload: { otp: publicOtp(otp) } }]);
  return { reason: null, otp };
}

async function fail(trx: Db, tenantId: number, tried: OtpRow, nowIso: string): Promise<Outcome> {
  await addFailure(trx, tenantId, tried.phone_key, nowIso);
  const ended =
    tried.attempts >= MAX_ATTEMPTS ? await endLive(trx, tenantId, tried.id, 'exhausted', nowIso) : undefined;
  const otp = ended ?? tried;
  await append(trx, tenantId, [failed(otp, 'INVALID_CODE')]);
  return { reason: 'INVALID_CODE', otp };
}

async function refuse(trx: Db, tenantId: number, code: OtpRow | undefined, nowIso: string): Promise<Outcome> {
  const reason = whyNot(code, nowIso);
  if (code && reason === 'MAX_ATTEMPTS_EXCEEDED') await append(trx, tenantId, [failed(code, reason)]);
  return { reason, otp: code };
}

/** Why the last code of a number cannot even be tried. */
function whyNot(code: OtpRow | undefined, nowIso: string): Reason {
  if (!code || code.state === 'verified') return 'OTP_NOT_FOUND';
  // The job that ends codes may run on a machine whose clock is ahead of ours.
  if (code.state === 'expired' || code.expires_at <= nowIso) return 'OTP_EXPIRED';
  return code.state === 'exhausted' ? 'MAX_ATTEMPTS_EXCEEDED' : 'OTP_NOT_FOUND';
}

const failed = (otp: OtpRow, reason: 'INVALID_CODE' | 'MAX_ATTEMPTS_EXCEEDED'): NewEvent => ({
  type: 'otp.failed',
  payload: { otp: publicOtp(otp), reason },
});
