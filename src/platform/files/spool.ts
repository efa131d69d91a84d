import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { DAY } from '../clock.ts';
import { createDirectory } from './create-directory.ts';
import { asStoreOperation, type SpooledFile, TooLargeError } from './file-store.ts';

/** A directory for files that are being received. */
export interface Spool {
  receive(stream: Readable, maxBytes: number): Promise<SpooledFile>;
  /** Deletes what killed processes left in it a day ago. @throws FileStoreError */
  deleteAbandoned(): Promise<void>;
}

/** Files of processes that were killed are deleted after this. */
const ABANDONED_MS = DAY;
const SUFFIX = '.part';

/** Creates the directory and deletes what killed processes left in it. @throws FileStoreError if it cannot be written */
export async function openSpool(directory: string): Promise<Spool> {
  await asStoreOperation('creating the directory of the file store', async () => {
    await createDirectory(directory);
    await deleteAbandoned(directory);
    const probe = join(directory, `${randomUUID()}${SUFFIX}`);
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
  });
  return {
    receive: (stream, maxBytes) => receive(directory, stream, maxBytes),
    deleteAbandoned: () => asStoreOperation('deleting incomplete files', () => deleteAbandoned(directory)),
  };
}

async function deleteAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    // By the file system's clock, which sets the time of the file.
    if (found && name.endsWith(SUFFIX) && found.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true });
  }
}

async function receive(directory: string, stream: Readable, maxBytes: number): Promise<SpooledFile> {
  const path = join(directory, `${randomUUID()}${SUFFIX}`);
  const discard = () => rm(path, { force: true });
  const hash = createHash('sha256');
  let size = 0;
  try {
    const file = await asStoreOperation('creating a file', () => open(path, 'wx', 0o600));
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) throw new TooLargeError(`The file is larger than ${maxBytes} bytes.`);
        hash.update(chunk);
        await asStoreOperation('writing a file', () => file.writeFile(chunk));
      }
      await asStoreOperation('writing a file', () => file.sync());
    } finally {
      await file.close();
    }
  } catch (error) {
    stream.destroy();
    await discard().catch(() => undefined);
    throw error;
  }
  return { path, size, sha256: hash.digest(), discard };
}
