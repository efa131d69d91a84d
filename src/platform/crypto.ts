import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

export const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** Seals secrets and computes MACs under the server's keys. */
export interface SecretBox {
  /** Prefix of every value sealed under the current key: version and key id. */
  readonly sealHeader: Buffer;
  /** Seals under the current key. */
  seal(plaintext: string): Buffer;
  /** Opens a value sealed under the current or the previous key. @throws UnknownKeyError, or an error if the value was modified */
  open(sealed: Uint8Array): string;
  /**
   * HMAC-SHA-256 for values that are compared within a day and never read back, such as short codes, whose bare hash could be
   * brute-forced. The key is derived from PARLEY_SECRET_KEY, separately for each label (HKDF, RFC 5869).
   * @returns 32 bytes
   */
  shortLivedMac(label: string, text: string): Buffer;
  /** Whether `mac` is the short-lived MAC of a text, under the current or the previous key. In constant time. */
  isShortLivedMac(label: string, text: string, mac: Uint8Array): boolean;
  /**
   * HMAC-SHA-256 for values that are compared later and may no longer be stored by then (an erased phone number). Its key belongs to
   * the database and survives a change of PARLEY_SECRET_KEY.
   * @returns 32 bytes
   */
  permanentMac(label: string, text: string): Buffer;
}

export interface SecretKeys {
  /** Used to seal and open. 32 bytes, like all keys. */
  readonly current: Uint8Array;
  /** Used to open only: the other key during a rotation. */
  readonly previous?: Uint8Array | undefined;
  /** Key of permanent MACs; belongs to the database. */
  readonly permanent?: Uint8Array | undefined;
}

/** Thrown for a value sealed under a key that this process does not have. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
  /** Fingerprint of the required key; undefined if the value does not contain it. */
  readonly fingerprint: string | undefined;

  constructor(fingerprint: string | undefined) {
    super(`The value is sealed under another key${fingerprint === undefined ? '' : ` (${fingerprint})`}.`);
    this.fingerprint = fingerprint;
  }
}

const KEY_BYTES = 32;
/** Seals of version 1 have no key id. */
const OLD_VERSION = 1;
const VERSION = 2;
const KEY_ID_BYTES = 4;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const IV_BYTES = 12;
const TAG_BYTES = 16;

const derive = (key: Uint8Array, info: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `parley ${info}`, bytes));

/** Identifies a key without revealing it: 8 hexadecimal digits. */
export const fingerprintOf = (key: Uint8Array): string => derive(key, 'key id', KEY_ID_BYTES).toString('hex');

/**
 * AES-256-GCM. Layout: version (1) · key id (4) · iv (12) · tag (16) · ciphertext; version and key id are authenticated.
 * A random iv of 96 bits is safe for 2^32 seals under one key (NIST SP 800-38D §8.3), far more than a gateway needs.
 */
export function createSecretBox({ current, previous, permanent }: SecretKeys): SecretBox {
  const keys = [current, ...(previous ? [previous] : [])];
  for (const key of [...keys, ...(permanent ? [permanent] : [])])
    if (key.length !== KEY_BYTES) throw new RangeError(`A secret key must have ${KEY_BYTES} bytes.`);
  const byFingerprint = new Map(keys.map(key => [fingerprintOf(key), key]));
  const sealHeader = Buffer.concat([Buffer.of(VERSION), derive(current, 'key id', KEY_ID_BYTES)]);
  const macKeys = new Map<Uint8Array, Map<string, KeyObject>>();

  function mac(key: Uint8Array, label: string, text: string): Buffer {
    const labels = macKeys.get(key) ?? new Map<string, KeyObject>();
    macKeys.set(key, labels);
    // A key object: from bytes, createHmac makes one at each call (14.5 µs instead of 3.3 for a phone number).
    const macKey = labels.get(label) ?? createSecretKey(derive(key, `mac ${label}`, KEY_BYTES));
    labels.set(label, macKey);
    return createHmac('sha256', macKey).update(text).digest();
  }

  function openOldVersion(sealed: Uint8Array): string {
    for (const key of keys) {
      try {
        return decrypt(key, sealed, 1);
      } catch {
        // Sealed under the other key, or modified: version 1 cannot distinguish these.
      }
    }
    throw new UnknownKeyError(undefined);
  }

  return {
    sealHeader,
    seal(plaintext) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, iv);
      cipher.setAAD(sealHeader);
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([sealHeader, iv, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed) {
      if (sealed[0] === OLD_VERSION) return openOldVersion(sealed);
      if (sealed[0] !== VERSION) throw new Error('This secret was sealed by a newer version of Parley.');
      const fingerprint = Buffer.from(sealed.subarray(1, HEADER_BYTES)).toString('hex');
      const key = byFingerprint.get(fingerprint);
      if (!key) throw new UnknownKeyError(fingerprint);
      return decrypt(key, sealed, HEADER_BYTES);
    },
    shortLivedMac: (label, text) => mac(current, label, text),
    isShortLivedMac: (label, text, given) =>
      // All keys are tried, so that the duration does not reveal which one matched.
      keys.map(key => isSame(mac(key, label, text), given)).includes(true),
    permanentMac(label, text) {
      if (!permanent) throw new Error('This secret box has no key for permanent MACs; create it with openSecretBox.');
      return mac(permanent, label, text);
    },
  };
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

/** @param headerBytes before the iv; authenticated, unless it is the bare version byte of version 1 */
function decrypt(key: Uint8Array, sealed: Uint8Array, headerBytes: number): string {
  const tagAt = headerBytes + IV_BYTES;
  // Without `authTagLength`, Node accepts truncated tags.
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(headerBytes, tagAt), {
    authTagLength: TAG_BYTES,
  });
  if (headerBytes === HEADER_BYTES) decipher.setAAD(sealed.subarray(0, HEADER_BYTES));
  decipher.setAuthTag(sealed.subarray(tagAt, tagAt + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(tagAt + TAG_BYTES)), decipher.final()]).toString('utf8');
}
