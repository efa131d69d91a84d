import type { Context } from '../../context.ts';
import { FieldErrorList } from '../../errors.ts';
import { SECOND } from '../../platform/clock.ts';
import { callerOf } from '../caller.ts';
import { requireFeature } from '../tenants/feature.ts';
import { attemptsRemaining } from './otp.ts';
import { readPlace } from './request.ts';
import { lastCode } from './store.ts';

/** How it stands with the last code of a phone number and purpose. */
export interface OtpStanding {
  readonly phone: string;
  readonly purpose: string;
  readonly isActive: boolean;
  readonly isExpired: boolean;
  readonly expiresAt: string | null;
  /** Whole seconds, 0 when there is nothing to wait for. */
  readonly expiresInSeconds: number;
  readonly attempts: number;
  readonly attemptsRemaining: number;
  readonly createdAt: string | null;
}

/** Tells how it stands, and changes nothing. A code that was verified is gone. @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE */
export async function otpStatus(
  context: Context,
  input: { readonly phone: string; readonly purpose?: string | null | undefined },
): Promise<OtpStanding> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'otp');
  const errors = new FieldErrorList();
  const place = readPlace(input, errors);
  errors.throwIfAny();
  const last = await lastCode(context.db.read, tenant.id, place);
  const code = last?.state === 'verified' ? undefined : last;
  const msLeft = code ? Date.parse(code.expires_at) - context.clock.now() : 0;
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
