import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A line of the protocol: `+OK`, or `-` and an error. */
type Reply = string;

/**
 * A server that speaks enough of Redis for its client to connect, so that tests choose its errors.
 * @param refuses by name of a command in lower case; others are accepted
 */
export async function startFakeRedis(refuses: Readonly<Record<string, Reply>>) {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
      for (let command = nextCommand(received); command; command = nextCommand(received)) {
        received = command.rest;
        socket.write(`${refuses[command.name] ?? ACCEPTED[command.name] ?? '+OK'}\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const ACCEPTED: Readonly<Record<string, Reply>> = { info: '$-1', publish: ':0' };

/** The first command of `*2\r\n$4\r\nauth\r\n$1\r\nx\r\n…`, if it has arrived; no argument of a test has a line break. */
function nextCommand(text: string): { readonly name: string; readonly rest: string } | undefined {
  const lines = text.split('\r\n');
  const count = 1 + 2 * Number(lines[0]?.slice(1));
  if (lines.length <= count) return undefined;
  return { name: lines[2]?.toLowerCase() ?? '', rest: lines.slice(count).join('\r\n') };
}
