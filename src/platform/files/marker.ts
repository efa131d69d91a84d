import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createDirectory } from './create-directory.ts';
import { asStoreOperation } from './file-store.ts';

/** Name of the marker in a store of files. No key of a file begins with a dot. */
export const MARKER = '.deployment';

/** The file that names the owner of a store of files. */
export interface Marker {
  /** @returns undefined if there is none @throws FileStoreError */
  read(): Promise<string | undefined>;
  /**
   * Writes the marker if there is none. Durable when it resolves.
   * @returns whether this call certainly wrote it; otherwise wait a moment and read it
   * @throws FileStoreError
   */
  create(text: string): Promise<boolean>;
  /** Writes the marker, whatever it was before. @throws FileStoreError */
  replace(text: string): Promise<void>;
}

/** The marker of a directory. */
export function directoryMarker(directory: string): Marker {
  const root = resolve(directory);
  const path = join(root, MARKER);
  /** Writes the text to a temporary file, which then becomes the marker, so that the marker is always complete. */
  const write = async (text: string, place: (written: string) => Promise<void>): Promise<void> => {
    await createDirectory(root);
    // Containers that share a volume may have the same process id.
    const written = `${path}.${randomUUID()}`;
    try {
      const file = await open(written, 'wx', 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await place(written);
    } finally {
      await rm(written, { force: true });
    }
  };
  return {
    read: () =>
      asStoreOperation('reading the marker', () =>
        readFile(path, 'utf8').catch((error: unknown) => {
          if (codeOf(error) === 'ENOENT') return undefined;
          throw error;
        }),
      ),
    create: text =>
      asStoreOperation('writing the marker', async () => {
        let isCreated = true;
        await write(text, async written => {
          // A link is refused where there is a file; a rename replaces it. Some shared file systems have no links.
          try {
            await link(written, path);
          } catch (error) {
            if (codeOf(error) === 'EEXIST') isCreated = false;
            else if (NO_LINKS.has(codeOf(error))) await rename(written, path);
            else throw error;
          }
        });
        return isCreated;
      }),
    replace: text => asStoreOperation('writing the marker', () => write(text, written => rename(written, path))),
  };
}

const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;
