import { createWriteStream, rmSync, type WriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import type { WritePiece } from '../platform/files/written-stream.ts';
import { UserError } from '../platform/user-error.ts';
import { interruptible } from './interrupted.ts';

/**
 * Writes a file that only its owner may read, and that is complete: it is written beside its place (`.part`) and replaces a former
 * one at the end. `-` is standard output; a device or pipe is written directly.
 * @throws UserError if the file cannot be written
 */
export async function writeOutput<T>(out: string, run: (write: WritePiece) => Promise<T>): Promise<T> {
  if (out === '-') return writeTo(process.stdout, out, run);
  const file = await realpath(out).catch(() => out);
  const found = await stat(file).catch(() => undefined);
  if (found && !found.isFile()) return writeTo(createWriteStream(file), out, run);
  const part = `${file}.part`;
  // A part that an interrupted command left may have other permissions.
  await rm(part, { force: true });
  const stream = createWriteStream(part, { flags: 'wx', mode: 0o600 });
  // A signal would end the process and leave the part, which holds the data of persons.
  const leave = (): string => {
    rmSync(part, { force: true });
    return `${out} was not written.`;
  };
  return interruptible(leave, async () => {
    try {
      const result = await writeTo(stream, out, run);
      await rename(part, file);
      return result;
    } catch (error) {
      // The stream opens the file asynchronously: removed before that, the part would reappear.
      await closed(stream);
      await rm(part, { force: true });
      throw error;
    }
  });
}

const closed = (stream: WriteStream): Promise<void> =>
  new Promise(resolve => {
    if (stream.closed) resolve();
    else stream.once('close', resolve).destroy();
  });

async function writeTo<T>(
  stream: NodeJS.WritableStream,
  out: string,
  run: (write: WritePiece) => Promise<T>,
): Promise<T> {
  const failed = new Promise<never>((_resolve, reject) => {
    stream.once('error', ({ message }: Error) => reject(new UserError(`Cannot write to ${out}: ${message}.`)));
  });
  // Prevents an unhandled rejection before the first write awaits it.
  failed.catch(() => undefined);
  const event = (name: 'drain' | 'finish') => new Promise<void>(resolve => stream.once(name, resolve));
  const result = await run(async piece => {
    if (!stream.write(piece)) await Promise.race([event('drain'), failed]);
  });
  if (stream === process.stdout) return result;
  const finished = event('finish');
  stream.end();
  await Promise.race([finished, failed]);
  return result;
}
