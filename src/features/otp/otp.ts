import type { MessageRow } from '../messages/message.ts';

/** Why a code can be verified, or cannot any more. `sending` is never shown: its message is not accepted yet. */
export const STATES = ['live', 'verified', 'exhausted', 'replaced', 'failed', 'expired'] as const;
export type OtpState = (typeof STATES)[number] | 'sending';

/** A one-time password as events and webhooks carry it. The code is no part of it. */
export interface PublicOtp {
  readonly id: string;
  /** E.164 */
  readonly phone: string;
  readonly contact_id: number | null;
  readonly message_id: string | null;
  readonly purpose: string;
  readonly template_name: string;
  readonly language: string;
  readonly state: OtpState;
  /** How often it was tried. */
  readonly attempts: number;
  readonly expiry_minutes: number;
  readonly expires_at: string;
  readonly created_at: string;
  readonly verified_at: string | null;
}

export interface OtpRow extends PublicOtp {
  readonly phone_key: string;
  readonly mac: Buffer;
}

export const OTP_COLUMNS = [
  'id',
  'phone',
  'contact_id',
  'message_id',
  'purpose',
  'template_name',
  'language',
  'state',
  'attempts',
  'expiry_minutes',
  'expires_at',
  'created_at',
  'verified_at',
] as const satisfies readonly (keyof PublicOtp)[];

/** A code that was sent, as its sender sees it. */
export interface SentOtp extends PublicOtp {
  /** As the network has answered by then; undefined: to be read. */
  readonly message?: MessageRow;
  /** On a sandbox channel alone, and only in the answer of the request that made it. */
  readonly sandbox_code?: string | null;
  /** Where the sender wanted to be told, and only in the answer of the request that made it. */
  readonly code?: string | null;
}

/** The event payload of a row: its public columns and no others. */
export function publicOtp(row: OtpRow): PublicOtp {
  const { phone_key: _key, mac: _mac, ...otp } = row;
  return otp;
}

/** Whom a code is for, and what for: there is one live code of each. */
export interface OtpPlace {
  readonly phoneKey: string;
  readonly purpose: string;
}

/** Tries of one code, right or wrong. The table's `otps_attempts_bounded` says the same. */
export const MAX_ATTEMPTS = 5;

export const attemptsRemaining = ({ attempts }: Pick<PublicOtp, 'attempts'>): number => MAX_ATTEMPTS - attempts;
