import { FieldErrorList } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf } from '../../core/principal.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Context } from '../../schema/context.ts';
import { attemptsRemaining } from './otp.ts';
import { readPlace } from './request.ts';
import { lastCode } from './store.ts';

/** State of the last code of a phone number and purpose. */
export interface OtpStatus {
  readonly phone: string;
  readonly purpose: string;
  readonly isActive: boolean;
  readonly isExpired: boolean;
  readonly expiresAt: string | null;
  /** Whole seconds; 0 without an active code. */
  readonly expiresInSeconds: number;
  readonly attempts: number;
  readonly attemptsRemaining: number;
  readonly createdAt: string | null;
}

/** Reads the state of the last code, without counting as an attempt. A verified code counts as none. @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE */
export async function otpStatus(
  context: Context,
  input: { readonly phone: string; readonly purpose?: string | null | undefined },
): Promise<OtpStatus> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'otp');
  const errors = new FieldErrorList();
  const place = readPlace(input, errors);
  errors.throwIfAny();
  const last = await lastCode(context.db.read, tenant.id, place);
  const code = last?.state === 'verified' ? undefined : last;
  const msLeft = code?.left_ms ?? 0;
  const isActive = code?.state === 'live' && msLeft > 0;
  return {
    phone: place.phone,
    purpose: place.purpose,
    isActive,
    isExpired: code !== undefined && msLeft <= 0,
    expiresAt: code?.expires_at ?? null,
    expiresInSeconds: isActive ? Math.ceil(msLeft / SECOND) : 0,
    attempts: code?.attempts ?? 0,
    attemptsRemaining: isActive ? attemptsRemaining(code) : 0,
    createdAt: code?.created_at ?? null,
  };
}
