import { randomUUID } from 'node:crypto';
import { chmod, link, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../user-error.ts';
import { processStart } from './process.ts';

const LOCK = /^owner-(\d+)\.lock$/;

/**
 * Makes this process the only owner of `directory`. Returns a function that releases it; the end of the process releases it too.
 *
 * Node has no flock, and the usual lock file has a race: two processes find the same dead owner, both remove its file, and the
 * second removes the first one's. Therefore nothing is replaced: owners are numbered, the highest number owns, and a new owner takes
 * the next number with link(2), which only one process can win. A number that is no longer the highest is released. The highest file
 * is emptied, never deleted, so that numbers do not repeat.
 *
 * @throws UserError if another live process owns the directory
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const draft = join(directory, `owner-${randomUUID()}.draft`);
  await writeFile(draft, JSON.stringify({ pid: process.pid, start: await processStart(process.pid) }));
  try {
    // Root and the owner of the directory may alternate, and must be able to read each other's files.
    await chmod(draft, 0o644);
    for (;;) {
      const highest = (await numbers(directory)).at(-1) ?? 0;
      const owner = await findLiveOwner(lockFile(directory, highest));
      if (owner !== undefined) throw alreadyRunning(directory, owner);
      const mine = highest + 1;
      try {
        await link(draft, lockFile(directory, mine));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      const others = (await numbers(directory)).filter(number => number !== mine);
      if (others.some(number => number > mine)) {
        await unlink(lockFile(directory, mine));
        continue;
      }
      await Promise.all(others.map(number => unlink(lockFile(directory, number)).catch(() => undefined)));
      return () => writeFile(lockFile(directory, mine), '');
    }
  } finally {
    await unlink(draft);
  }
}

function lockFile(directory: string, number: number): string {
  return join(directory, `owner-${number}.lock`);
}

async function numbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .flatMap(name => LOCK.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

async function findLiveOwner(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (text === '') return undefined; // No owner yet, or the owner released the directory.
  const { pid, start }: { pid: number; start: string } = JSON.parse(text);
  return (await processStart(pid)) === start ? pid : undefined;
}

function alreadyRunning(directory: string, pid: number): UserError {
  return new UserError(
    `Parley is already running in ${directory} (process ${pid}). Stop it first, or use another directory.`,
  );
}
