import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { CodedError } from '../../../../../core/errors.ts';
import type { MediaDownload } from '../../../../../network/network.ts';
import { SECOND } from '../../../../../platform/clock.ts';
import { FileStoreError } from '../../../../../platform/files/file-store.ts';
import { KeyedSemaphore, QueueOverload } from '../../../../../platform/keyed-semaphore.ts';
import type { Resources } from '../../../../../schema/context.ts';
import { dropKeys, reserveKey, takeKey } from '../keeping/contents.sql.ts';
import { RESERVED_MS } from '../keeping/sweep.ts';
import type { MediaReader, RemoteFile } from '../open.ts';
import { openKept } from '../open-kept.ts';
import { loadShrink, readPicture, type Shrink, type Width } from './shrink.ts';
import { deleteThumbnail, findThumbnail, insertThumbnail } from './thumbnails.sql.ts';

/** Pictures that a process makes at once: each takes a core, and up to 100 MB. */
const MAKING = { concurrency: 2, maxWaiting: 200, timeoutMs: 20 * SECOND };

export interface Thumbnails {
  /**
   * A small picture of a file, from the store, or made now. A file that is no picture, is too large, or cannot be read as one is
   * returned as it is.
   * @throws NOT_FOUND, SERVICE_UNAVAILABLE
   */
  find(tenantId: number, id: string, width: Width): Promise<RemoteFile>;
}

export function createThumbnails(resources: Pick<Resources, 'db' | 'files' | 'log'>, reader: MediaReader): Thumbnails {
  const { db, files, log } = resources;
  const semaphore = new KeyedSemaphore(MAKING);
  /** Thumbnails in progress: concurrent requests share one. */
  const making = new Map<string, Promise<Buffer | undefined>>();
  let shrink: Promise<Shrink | undefined> | undefined;

  const loaded = (): Promise<Shrink | undefined> => {
    shrink ??= loadShrink().catch((error: unknown) => {
      log.warn({ err: error }, 'this platform has no image library: thumbnails are whole pictures');
      return undefined;
    });
    return shrink;
  };

  async function make(original: RemoteFile, width: Width): Promise<Buffer | undefined> {
    const library = await loaded();
    if (!library) return undefined;
    const { status, stream } = await original.open(undefined);
    if (status !== 200) stream.destroy();
    const picture = status === 200 ? await readPicture(stream) : undefined;
    if (!picture) return undefined;
    return library(picture, width).catch((error: unknown) => {
      // The sender chooses the content: a broken picture is no fault of the gateway.
      log.debug({ err: error }, 'a picture cannot be made smaller');
      return undefined;
    });
  }

  /** The next one who looks makes it again if this fails. */
  async function store(tenantId: number, sha256: string, width: Width, picture: Buffer): Promise<void> {
    const spooled = await files.receive(Readable.from([picture]), picture.length);
    try {
      const storageKey = `${tenantId}/${sha256.slice(0, 2)}/${sha256}-${width}-${randomUUID()}`;
      await reserveKey(db.write, tenantId, storageKey, RESERVED_MS);
      await files.put(storageKey, spooled);
      await db.transaction(async trx => {
        const row = { storage_key: storageKey, size: picture.length };
        const isUsed = await insertThumbnail(trx, tenantId, sha256, width, row);
        if (!isUsed) await dropKeys(trx, tenantId, [storageKey]);
        else if (!(await takeKey(trx, tenantId, storageKey)))
          throw new FileStoreError('storing a thumbnail', new Error('the process was suspended'));
      });
    } finally {
      await spooled.discard();
    }
  }

  async function made(tenantId: number, original: RemoteFile, width: Width): Promise<Buffer | undefined> {
    const picture = await semaphore.run('thumbnails', () => make(original, width));
    if (picture && original.sha256 !== undefined)
      await store(tenantId, original.sha256, width, picture).catch((error: unknown) => {
        if (!(error instanceof FileStoreError)) throw error;
        log.error({ err: error, tenantId }, 'a thumbnail cannot be stored');
      });
    return picture;
  }

  async function stored(tenantId: number, sha256: string, width: Width): Promise<RemoteFile | undefined> {
    const row = await findThumbnail(db.read, tenantId, sha256, width);
    if (!row) return undefined;
    const opened = await openKept(files, row.storage_key, row.size, undefined).catch((error: unknown) => {
      if (!(error instanceof FileStoreError)) throw error;
      log.error({ err: error, tenantId }, 'a thumbnail cannot be read; making it from the picture');
      return 'unreadable' as const;
    });
    if (opened === 'unreadable') return undefined;
    if (!opened) {
      await deleteThumbnail(db.write, tenantId, row.storage_key, sha256);
      return undefined;
    }
    return pictureOf(row.size, () => opened);
  }

  return {
    async find(tenantId, id, width) {
      const original = await reader.find(tenantId, id, false);
      if (!original.mimeType.startsWith('image/')) return original;
      const { sha256 } = original;
      const found = sha256 === undefined ? undefined : await stored(tenantId, sha256, width);
      if (found) return found;
      const key = `${tenantId} ${sha256 ?? id} ${width}`;
      const running = making.get(key) ?? made(tenantId, original, width).finally(() => making.delete(key));
      making.set(key, running);
      try {
        const picture = await running;
        return picture ? pictureOf(picture.length, () => whole(picture)) : original;
      } catch (error) {
        if (!(error instanceof QueueOverload)) throw error;
        throw new CodedError('SERVICE_UNAVAILABLE', 'Too many thumbnails are being made. Try again.', {
          details: { retry_after: 5 },
        });
      }
    },
  };
}

const whole = (picture: Buffer): MediaDownload => ({
  status: 200,
  contentLength: String(picture.length),
  contentRange: undefined,
  stream: Readable.from([picture]),
});

const pictureOf = (size: number, open: () => MediaDownload): RemoteFile => ({
  mimeType: 'image/webp',
  filename: null,
  sha256: undefined,
  size,
  open: async () => open(),
});
