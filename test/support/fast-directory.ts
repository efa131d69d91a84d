import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A directory of one's own in the quickest place. Open to the user as whom root runs PostgreSQL: closed to it, the data would
 * lie in /var/lib/parley, on a disk, and stay there.
 */
export async function makeQuickDirectory(prefix: string): Promise<string> {
  const path = await mkdtemp(join(await quickestDirectory(), prefix));
  await chmod(path, 0o711);
  return path;
}

/**
 * Memory, where the system offers it as a directory with room enough from which programs may run; else the directory for
 * temporary files. A cluster is a thousand files: on a disk, laying them down and taking them away is most of the work.
 */
export async function quickestDirectory(): Promise<string> {
  const memory = '/dev/shm';
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  if (Math.min(bavail * bsize, process.availableMemory()) < 2 ** 31) return tmpdir();
  const path = await mkdtemp(join(memory, 'parley-probe-')).catch(() => undefined);
  if (path === undefined) return tmpdir();
  try {
    const probe = join(path, 'probe');
    await writeFile(probe, '#!/bin/sh\n', { mode: 0o755 });
    return await promisify(execFile)(probe).then(
      () => memory,
      () => tmpdir(),
    );
  } finally {
    await rm(path, { recursive: true });
  }
}
