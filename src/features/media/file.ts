import { decodeGlobalId } from '../../global-ids.ts';
import type { MediaType } from '../../network/network.ts';

/** A file that was handed to the network, or is about to be. */
export type MediaRow = PendingMedia | StoredMedia;

interface MediaOfAnyState {
  readonly id: string;
  readonly channel_id: number;
  readonly created_at: string;
  /** After it, a pending row takes no file any more, and the network has forgotten a stored one. */
  readonly expires_at: string;
}

export interface PendingMedia extends MediaOfAnyState {
  readonly state: 'pending';
  readonly kind: MediaType | null;
  readonly filename: string | null;
  readonly mime_type: string | null;
  readonly size: null;
  readonly sha256: null;
  readonly network_media_id: null;
}

export interface StoredMedia extends MediaOfAnyState {
  readonly state: 'stored';
  readonly kind: MediaType;
  readonly filename: string;
  readonly mime_type: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly network_media_id: string;
}

/** Where a file lies that a message carries or that was uploaded. What the network alone knows is null. */
export interface FilePlace {
  readonly channel_id: number;
  readonly network_media_id: string;
  readonly mime_type: string | null;
  readonly filename: string | null;
  readonly size: number | null;
  readonly sha256: string | null;
}

/** Where `GET /media/{id}` serves the file of an upload or of a message, on the server that answers GraphQL. */
export const pathOf = (id: string): string => `/media/${id}`;

/** SHA-256 in hex: the network writes base64 in webhooks and hex in answers. */
export function hexDigest(digest: unknown): string | null {
  if (typeof digest !== 'string') return null;
  if (/^[0-9a-f]{64}$/i.test(digest)) return digest.toLowerCase();
  const bytes = Buffer.from(digest, 'base64');
  return bytes.length === 32 ? bytes.toString('hex') : null;
}

/** The id of an upload, written as a global id or a UUID. What can be no id of ours is left as it is, and found to be nobody's. */
export const mediaIdOf = (id: string): string => {
  const decoded = decodeGlobalId(id);
  return (decoded?.typename === 'Media' ? decoded.id : id).toLowerCase();
};

export const MAX_FILENAME = 255;

/** The name alone of what a client calls a file: browsers have sent whole paths. */
export function nameOnly(filename: string): string {
  const name = filename.replace(/^.*[\\/]/s, '').toWellFormed();
  return [...name.replace(/\p{Cc}/gu, '').trim()].slice(0, MAX_FILENAME).join('');
}
