import { FieldErrorList } from '../../core/errors.ts';
import type { Phone } from '../../platform/phone.ts';
import { PHONE_ERROR, phoneOf } from '../contacts/contact.ts';
import { languageOf } from '../templates/template.ts';
import { codeFault, codeOf, newCode } from './code.ts';
import { MAX_EXPIRY_MINUTES, type OtpPlace } from './otp.ts';

export type SendKind = 'send' | 'resend';

/** Input of `sendOtp` and `resendOtp`. */
export interface SendOtpInput {
  readonly phone: string;
  /** If given, the number must belong to this contact. */
  readonly contactId?: number | null | undefined;
  readonly templateName: string;
  readonly language?: string | null | undefined;
  /** Generated if omitted. */
  readonly code?: string | null | undefined;
  readonly expiryMinutes?: number | null | undefined;
  readonly purpose?: string | null | undefined;
  /** Whether the response contains the code. */
  readonly tellCode?: boolean | null | undefined;
  readonly channelId?: number | null | undefined;
  readonly waitForAcceptance?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** The same with ids as the caller gave them: global ids or database ids. */
export type GivenOtpInput = Omit<SendOtpInput, 'contactId' | 'channelId'> & {
  readonly contactId?: string | null | undefined;
  readonly channelId?: string | null | undefined;
};

export interface OtpRequest extends OtpPlace {
  readonly phone: string;
  readonly templateName: string;
  readonly language: string;
  readonly code: string;
  readonly expiryMinutes: number;
}

export const DEFAULTS = { language: 'en', expiryMinutes: 10, purpose: 'authentication' } as const;
export const MAX_PURPOSE = 50;

type GivenRequest = Omit<SendOtpInput, 'contactId' | 'channelId'>;

/** Validates the input and applies defaults. @throws VALIDATION_ERROR with all errors by field */
export function readSend(input: GivenRequest): OtpRequest {
  const errors = new FieldErrorList();
  const place = readPlace(input, errors);
  const code = input.code == null ? newCode() : codeOf(input.code);
  const fault = codeFault(code);
  if (fault !== undefined) errors.add('code', fault.message, fault.code);
  const expiryMinutes = input.expiryMinutes ?? DEFAULTS.expiryMinutes;
  if (expiryMinutes < 1 || expiryMinutes > MAX_EXPIRY_MINUTES)
    errors.add('expiryMinutes', `Must be 1 to ${MAX_EXPIRY_MINUTES} minutes.`, 'OUT_OF_RANGE');
  const template = templateOf(input);
  if (template.templateName === '') errors.add('templateName', 'Is required.', 'REQUIRED');
  errors.throwIfAny();
  return { ...place, ...template, code, expiryMinutes };
}

/** Name and language of the template. */
export const templateOf = ({ templateName, language }: GivenRequest) => ({
  templateName: templateName.trim(),
  language: languageOf(language ?? DEFAULTS.language),
});

/** Parses recipient and purpose; violations are added to `errors`. */
export function readPlace(
  input: Pick<SendOtpInput, 'phone' | 'purpose'>,
  errors: FieldErrorList,
): OtpPlace & { readonly phone: string } {
  const phone: Phone | undefined = phoneOf(input.phone);
  if (!phone) errors.add('phone', PHONE_ERROR);
  const purpose = (input.purpose ?? DEFAULTS.purpose).trim().toLowerCase();
  if (!/^[a-z0-9][a-z0-9_.-]*$/.test(purpose) || purpose.length > MAX_PURPOSE)
    errors.add('purpose', `Must be a word of at most ${MAX_PURPOSE} characters: a to z, 0 to 9, _ . and -.`);
  return { phone: phone?.e164 ?? '', phoneKey: phone?.key ?? '', purpose };
}
