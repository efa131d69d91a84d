import type { Socket } from 'node:net';

/** Maximum size of one interim response. A larger one is passed on, and undici decides. */
const MAX_BYTES = 16 * 1024;
const EXAMPLE = 'HTTP/1.1 100';
/** Not 101, which changes the protocol: nobody asked for that. */
const INTERIM = /^HTTP\/1\.\d 1(?!01)\d\d$/;
const END = '\r\n\r\n';

/** Whether bytes begin with an interim response, or with a part of its first line. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, EXAMPLE.length);
  return INTERIM.test(start + EXAMPLE.slice(start.length));
}

/**
 * Removes interim responses from what a socket reads. undici breaks the connection at each `100 Continue`, but a client has to accept
 * interim responses that it did not ask for (RFC 9110, 15.2).
 *
 * For connections without pipelining: the first bytes that are read after a write begin the response to it.
 */
export function skipInterimResponses(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let isBeginning = false;
  let incomplete: Buffer = Buffer.alloc(0);

  function skip(bytes: Buffer): Buffer | null {
    let rest = bytes;
    while (mayBeInterim(rest) && rest.length <= MAX_BYTES) {
      const end = rest.indexOf(END);
      if (end < 0) {
        incomplete = rest;
        return null;
      }
      rest = rest.subarray(end + END.length);
    }
    isBeginning = false;
    return rest;
  }

  socket.write = ((...args: unknown[]) => {
    isBeginning = true;
    incomplete = Buffer.alloc(0);
    return write(...args);
  }) as Socket['write'];
  socket.read = size => {
    const bytes: Buffer | null = read(size);
    return isBeginning && bytes ? skip(Buffer.concat([incomplete, bytes])) : bytes;
  };
}
