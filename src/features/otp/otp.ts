import type { MessageRow } from '../messages/message.ts';

/** Public states of a code. `sending` is internal: the message is not accepted yet. */
export const STATES = ['live', 'verified', 'exhausted', 'replaced', 'failed', 'expired'] as const;
export type OtpState = (typeof STATES)[number] | 'sending';
/** States in which a code verifies nothing any more. */
export type EndedState = Exclude<OtpState, 'sending' | 'live'>;
/** Why the message of a code is not sent: the code's state, or `moved` if its contact has another number now. */
export type DeadCode = EndedState | 'moved';

/** A one-time password without the code. */
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
  /** Number of verification attempts. */
  readonly attempts: number;
  readonly expiry_minutes: number;
  readonly expires_at: string;
  readonly created_at: string;
  readonly verified_at: string | null;
}

/** A one-time password in events. `chat_message_id`: as in REST, where `message_id` is the network's id of the message. */
export type EventOtp = Omit<PublicOtp, 'message_id'> & { readonly chat_message_id: string | null };

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

export const ROW_COLUMNS = [...OTP_COLUMNS, 'phone_key', 'mac'] as const satisfies readonly (keyof OtpRow)[];

/** A sent code, as the response of the request that sent it has it. */
export interface SentOtp extends PublicOtp {
  /** Its message, if it was already read. */
  readonly message?: MessageRow;
  /** Only on a sandbox channel, and only in the first response. */
  readonly sandbox_code?: string | null;
  /** Only if requested by `tellCode`, and only in the first response. */
  readonly code?: string | null;
}

/** The public columns of a row. */
export const publicOtp = (row: PublicOtp): PublicOtp =>
  Object.fromEntries(OTP_COLUMNS.map(column => [column, row[column]])) as unknown as PublicOtp;

/** A row as events show it. */
export function eventOtp(row: PublicOtp): EventOtp {
  const { message_id, ...otp } = publicOtp(row);
  return { ...otp, chat_message_id: message_id };
}

/** The recipient and purpose of a code; each place has at most one live code. */
export interface OtpPlace {
  readonly phoneKey: string;
  readonly purpose: string;
}

export const MAX_EXPIRY_MINUTES = 60;

/** Maximum number of verification attempts per code; also the table's constraint `otps_attempts_bounded`. */
export const MAX_ATTEMPTS = 5;

export const attemptsRemaining = ({ attempts }: Pick<PublicOtp, 'attempts'>): number => MAX_ATTEMPTS - attempts;
