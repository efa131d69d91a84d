import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { systemClock } from './clock.ts';

/** Maximum length, in characters, of the lines that wait because the output is slow or fails; further lines are dropped and counted. */
const MAX_WAITING = 4 * 1024 * 1024;
const RETRY_MS = 100;
const STANDARD_ERROR = 2;

/** A destination of pino. */
export interface LogOutput extends DestinationStream {
  /** Tries once to write what waits. pino calls it after a fatal line. */
  flushSync(): void;
}

/**
 * Writes lines to a file descriptor, in order and without blocking. While it cannot be written (a full disk, a closed pipe) lines wait
 * and are tried again, and the fault is reported once on standard error: a log must not stop the process that it describes.
 *
 * Not pino's own destination: it throws an unhandled error, and at the exit repeats the write until it succeeds, in a loop that blocks
 * the process. A gateway whose log was on a full disk no longer answered, ignored SIGTERM and kept its port.
 */
export function createLogOutput(fd: number, maxWaiting = MAX_WAITING): LogOutput {
  let waiting = '';
  let dropped = 0;
  /** The bytes that the last write did not write. */
  let rest = Buffer.alloc(0);
  let isBusy = false;
  let isFailing = false;
  let isUsed = false;

  const take = (): Buffer => {
    const bytes = Buffer.concat([rest, Buffer.from(dropped === 0 ? waiting : waiting + droppedLine(dropped))]);
    [waiting, dropped, rest] = ['', 0, Buffer.alloc(0)];
    return bytes;
  };
  const fail = (error: NodeJS.ErrnoException, bytes: Buffer): void => {
    rest = Buffer.from(bytes);
    // The reader of a pipe is slow.
    if (error.code === 'EAGAIN') return;
    if (!isFailing) report(error);
    isFailing = true;
  };
  const next = (): void => {
    const bytes = take();
    isBusy = bytes.length > 0;
    if (!isBusy) return;
    write(fd, bytes, (error, count) => {
      if (error) {
        fail(error, bytes);
        setTimeout(next, RETRY_MS).unref();
        return;
      }
      isFailing = false;
      rest = Buffer.from(bytes.subarray(count));
      next();
    });
  };

  const output: LogOutput = {
    write(line) {
      if (!isUsed) process.once('exit', output.flushSync);
      isUsed = true;
      if (waiting.length + line.length > maxWaiting) dropped += 1;
      else waiting += line;
      if (!isBusy) next();
    },
    flushSync() {
      let bytes = take();
      try {
        while (bytes.length > 0) bytes = bytes.subarray(writeSync(fd, bytes));
      } catch (error) {
        fail(error as NodeJS.ErrnoException, bytes);
      }
    },
  };
  return output;
}

const droppedLine = (count: number): string =>
  `${JSON.stringify({ level: 40, time: systemClock.now(), dropped: count, msg: 'lines were dropped while the log could not be written' })}\n`;

/** Standard error may be the same file: then there is no place to report to. */
function report({ message }: Error): void {
  try {
    writeSync(STANDARD_ERROR, `The log cannot be written: ${message}. Its lines wait until it can.\n`);
  } catch {
    return;
  }
}
