import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock } from '../platform/clock.ts';
import { newObjectId } from './wamid.ts';

export interface Media {
  readonly id: string;
  readonly phoneNumberId: string;
  readonly mimeType: string;
  readonly size: number;
  /** In base64, as in webhooks. */
  readonly sha256: string;
  /** The bytes from `start` to `end`, inclusive. */
  open(start: number, end: number): Readable;
}

/** A received file that has not been stored under an id. */
export interface ReceivedFile extends Pick<Media, 'size' | 'sha256' | 'open'> {
  drop(): Promise<void>;
}

export interface MediaStore {
  put(phoneNumberId: string, mimeType: string, bytes: Buffer): Media;
  /** Writes a file to disk as a stream: in memory it would distort the memory usage of a gateway in the same process. */
  receive(bytes: AsyncIterable<Buffer>): Promise<ReceivedFile>;
  keep(phoneNumberId: string, mimeType: string, file: ReceivedFile): Media;
  get(id: string): Media | undefined;
  remove(id: string): void;
  /** A link that is valid for `seconds` and then returns 404. */
  link(origin: string, media: Media, seconds: number): string;
  /** Whether a link's expiry `ext` (Unix seconds) is in the future. */
  isFresh(ext: string | null): boolean;
  /** Removes the files. */
  close(): Promise<void>;
}

/** Uploaded and received media. Lost at a restart; the network deletes them after 30 (uploaded) or 7 (received) days. */
export function createMediaStore(clock: Clock): MediaStore {
  const byId = new Map<string, Media>();
  const files = new Map<string, ReceivedFile>();

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
      const handle = await anonymousFile();
      const hash = createHash('sha256');
      let size = 0;
      try {
        for await (const piece of bytes) {
          await handle.write(piece);
          hash.update(piece);
          size += piece.length;
        }
      } catch (error) {
        await handle.close();
        throw error;
      }
      return {
        size,
        sha256: hash.digest('base64'),
        open: (start, end) => Readable.from(slices(handle, start, end), { objectMode: false }),
        drop: () => handle.close(),
      };
    },
    keep: (phoneNumberId, mimeType, file) => {
      const media = add({ phoneNumberId, mimeType, size: file.size, sha256: file.sha256, open: file.open });
      files.set(media.id, file);
      return media;
    },
    get: id => byId.get(id),
    remove(id) {
      byId.delete(id);
      void files.get(id)?.drop();
      files.delete(id);
    },
    link(origin, media, seconds) {
      const ext = Math.floor(clock.now() / 1_000) + seconds;
      return `${origin}/whatsapp_business/attachments/?mid=${media.id}&ext=${ext}&hash=${encodeURIComponent(media.sha256.slice(0, 16))}`;
    },
    isFresh: ext => ext !== null && Number(ext) * 1_000 > clock.now(),
    async close() {
      await Promise.all([...files.values()].map(file => file.drop()));
      files.clear();
    },
  };
}

const SLICE_BYTES = 64 * 1024;

/** Not Node's file streams, which close the file when they end. */
async function* slices(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at <= end; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(SLICE_BYTES, end - at + 1)), {
      position: at,
    });
    if (bytesRead === 0) throw new Error('The stored file was truncated.');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** An unlinked file: deleted when the process ends, even if it is killed. */
async function anonymousFile(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-emulator-'));
  try {
    return await open(join(directory, 'media'), 'w+');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Largest uploads by kind of media, bytes (Meta's media page). */
export const MEDIA_MAX_BYTES: readonly (readonly [prefix: string, bytes: number])[] = [
  ['image/webp', 500 * 1024],
  ['image/', 5 * 1024 * 1024],
  ['audio/', 16 * 1024 * 1024],
  ['video/', 16 * 1024 * 1024],
  ['', 100 * 1024 * 1024],
];

/** Media types that can be uploaded, in the order of the network's error message, which lacks `text/csv`. */
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
