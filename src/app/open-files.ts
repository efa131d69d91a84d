import type { Config } from '../config.ts';
import { openDirectoryStore } from '../platform/files/directory-store.ts';
import { type FileStore, FileStoreError } from '../platform/files/file-store.ts';
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
