import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { sha256 } from '../../../platform/crypto.ts';

/**
 * `ply_`, 256 random bits in base 62 (43 characters), and their CRC-32 (6 characters). The checksum lets a secret scanner
 * recognise a token reliably, and lets us reject a mistyped one without a query.
 */
const PREFIX = 'ply_';
/** The same, of a staff session. */
export const SESSION_PREFIX = 'pls_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_LENGTH);

export function generateToken(prefix: typeof PREFIX | typeof SESSION_PREFIX = PREFIX): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH);
  return `${prefix}${random}${checksum(random)}`;
}

/** Whether a well-formed token is that of a staff session. */
export const isSession = (token: string): boolean => token.startsWith(SESSION_PREFIX);

/** Whether the text has the form of a token with a valid checksum. The token may still be unknown, revoked or expired. */
export function isWellFormed(token: string): boolean {
  if (
    !(token.startsWith(PREFIX) || isSession(token)) ||
    token.length !== PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH
  )
    return false;
  const random = token.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return checksum(random) === token.slice(-CHECKSUM_LENGTH);
}

/** The stored hash. A fast one suffices for 256 random bits. */
export const hashToken = (token: string): Buffer => sha256(token);

/** The last four characters, to tell tokens apart in lists. */
export const hintOf = (token: string): string => token.slice(-4);
