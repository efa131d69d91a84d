import { open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createDirectory } from './create-directory.ts';
import { asStoreOperation, type FileStore } from './file-store.ts';
import { openSpool } from './spool.ts';

/**
 * Keeps files in a directory, which all processes of the deployment share. A file appears under its key complete: it is written and
 * synced under a temporary name in the same file system, then renamed, and the directory's entry is synced.
 * @throws FileStoreError if the directory cannot be written
 */
export async function openDirectoryStore(directory: string): Promise<FileStore> {
  const root = resolve(directory);
  const spool = await openSpool(join(root, 'incoming'));
  const pathOf = (key: string): string => join(root, key);
  return {
    ...spool,
    put: (key, file) =>
      asStoreOperation('storing a file', async () => {
        const path = pathOf(key);
        const isNew = await createDirectory(dirname(path));
        await rename(file.path, path);
        // The entry of the file, and those of directories that were created for it.
        for (let at = dirname(path); ; at = dirname(at)) {
          await syncDirectory(at);
          if (!isNew || at === root) break;
        }
      }),
    open: (key, range) =>
      asStoreOperation('opening a file', async () => {
        const file = await open(pathOf(key)).catch((error: unknown) => {
          if (isMissing(error)) return undefined;
          throw error;
        });
        return file?.createReadStream(range ?? {});
      }),
    delete: key => asStoreOperation('deleting a file', () => rm(pathOf(key), { force: true })),
    deleteAll: folder =>
      asStoreOperation('deleting files', () => rm(pathOf(folder), { recursive: true, force: true, maxRetries: 3 })),
    close: async () => undefined,
  };
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';
