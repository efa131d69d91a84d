import type { Config } from '../config.ts';
import { HOUR } from '../platform/clock.ts';
import { openDirectoryStore } from '../platform/files/directory-store.ts';
import { type FileStore, FileStoreError } from '../platform/files/file-store.ts';
import type { Log } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';

/** Opens the store of files that the configuration names. @throws UserError if its directory cannot be written */
export async function openFiles({ media }: Pick<Config, 'media'>): Promise<FileStore> {
  const { directory, s3 } = media;
  try {
    // Without a bucket, the S3 client is not loaded.
    return s3
      ? await (await import('../platform/files/s3-store.ts')).openS3Store(directory, s3)
      : await openDirectoryStore(directory);
  } catch (error) {
    if (!(error instanceof FileStoreError)) throw error;
    throw new UserError(
      `Files of messages cannot be written to ${directory}: ${error.message}. Set PARLEY_MEDIA_DIR to a directory that this user can write.`,
      { cause: error },
    );
  }
}

/**
 * Deletes incomplete files of killed processes every hour. Each process does, because with a bucket each has a disk of its own; at the
 * start alone, files with personal data would stay on the disk until the next one.
 * @returns a function that stops it
 */
export function cleanFiles(files: Pick<FileStore, 'deleteAbandoned'>, log: Log): () => void {
  const timer = setInterval(() => {
    files.deleteAbandoned().catch(error => log.warn({ err: error }, 'incomplete files could not be deleted'));
  }, HOUR);
  timer.unref();
  return () => clearInterval(timer);
}
