import { createHmac, timingSafeEqual } from 'node:crypto';

const PREFIX = 'sha256=';
const DIGEST_BYTES = 32;

/**
 * Whether a webhook was signed with one of our app secrets: `X-Hub-Signature-256: sha256=<lowercase hex HMAC-SHA256>` over
 * the body exactly as received. `rawBody` must be the bytes from the socket: the network escapes `/` as `\/` and
 * non-ASCII as `\uXXXX`, so a body that was parsed and serialized again has another MAC.
 *
 * Several secrets are accepted during a rotation. All of them are tried and compared in constant time, so that the duration reveals
 * neither which secret nor how many bytes matched.
 */
export function verifySignature(rawBody: Buffer, header: string | undefined, appSecrets: readonly string[]): boolean {
  if (header === undefined || !header.startsWith(PREFIX)) return false;
  const hex = header.slice(PREFIX.length);
  // Buffer.from(…, 'hex') stops silently at the first invalid character, so the format is checked before.
  if (!/^[0-9a-f]{64}$/.test(hex)) return false;
  const claimed = Buffer.from(hex, 'hex');
  let matched = false;
  for (const secret of appSecrets) {
    if (secret === '') continue; // An unset secret must not accept what anybody can sign.
    const expected = createHmac('sha256', secret).update(rawBody).digest();
    if (expected.length === DIGEST_BYTES && timingSafeEqual(expected, claimed)) matched = true;
  }
  return matched;
}

/** The value of `X-Hub-Signature-256` for a body; the emulator's half of `verifySignature`. */
export function sign(rawBody: Buffer, appSecret: string): string {
  return PREFIX + createHmac('sha256', appSecret).update(rawBody).digest('hex');
}
