import { createReadStream } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { MINUTE, SECOND } from '../clock.ts';
import { failWhenStalled } from './fail-when-stalled.ts';
import { asStoreOperation, type FileStore, type SpooledFile } from './file-store.ts';
import { MARKER, type Marker } from './marker.ts';
import { openSpool } from './spool.ts';

export interface S3Options {
  readonly bucket: string;
  /** Undefined: Amazon S3. Buckets of other endpoints are addressed by path. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Before each key; empty, or ends with a slash. */
  readonly prefix: string;
  /** Undefined: the SDK's default chain (AWS_* variables, the role of the machine or container). */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** The SDK writes warnings to the console by default; its errors are thrown as well. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Clients that read slowly hold a connection each. */
const MAX_SOCKETS = 200;

/** For requests of a few bytes that a start waits for, even if the storage accepts a request and does not answer it. */
const MARKER_LIMITS = { maxAttempts: 2, socketTimeout: 5 * SECOND };

/**
 * Time until an attempt to open a file has response headers, of up to three attempts. Amazon answers within a tenth of a second; a reader
 * waits for a storage that hangs before it reads from the network.
 */
const OPEN_TIMEOUT_MS = 5 * SECOND;
/** Time without bytes after which the rest of an opened file fails: its reader, and the connection to it, would wait for the socket's minute. */
const READ_TIMEOUT_MS = 10 * SECOND;
/**
 * Time of a deletion with its retries. Shorter than `idle_in_transaction_session_timeout` (15 s): the sweep deletes in a transaction,
 * which PostgreSQL would end before the failed key is postponed.
 */
const DELETE_TIMEOUT_MS = 10 * SECOND;

function createClient(
  { endpoint, region, credentials }: S3Options,
  { maxAttempts, socketTimeout } = { maxAttempts: 3, socketTimeout: MINUTE },
): S3Client {
  return new S3Client({
    region,
    maxAttempts,
    logger: SILENT,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // Other storages reject the trailing checksums that newer SDKs send by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 5 * SECOND,
      socketTimeout,
      // Otherwise `requestTimeout` only warns.
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
    },
  });
}

/**
 * Keeps files in a bucket of Amazon S3 or a compatible storage. Files are received on the local disk first: their digest, which
 * becomes part of the key, is known only at their end.
 * @param directory for files that are being received
 * @throws FileStoreError if the directory cannot be written; the storage is not contacted
 */
export async function openS3Store(directory: string, options: S3Options): Promise<FileStore> {
  const spool = await openSpool(join(resolve(directory), 'incoming'));
  const { bucket: Bucket, prefix } = options;
  const client = createClient(options);
  const at = (key: string) => ({ Bucket, Key: `${prefix}${key}` });
  return {
    ...spool,
    async put(key, file) {
      await asStoreOperation('storing a file', () => upload(client, at(key), file));
      await file.discard();
    },
    open: (key, range) =>
      asStoreOperation('opening a file', async () => {
        const Range = range && `bytes=${range.start}-${range.end}`;
        try {
          const { Body } = await client.send(new GetObjectCommand({ ...at(key), ...(Range && { Range }) }), {
            requestTimeout: OPEN_TIMEOUT_MS,
          });
          // In Node.js, the body is a stream of Node.js.
          return Body && failWhenStalled(Body as Readable, READ_TIMEOUT_MS);
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      }),
    delete: key =>
      asStoreOperation('deleting a file', async () => {
        await client.send(new DeleteObjectCommand(at(key)), { abortSignal: AbortSignal.timeout(DELETE_TIMEOUT_MS) });
      }),
    deleteAll: (folder, onDeleted) =>
      asStoreOperation('deleting files', async () => {
        for (;;) {
          const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: `${prefix}${folder}/` }));
          for (const { Key } of page.Contents ?? []) {
            await client.send(new DeleteObjectCommand({ Bucket, Key }));
            onDeleted?.(1);
          }
          if (!page.IsTruncated) return;
        }
      }),
    close: async () => client.destroy(),
  };
}

/**
 * Writes and deletes an empty object below the prefix: reading the marker does not need these permissions.
 * @throws FileStoreError
 */
export const probeWrites = (options: S3Options): Promise<void> =>
  withClient(options, 'writing a file', async client => {
    const at = { Bucket: options.bucket, Key: `${options.prefix}.probe` };
    await client.send(new PutObjectCommand({ ...at, Body: '' }));
    await client.send(new DeleteObjectCommand(at));
  });

/** Runs a call of a few bytes with a separate client and `MARKER_LIMITS`. */
const withClient = <Result>(
  options: S3Options,
  action: string,
  call: (client: S3Client) => Promise<Result>,
): Promise<Result> =>
  asStoreOperation(action, async () => {
    const client = createClient(options, MARKER_LIMITS);
    try {
      return await call(client);
    } finally {
      client.destroy();
    }
  });

/** The marker of a bucket, an object below the prefix. */
export function s3Marker(options: S3Options): Marker {
  const at = { Bucket: options.bucket, Key: `${options.prefix}${MARKER}` };
  return {
    read: () =>
      withClient(options, 'reading the marker', async client => {
        try {
          const { Body } = await client.send(new GetObjectCommand(at));
          return await Body?.transformToString();
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      }),
    create: Body =>
      withClient(options, 'writing the marker', async client => {
        try {
          await client.send(new PutObjectCommand({ ...at, Body, IfNoneMatch: '*' }));
          return true;
        } catch (error) {
          const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
          if (status === NOT_IMPLEMENTED) await client.send(new PutObjectCommand({ ...at, Body }));
          else if (!MARKER_EXISTS.has(status)) throw error;
          return false;
        }
      }),
    replace: Body =>
      withClient(options, 'writing the marker', async client => {
        await client.send(new PutObjectCommand({ ...at, Body }));
      }),
  };
}

/** 412: the object exists. 409: a concurrent write of it is in progress. */
const MARKER_EXISTS: ReadonlySet<number | undefined> = new Set([409, 412]);
/** The storage has no conditional writes (Swift). Of two writers the last one wins, and both read the marker afterwards. */
const NOT_IMPLEMENTED = 501;

/** The signature covers the digest, so that the storage rejects changed bytes; by default the SDK does not sign streams. */
async function upload(
  client: S3Client,
  place: { readonly Bucket: string; readonly Key: string },
  { path, size, sha256 }: SpooledFile,
): Promise<void> {
  const body = createReadStream(path);
  const command = new PutObjectCommand({ ...place, Body: body, ContentLength: size });
  command.middlewareStack.add(
    next => args => {
      const { headers } = args.request as { headers: Record<string, string> };
      headers['x-amz-content-sha256'] = sha256.toString('hex');
      return next(args);
    },
    { step: 'build', name: 'signedDigest' },
  );
  try {
    await client.send(command);
  } finally {
    // If the storage refuses the request before its end, the SDK leaves the stream open, and the deleted file keeps its disk space.
    body.destroy();
  }
}

/** Whether there is no such object. A missing or misspelled bucket is an error of the storage: its files are not lost. */
const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey ||
  (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404 && error.name !== 'NoSuchBucket');
