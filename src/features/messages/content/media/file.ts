import { bareId } from '../../../../core/global-ids.ts';
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
  /** In the file store; null: only the network has the file. */
  readonly storage_key: string | null;
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
export const mediaIdOf = (tenantId: number, id: string): string => (bareId(tenantId, 'Media', id) ?? id).toLowerCase();

export const MAX_FILENAME = 255;

/** Removes the path from a file name, which some browsers send, and control characters. */
export function nameOnly(filename: string): string {
  const name = filename.replace(/^.*[\\/]/s, '').toWellFormed();
  return [...name.replace(/\p{Cc}/gu, '').trim()].slice(0, MAX_FILENAME).join('');
}

/** The network deletes an upload after 30 days (cloud-api §5). */
export const UPLOAD_MS = 30 * DAY;
/** The network deletes a received file after 7 days. */
export const RECEIVED_MS = 7 * DAY;
/** A file that expires sooner is not sent: its message may wait in a queue. */
export const MIN_REMAINING_MS = DAY;

/** Why an upload cannot be sent at an instant; undefined if it can. @param expiresAt when the network deletes it */
export const goneFault = (expiresAt: string, scheduledAt: string): string | undefined =>
  Date.parse(scheduledAt) + MIN_REMAINING_MS > Date.parse(expiresAt)
    ? `The network deletes the upload at ${new Date(expiresAt).toISOString()}: schedule the message for at least a day before, or give a link.`
    : undefined;

/** The file of a message, as far as it is known without a call to the network. */
export interface MessageFile<Message = MessageRow> {
  readonly kind: MediaType;
  /** The network's id; null for a link. */
  readonly networkId: string | null;
  /** The link that was sent, from which the network downloads the file; null for a file that this gateway serves. */
  readonly link: string | null;
  readonly message: Message;
}

const WITH_FILE: ReadonlySet<string> = new Set<MediaType>(['image', 'video', 'audio', 'document', 'sticker']);
const isFileKind = (type: string): type is MediaType => WITH_FILE.has(type);

const textAt = ({ content }: Pick<MessageRow, 'content'>, name: string): string | null => {
  const value = content[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/** @returns null for a message without a file */
export function fileOf<Message extends Pick<MessageRow, 'type' | 'content'>>(
  message: Message,
): MessageFile<Message> | null {
  const { type: kind } = message;
  if (!isFileKind(kind)) return null;
  const networkId = textAt(message, 'id');
  const link = networkId === null ? textAt(message, 'link') : null;
  return networkId === null && link === null ? null : { kind, networkId, link, message };
}

/** The file of stored content that has not been sent. */
export interface DraftFile extends MessageFile<Pick<MessageRow, 'id' | 'content'>> {
  /** Null for a link. */
  readonly uploadId: string | null;
}

/** @param file one of both: the bare id of an upload, or a link */
export const draftFileOf = (
  kind: MediaType,
  { mediaId, link }: { readonly mediaId?: string | null | undefined; readonly link?: string | null | undefined },
  filename?: string | null,
): DraftFile => ({
  kind,
  networkId: null,
  link: link ?? null,
  uploadId: mediaId ?? null,
  message: { id: mediaId ?? '', content: filename == null ? {} : { filename } },
});

/** State of the file of a message. */
export interface FileState {
  readonly message_id: string;
  readonly state: 'waiting' | 'kept' | 'lost' | 'expired' | null;
  readonly mime_type: string | null;
  readonly size: number | null;
  /** Hex. */
  readonly sha256: string | null;
  /** Of the upload that was sent; null for other files. */
  readonly upload_id: string | null;
  readonly upload_filename: string | null;
  /** Time until the network deletes the file; null if unknown. */
  readonly lives_for_ms: number | null;
}

/** A file as `MessageMedia` shows it. */
export type FileContent = MessageFile<Pick<MessageRow, 'id' | 'content'>> | DraftFile;

/** Whether the file of a message is kept, or the network is expected to have it. */
export const isAvailable = (state: FileState | undefined): boolean =>
  state?.state === 'kept' || (state?.state !== 'lost' && state?.state !== 'expired' && (state?.lives_for_ms ?? 0) > 0);

/** Details of a file: from the message, from what is kept, or from the upload that was sent. */
export const detailsOf = ({ message }: FileContent, state: FileState | undefined) => ({
  mediaId: state?.upload_id ?? null,
  mimeType: textAt(message, 'mime_type') ?? state?.mime_type ?? null,
  filename: textAt(message, 'filename') ?? state?.upload_filename ?? null,
  size: state?.size ?? null,
  sha256: state?.sha256 ?? hexDigest(message.content['sha256']),
});
