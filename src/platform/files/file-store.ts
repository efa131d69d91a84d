import type { Readable } from 'node:stream';

/** A received file on the local disk, complete and durable. */
export interface SpooledFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: Buffer;
  /** Deletes it; does nothing after `put`. */
  discard(): Promise<void>;
}

/** A part of a file, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Keeps files: in a directory, or in S3-compatible storage. Keys are chosen by the caller and never reused. */
export interface FileStore {
  /**
   * Writes a stream to the local disk, with its digest. Holds one chunk in memory.
   * @throws TooLargeError, FileStoreError, or the error of the stream
   */
  receive(stream: Readable, maxBytes: number): Promise<SpooledFile>;
  /** Stores a received file. It is complete and durable when this resolves. @throws FileStoreError */
  put(key: string, file: SpooledFile): Promise<void>;
  /** Opens a file or a part of it. @returns undefined if there is none @throws FileStoreError */
  open(key: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** Deletes a file, if there is one. @throws FileStoreError */
  delete(key: string): Promise<void>;
  /**
   * Deletes all files whose keys begin with this folder and a slash.
   * @param onDeleted called with the number of files as they are deleted
   * @throws FileStoreError
   */
  deleteAll(folder: string, onDeleted?: (files: number) => void): Promise<void>;
  /** Deletes the incomplete files on the local disk that killed processes left a day ago. @throws FileStoreError */
  deleteAbandoned(): Promise<void>;
  close(): Promise<void>;
}

/** The store failed: the disk is full, a permission is missing, the storage does not respond. */
export class FileStoreError extends Error {
  override readonly name = 'FileStoreError';

  constructor(action: string, cause: unknown) {
    super(`${action}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Runs `work` and wraps its errors in FileStoreError, which distinguishes them from errors of the received stream. */
export async function asStoreOperation<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FileStoreError(action, error);
  }
}

export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}
