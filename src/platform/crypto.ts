import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** What one secret key protects at rest. */
export interface SecretBox {
  seal(plaintext: string): Buffer;
  /** Throws when the value was sealed under another key or has been changed. */
  open(sealed: Uint8Array): string;
  /**
   * HMAC-SHA-256, for what is compared and never read back: short codes, which a bare hash would give away to anybody who
   * tries them all. Each label has a key of its own (HKDF, RFC 5869), so that one use says nothing about another.
   * @returns 32 bytes
   */
  mac(label: string, text: string): Buffer;
}

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM under a key of 32 bytes. Layout: version (1) · iv (12) · tag (16) · ciphertext.
 * A random iv of 96 bits is safe for 2^32 seals under one key (NIST SP 800-38D §8.3): far more than a gateway has secrets.
 */
export function createSecretBox(key: Uint8Array): SecretBox {
  if (key.length !== 32) throw new RangeError('The secret key must have 32 bytes.');
  const macKeys = new Map<string, Buffer>();
  const macKey = (label: string): Buffer => {
    const known = macKeys.get(label) ?? Buffer.from(hkdfSync('sha256', key, '', `parley mac ${label}`, 32));
    macKeys.set(label, known);
    return known;
  };
  return {
    seal(plaintext) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed) {
      if (sealed[0] !== VERSION) throw new Error('This secret was sealed by a newer version.');
      // Node takes a tag that was cut short for a shorter tag, unless it is told how long tags are.
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(1 + IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    },
    mac: (label, text) => createHmac('sha256', macKey(label)).update(text).digest(),
  };
}
