import { pipeline, type Readable, Transform } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { CodedError, notFound } from '../../../../core/errors.ts';
import {
  type ChannelCredentials,
  type MediaDownload,
  type MediaInfo,
  NetworkCallError,
} from '../../../../network/network.ts';
import { MINUTE } from '../../../../platform/clock.ts';
import { FileStoreError } from '../../../../platform/files/file-store.ts';
import { createMinorCollector } from '../../../../platform/garbage-collection.ts';
import type { Resources } from '../../../../schema/context.ts';
import { openChannel } from './channel.ts';
import { type FileLocation, hexDigest } from './file.ts';
import { findFile } from './files.sql.ts';
import { openKept } from './open-kept.ts';

/** A file in the store or on the network, located but not opened. */
export interface RemoteFile {
  readonly mimeType: string;
  readonly filename: string | null;
  /** Hex; undefined if unknown. */
  readonly sha256: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
  /** Downloads it, or the part of a `Range` header. @throws NOT_FOUND, SERVICE_UNAVAILABLE */
  open(range: string | undefined): Promise<MediaDownload>;
}

export interface MediaReader {
  /**
   * Locates the file of an upload or of a message. Calls the network only for unknown details.
   * @param wantsSize whether the size is needed before the file is opened
   * @throws NOT_FOUND, also if the network has deleted it; SERVICE_UNAVAILABLE
   */
  find(tenantId: number, id: string, wantsSize: boolean): Promise<RemoteFile>;
}

/** The network's URLs are valid for five minutes. */
const URL_TTL_MS = 4 * MINUTE;
const MAX_URLS = 10_000;

const gone = (): CodedError =>
  new CodedError(
    'NOT_FOUND',
    'The network no longer has this file: it keeps what was sent for 30 days and what was received for 7.',
  );

/** Reads kept files from the store, others from the network. The network's URLs are cached, because players request many parts of one file. */
export function createMediaReader(resources: Resources): MediaReader {
  const { db, network, files, log } = resources;
  const addresses = new LRUCache<string, MediaInfo>({ max: MAX_URLS, ttl: URL_TTL_MS });

  /** Converts an error of the network into an API error. */
  function refusal(error: unknown): unknown {
    if (!(error instanceof NetworkCallError)) return error;
    // The object does not exist or was deleted.
    if (error.error?.code === 100) return gone();
    log.warn({ reason: error.message }, 'fetching a file failed');
    return new CodedError(
      'SERVICE_UNAVAILABLE',
      `The network cannot provide the file at the moment${error.error ? `: ${error.error.title}` : ''}.`,
      { details: { retry_after: 5 } },
    );
  }

  async function infoOf(channel: ChannelCredentials, mediaId: string, isRefresh = false): Promise<MediaInfo> {
    const key = `${channel.phoneNumberId} ${mediaId}`;
    const known = isRefresh ? undefined : addresses.get(key);
    if (known) return known;
    const info = await network.mediaInfo(channel, mediaId);
    addresses.set(key, info);
    return info;
  }

  async function openAt(channel: ChannelCredentials, mediaId: string, range?: string): Promise<MediaDownload> {
    for (const isRefresh of [false, true]) {
      const { url } = await infoOf(channel, mediaId, isRefresh);
      const download = await network.downloadMedia(channel, url, range);
      if (download) return { ...download, stream: withMinorCollector(download.stream) };
    }
    throw gone();
  }

  async function openFromNetwork(
    tenantId: number,
    { channel_id, network_media_id }: FileLocation,
    range: string | undefined,
  ): Promise<MediaDownload> {
    const channel = await openChannel(resources, tenantId, channel_id);
    return openAt(channel, network_media_id, range).catch(error => {
      throw refusal(error);
    });
  }

  /** Reads the kept file; from the network if the store fails or has lost it. */
  async function openStored(
    tenantId: number,
    location: FileLocation,
    storageKey: string,
    size: number,
    range: string | undefined,
  ): Promise<MediaDownload> {
    const kept = await openKept(files, storageKey, size, range).catch((error: unknown) => {
      if (!(error instanceof FileStoreError)) throw error;
      log.error({ err: error, tenantId, storageKey }, 'a kept file cannot be read; reading it from the network');
      return undefined;
    });
    if (kept) return { ...kept, stream: withMinorCollector(kept.stream) };
    return openFromNetwork(tenantId, location, range).catch((error: unknown) => {
      if (!(error instanceof CodedError) || error.code === 'SERVICE_UNAVAILABLE') throw error;
      throw new CodedError('SERVICE_UNAVAILABLE', 'The file store does not respond. Try again.', {
        details: { retry_after: 5 },
      });
    });
  }

  return {
    async find(tenantId, id, wantsSize) {
      const location = await findFile(db.read, tenantId, id);
      if (!location) throw notFound('Media');
      const { network_media_id: mediaId, storage_key: storageKey, size } = location;
      if (storageKey !== null && size !== null)
        return {
          ...described(location, undefined),
          open: range => openStored(tenantId, location, storageKey, size, range),
        };
      const channel = await openChannel(resources, tenantId, location.channel_id);
      const isKnown = location.mime_type !== null && location.sha256 !== null && (location.size !== null || !wantsSize);
      const info = isKnown
        ? undefined
        : await infoOf(channel, mediaId).catch(error => {
            throw refusal(error);
          });
      return {
        ...described(location, info),
        open: range => openFromNetwork(tenantId, location, range),
      };
    },
  };
}

const described = (location: FileLocation, info: MediaInfo | undefined): Omit<RemoteFile, 'open'> => ({
  mimeType: location.mime_type ?? info?.mimeType ?? 'application/octet-stream',
  filename: location.filename,
  sha256: hexDigest(location.sha256) ?? hexDigest(info?.sha256) ?? undefined,
  size: location.size ?? info?.size,
});

/** Counts passed bytes for the minor garbage collections. Destroying either stream destroys the other. */
function withMinorCollector(stream: Readable): Readable {
  const sweep = createMinorCollector();
  const through = new Transform({
    transform(piece: Buffer, _encoding, done) {
      sweep(piece.length);
      done(null, piece);
    },
  });
  pipeline(stream, through, () => undefined);
  return through;
}
