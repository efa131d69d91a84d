import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../platform/clock.ts';
import { newObjectId } from './wamid.ts';

export interface Media {
  readonly id: string;
  readonly phoneNumberId: string;
  readonly mimeType: string;
  readonly size: number;
  /** Base64, as in the network's webhooks. */
  readonly sha256: string;
  /** The bytes from `start` to `end`, both included. */
  open(start: number, end: number): Readable;
}

/** A file that came in and belongs to nobody yet. */
export interface Arrived extends Pick<Media, 'size' | 'sha256' | 'open'> {
  drop(): Promise<void>;
}

export interface MediaStore {
  put(phoneNumberId: string, mimeType: string, bytes: Buffer): Media;
  /** Writes a file down as it comes: a hundred megabytes in memory would look like the gateway's, which may run in this process. */
  receive(bytes: AsyncIterable<Buffer>): Promise<Arrived>;
  keep(phoneNumberId: string, mimeType: string, arrived: Arrived): Media;
  get(id: string): Media | undefined;
  remove(id: string): void;
  /** A link that works for `seconds` and then answers 404. */
  link(origin: string, media: Media, seconds: number): string;
  /** Whether a link's `ext` (Unix seconds) has not passed. */
  isFresh(ext: string | null): boolean;
  /** Removes the files. */
  close(): Promise<void>;
}

/** Uploaded and received media: a restart forgets them, as the network does after 30 (uploaded) or 7 (received) days. */
export function createMediaStore(clock: Clock): MediaStore {
  const byId = new Map<string, Media>();
  let directory: Promise<string> | undefined;
  let files = 0;

  function add(media: Omit<Media, 'id'>): Media {
    const kept = { ...media, id: newObjectId() };
    byId.set(kept.id, kept);
    return kept;
  }

  return {
    put: (phoneNumberId, mimeType, bytes) =>
      add({
        phoneNumberId,
        mimeType,
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('base64'),
        open: (start, end) => Readable.from([bytes.subarray(start, end + 1)], { objectMode: false }),
      }),
    async receive(bytes) {
      directory ??= mkdtemp(join(tmpdir(), 'parley-emulator-'));
      const path = join(await directory, String(++files));
      const hash = createHash('sha256');
      let size = 0;
      const drop = () => rm(path, { force: true });
      async function* measured() {
        for await (const piece of bytes) {
          size += piece.length;
          hash.update(piece);
          yield piece;
        }
      }
      try {
        await pipeline(measured, createWriteStream(path));
      } catch (error) {
        await drop();
        throw error;
      }
      return {
        size,
        sha256: hash.digest('base64'),
        open: (start, end) => createReadStream(path, { start, end }),
        drop,
      };
    },
    keep: (phoneNumberId, mimeType, { size, sha256, open }) => add({ phoneNumberId, mimeType, size, sha256, open }),
    get: id => byId.get(id),
    remove: id => void byId.delete(id),
    link(origin, media, seconds) {
      const ext = Math.floor(clock.now() / 1_000) + seconds;
      return `${origin}/whatsapp_business/attachments/?mid=${media.id}&ext=${ext}&hash=${encodeURIComponent(media.sha256.slice(0, 16))}`;
    },
    isFresh: ext => ext !== null && Number(ext) * 1_000 > clock.now(),
    async close() {
      if (directory) await rm(await directory, { recursive: true, force: true });
    },
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

/** What can be uploaded, in the order of the network's own refusal. It lists no `text/csv`. */
export const MEDIA_TYPES: readonly string[] = [
  'audio/aac',
  'audio/mp4',
  'audio/mpeg',
  'audio/amr',
  'audio/ogg',
  'audio/opus',
  'application/vnd.ms-powerpoint',
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/pdf',
  'text/plain',
  'application/vnd.ms-excel',
  'image/jpeg',
  'image/png',
  'image/webp',
  'video/mp4',
  'video/3gpp',
];
