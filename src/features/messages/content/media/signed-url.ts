import { isUuid } from '../../../../core/ids.ts';
import { MINUTE } from '../../../../platform/clock.ts';
import type { SecretBox } from '../../../../platform/crypto.ts';

/** `media`: the file of a message or of an upload; `thumbnail`: a small picture of it; `export`: an exported file. */
export type SignedKind = 'media' | 'thumbnail' | 'export';

export interface FileRef {
  readonly tenantId: number;
  /** Id of the message, of the upload or of the export. */
  readonly id: string;
  /** Default: `media`. */
  readonly kind?: SignedKind;
  /** Of a thumbnail: its width in pixels. */
  readonly width?: number;
}

export interface SignedUrl {
  /** Relative to this server, or absolute if PARLEY_PUBLIC_URL is set. */
  readonly url: string;
  readonly expiresAtMs: number;
}

type Signer = Pick<SecretBox, 'shortLivedMac' | 'isShortLivedMac'>;

/** Within it, a file has one URL, so that browsers cache the file. */
const QUARTER_MS = 15 * MINUTE;
/** Paths of the routes that serve signed URLs, without a token. */
export const SIGNED_PATHS: Readonly<Record<SignedKind, string>> = {
  media: '/media/signed',
  thumbnail: '/media/thumbnails',
  export: '/exports/signed',
};

/** A signature is valid for one kind of file. */
const LABELS: Readonly<Record<SignedKind, string>> = {
  media: 'media url',
  thumbnail: 'thumbnail url',
  export: 'export url',
};

/** The width is a part of the path, and of what is signed. */
const labelOf = (kind: SignedKind, width: number | undefined): string =>
  width === undefined ? LABELS[kind] : `${LABELS[kind]} ${width}`;
const MAC_BYTES = 32;
const TENANT_BYTES = 6;
const ID_BYTES = 16;
const QUARTER_BYTES = 4;
const SIGNED_BYTES = TENANT_BYTES + ID_BYTES + QUARTER_BYTES;

/**
 * The URL of a file for `<img>`, which sends no token. Valid for 15 to 30 minutes, and the same for all calls within a quarter of an
 * hour. Makes no statement: whether the file exists is checked when it is fetched, so erasure ends all its URLs.
 */
export function signUrl(
  secrets: Signer,
  { tenantId, id, kind = 'media', width }: FileRef,
  nowMs: number,
  publicUrl = '',
): SignedUrl {
  const lastQuarter = Math.floor(nowMs / QUARTER_MS) + 1;
  const signed = Buffer.alloc(SIGNED_BYTES);
  signed.writeUIntBE(tenantId, 0, TENANT_BYTES);
  signed.write(id.replaceAll('-', ''), TENANT_BYTES, 'hex');
  signed.writeUInt32BE(lastQuarter, TENANT_BYTES + ID_BYTES);
  const mac = secrets.shortLivedMac(labelOf(kind, width), signed.toString('hex'));
  const token = Buffer.concat([signed, mac]).toString('base64url');
  const path = width === undefined ? SIGNED_PATHS[kind] : `${SIGNED_PATHS[kind]}/${width}`;
  return { url: `${publicUrl}${path}/${token}`, expiresAtMs: endOf(lastQuarter) };
}

/** Verifies the last segment of a signed URL. @returns undefined if it is forged, malformed or expired */
export function verifySigned(
  secrets: Signer,
  token: string,
  nowMs: number,
  kind: SignedKind = 'media',
  width?: number,
): (FileRef & { readonly expiresAtMs: number }) | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // One spelling per URL: Buffer ignores characters outside the alphabet.
  if (bytes.length !== SIGNED_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined;
  const signed = bytes.subarray(0, SIGNED_BYTES);
  if (!secrets.isShortLivedMac(labelOf(kind, width), signed.toString('hex'), bytes.subarray(SIGNED_BYTES)))
    return undefined;
  const expiresAtMs = endOf(signed.readUInt32BE(TENANT_BYTES + ID_BYTES));
  const id = signed
    .toString('hex', TENANT_BYTES, TENANT_BYTES + ID_BYTES)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return nowMs < expiresAtMs && isUuid(id)
    ? { tenantId: signed.readUIntBE(0, TENANT_BYTES), id, expiresAtMs }
    : undefined;
}

const endOf = (lastQuarter: number): number => (lastQuarter + 1) * QUARTER_MS;
