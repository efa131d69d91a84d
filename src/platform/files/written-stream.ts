import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

/** Writes a piece of text; await it before the next one. Rejects if the reader has closed the stream. */
export type WritePiece = (piece: string) => Promise<void>;

/**
 * A stream of the text that a function writes, in UTF-8. The function waits while the reader is behind (backpressure), so that memory
 * holds one piece. If the function fails, so does the stream.
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
