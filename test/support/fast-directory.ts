import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Creates a directory in the fastest location. If root runs the tests, PostgreSQL runs as another user, who can access it; otherwise
 * the data would be stored in /var/lib/parley, on a disk, and remain there.
 */
export async function makeFastDirectory(prefix: string): Promise<string> {
  const path = await mkdtemp(join(await fastestDirectory(), prefix));
  await chmod(path, 0o711);
  return path;
}

/**
 * A directory in memory, if there is one with enough space that allows execution; else the directory for temporary files.
 * A cluster is a thousand files: on a disk, most of the time is spent creating and deleting them.
 */
export async function fastestDirectory(): Promise<string> {
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
