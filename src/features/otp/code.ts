import { randomInt, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../platform/crypto.ts';
import type { OtpPlace } from './otp.ts';

/** Characters of a code; the network takes no more than 15 (cloud-api §4). */
export const MIN_CODE = 4;
export const MAX_CODE = 15;

const DIGITS = 6;

/** Six digits of a cryptographically secure generator, all 10⁶ equally likely. */
export const newCode = (): string => String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');

/** A code as it is sent and compared: people write the digits they read in groups. */
export const codeOf = (text: string): string => text.replace(/\s/g, '');

/** What is wrong with a code. Signs beyond ASCII look alike and are typed differently; `@{` begins a merge field. */
export function codeFault(code: string): string | undefined {
  if (code === '') return 'Is required.';
  return /^[!-~]+$/.test(code) && code.length >= MIN_CODE && code.length <= MAX_CODE && !code.includes('@{')
    ? undefined
    : `Must have ${MIN_CODE} to ${MAX_CODE} characters: letters (A to Z), digits and signs.`;
}

/**
 * What is stored of a code. It goes over the code's own id and place as well, so that equal codes look different, and that
 * a row which was copied elsewhere verifies nothing.
 * @returns 32 bytes
 */
export const macOf = (
  secrets: Pick<SecretBox, 'mac'>,
  tenantId: number,
  { phoneKey, purpose }: OtpPlace,
  id: string,
  code: string,
): Buffer => secrets.mac('otp', JSON.stringify([tenantId, phoneKey, purpose, id, code]));

/** Compares in constant time. */
export const isSameMac = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);
