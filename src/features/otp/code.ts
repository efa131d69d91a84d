import { randomInt } from 'node:crypto';
import type { FieldCode } from '../../core/errors.ts';
import type { SecretBox } from '../../platform/crypto.ts';
import type { OtpPlace } from './otp.ts';

/** Characters of a code; the network takes no more than 15 (cloud-api §4). */
export const MIN_CODE = 4;
export const MAX_CODE = 15;

const DIGITS = 6;

/** Six digits of a cryptographically secure generator, all 10⁶ equally likely. */
export const newCode = (): string => String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');

/** Normalizes a code for sending and comparison: people may type its digits in groups. */
export const codeOf = (text: string): string => text.replace(/\s/g, '');

/** The violated rule of a code. ASCII only, because other characters may look alike; `@{` starts a merge field. */
export function codeFault(code: string): { readonly message: string; readonly code: FieldCode } | undefined {
  if (code === '') return { message: 'Is required.', code: 'REQUIRED' };
  const message = `Must have ${MIN_CODE} to ${MAX_CODE} characters: letters (A to Z), digits and signs.`;
  if (!/^[!-~]+$/.test(code) || code.includes('@{')) return { message, code: 'INVALID' };
  if (code.length < MIN_CODE) return { message, code: 'TOO_SHORT' };
  return code.length > MAX_CODE ? { message, code: 'TOO_LONG' } : undefined;
}

/**
 * The stored HMAC of a code. It includes the row's id and place, so that equal codes have different values and a copied row does
 * not verify.
 * @returns 32 bytes
 */
export const macOf = (
  secrets: Pick<SecretBox, 'shortLivedMac'>,
  tenantId: number,
  place: OtpPlace,
  id: string,
  code: string,
): Buffer => secrets.shortLivedMac(LABEL, macText(tenantId, place, id, code));

/** Whether a MAC is that of a code, under the current or the previous secret key: codes in flight survive a rotation. */
export const isMacOf = (
  mac: Uint8Array,
  secrets: Pick<SecretBox, 'isShortLivedMac'>,
  tenantId: number,
  place: OtpPlace,
  id: string,
  code: string,
): boolean => secrets.isShortLivedMac(LABEL, macText(tenantId, place, id, code), mac);

const LABEL = 'otp';

const macText = (tenantId: number, { phoneKey, purpose }: OtpPlace, id: string, code: string): string =>
  JSON.stringify([tenantId, phoneKey, purpose, id, code]);
