import type { MessageRow } from '../messages/message.ts';
import { hexDigest, pathOf, type StoredMedia } from './file.ts';

/** The file of a message, as far as we know it without asking the network. */
export interface MessageFile {
  /** The network's id of it; null where a link was sent. */
  readonly networkId: string | null;
  /** Where we serve it, or the link. */
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

/** What a message says of its file, or else the upload that it was sent from. */
export const detailsOf = ({ message }: MessageFile, upload: StoredMedia | undefined) => ({
  mediaId: upload?.id ?? null,
  mimeType: upload?.mime_type ?? textAt(message, 'mime_type'),
  filename: textAt(message, 'filename') ?? upload?.filename ?? null,
  size: upload?.size ?? null,
  sha256: upload?.sha256 ?? hexDigest(message.content['sha256']),
});
