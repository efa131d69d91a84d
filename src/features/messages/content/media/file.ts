import { decodeGlobalId } from '../../../../core/global-ids.ts';
import type { MediaType } from '../../../../network/network.ts';
import { DAY } from '../../../../platform/clock.ts';
import type { MessageRow } from '../../message.ts';

/** An upload, before or after its file was received. */
export type MediaRow = PendingMedia | StoredMedia;

interface MediaOfAnyState {
  readonly id: string;
  readonly channel_id: number;
  readonly created_at: string;
  /** The end of a pending upload, or of the network's copy of a stored file. */
  readonly expires_at: string;
  /** Until `expires_at`, by the database's clock; 0 or less: expired. */
  readonly lives_for_ms: number;
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

/** Location of the file of a message or of an upload. Null: only the network knows. */
export interface FileLocation {
  readonly channel_id: number;
  readonly network_media_id: string;
  readonly mime_type: string | null;
  readonly filename: string | null;
  readonly size: number | null;
  readonly sha256: string | null;
}

/** Path at which the file of an upload or of a message is served. */
export const pathOf = (id: string): string => `/media/${id}`;

/** Converts a SHA-256 digest to hex: the network uses base64 in webhooks and hex in responses. */
export function hexDigest(digest: unknown): string | null {
  if (typeof digest !== 'string') return null;
  if (/^[0-9a-f]{64}$/i.test(digest)) return digest.toLowerCase();
  const bytes = Buffer.from(digest, 'base64');
  return bytes.length === 32 ? bytes.toString('hex') : null;
}

/** The id of an upload, from a global id or a UUID. Other texts are returned unchanged, and not found by the look-up. */
export const mediaIdOf = (id: string): string => {
  const decoded = decodeGlobalId(id);
  return (decoded?.typename === 'Media' ? decoded.id : id).toLowerCase();
};

export const MAX_FILENAME = 255;

/** Removes the path from a file name, which some browsers send, and control characters. */
export function nameOnly(filename: string): string {
  const name = filename.replace(/^.*[\\/]/s, '').toWellFormed();
  return [...name.replace(/\p{Cc}/gu, '').trim()].slice(0, MAX_FILENAME).join('');
}

/** The network deletes an upload after 30 days (cloud-api §5). */
export const UPLOAD_MS = 30 * DAY;
/** A file that expires sooner is not sent: its message may wait in a queue. */
export const MIN_REMAINING_MS = DAY;

/** The file of a message, as far as it is known without a call to the network. */
export interface MessageFile {
  /** The network's id; null for a link. */
  readonly networkId: string | null;
  /** Our URL, or the link. */
  readonly url: string;
  readonly message: MessageRow;
}

const WITH_FILE: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'document', 'sticker']);

const textAt = ({ content }: MessageRow, name: string): string | null => {
  const value = content[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/** @returns null for a message without a file */
export function fileOf(message: MessageRow): MessageFile | null {
  if (!WITH_FILE.has(message.type)) return null;
  const networkId = textAt(message, 'id');
  const url = networkId === null ? textAt(message, 'link') : pathOf(message.id);
  return url === null ? null : { networkId, url, message };
}

/** Details of a file: from the message, or from the upload that it was sent from. */
export const detailsOf = ({ message }: MessageFile, upload: StoredMedia | undefined) => ({
  mediaId: upload?.id ?? null,
  mimeType: upload?.mime_type ?? textAt(message, 'mime_type'),
  filename: textAt(message, 'filename') ?? upload?.filename ?? null,
  size: upload?.size ?? null,
  sha256: upload?.sha256 ?? hexDigest(message.content['sha256']),
});
