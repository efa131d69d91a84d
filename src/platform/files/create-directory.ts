import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory with its parents, accessible to this user only. Node's recursive mkdir never returns below /proc, where mkdir
 * fails with ENOENT although the parent exists.
 * @param path absolute
 * @returns whether this call created it
 */
export async function createDirectory(path: string): Promise<boolean> {
  try {
    return await createOne(path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
    await createDirectory(dirname(path));
    return createOne(path);
  }
}

async function createOne(path: string): Promise<boolean> {
  try {
    await mkdir(path, 0o700);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
}
