import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

/** Takes a piece of a text; the next piece waits for it. Rejects when the reader has left. */
export type WritePiece = (piece: string) => Promise<void>;

/**
 * A stream of what a function writes, in UTF-8. The function waits while the reader is behind, so memory holds one piece. An error of
 * the function is the error of the stream.
 */
export function writtenStream(produce: (write: WritePiece) => Promise<void>): Readable {
  const stream = new PassThrough();
  const closed = new AbortController();
  stream.once('close', () => closed.abort());
  const write: WritePiece = async piece => {
    closed.signal.throwIfAborted();
    if (!stream.write(piece)) await once(stream, 'drain', { signal: closed.signal });
  };
  produce(write).then(
    () => stream.end(),
    error => stream.destroy(error),
  );
  return stream;
}
