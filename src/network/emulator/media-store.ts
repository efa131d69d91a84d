import { createHash } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import { newObjectId } from './wamid.ts';

export interface Media {
  readonly id: string;
  readonly phoneNumberId: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
  /** Base64, as in the network's webhooks and answers. */
  readonly sha256: string;
}

export interface MediaStore {
  put(phoneNumberId: string, mimeType: string, bytes: Buffer): Media;
  get(id: string): Media | undefined;
  remove(id: string): void;
  /** A link that works for `seconds` and then answers 404. */
  link(origin: string, media: Media, seconds: number): string;
  /** Whether a link's `ext` (Unix seconds) has not passed. */
  isFresh(ext: string | null): boolean;
}

/** Uploaded and received media, in memory: a restart forgets them, as the network does after 30 (uploaded) or 7 (received) days. */
export function createMediaStore(clock: Clock): MediaStore {
  const byId = new Map<string, Media>();
  return {
    put(phoneNumberId, mimeType, bytes) {
      const sha256 = createHash('sha256').update(bytes).digest('base64');
      const media: Media = { id: newObjectId(), phoneNumberId, mimeType, bytes, sha256 };
      byId.set(media.id, media);
      return media;
    },
    get: id => byId.get(id),
    remove: id => void byId.delete(id),
    link(origin, media, seconds) {
      const ext = Math.floor(clock.now() / 1_000) + seconds;
      return `${origin}/whatsapp_business/attachments/?mid=${media.id}&ext=${ext}&hash=${encodeURIComponent(media.sha256.slice(0, 16))}`;
    },
    isFresh: ext => ext !== null && Number(ext) * 1_000 > clock.now(),
  };
}

/** Largest uploads by kind of media, bytes (Meta's media page). */
export const MEDIA_MAX_BYTES: readonly (readonly [prefix: string, bytes: number])[] = [
  ['image/webp', 500 * 1024],
  ['image/', 5 * 1024 * 1024],
  ['audio/', 16 * 1024 * 1024],
  ['video/', 16 * 1024 * 1024],
  ['', 100 * 1024 * 1024],
];
