import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { UserError } from '../platform/user-error.ts';

/**
 * Writes a file that only its owner may read; `-` is standard output.
 * @throws UserError if the file cannot be written
 */
export async function writeOutput<T>(
  out: string,
  run: (write: (piece: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const stream = out === '-' ? process.stdout : createWriteStream(out, { mode: 0o600 });
  const failed = once(stream, 'error').then(([error]): never => {
    throw new UserError(`Cannot write to ${out}: ${(error as Error).message}.`);
  });
  // Prevents an unhandled rejection before the first write awaits it.
  failed.catch(() => undefined);
  const result = await run(async piece => {
    if (!stream.write(piece)) await Promise.race([once(stream, 'drain'), failed]);
  });
  if (out !== '-') await Promise.race([new Promise<void>(resolve => stream.end(() => resolve())), failed]);
  return result;
}
