import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually, type TestGateway } from '../support/gateway.ts';

export interface LateRequest {
  readonly method: string;
  /** With its prefix. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LateAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Begins a request on a connection each, has the server begin to stop, and then sends the rest of them.
 * The server is not to be used afterwards.
 */
export async function askWhileClosing(gateway: TestGateway, requests: readonly LateRequest[]): Promise<LateAnswer[]> {
  const { hostname, port } = new URL(gateway.url);
  const sockets = await Promise.all(
    requests.map(async ({ method, path, headers = {} }) => {
      const socket = connect(Number(port), hostname);
      const fields = Object.entries({ Host: 'late.example', ...headers }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      // In one packet with a request that is answered at once: when that answer is here, the beginning of the second has been read.
      socket.write(
        `OPTIONS /api/v2/groups HTTP/1.1\r\nHost: x\r\n\r\n${method} ${path} HTTP/1.1\r\n${fields.join('')}`,
      );
      await once(socket, 'readable');
      return socket;
    }),
  );
  const closed = gateway.gateway.server.close();
  await eventually(() => refused(Number(port), hostname));
  const answers = await Promise.all(
    sockets.map(async socket => {
      socket.write('\r\n');
      return responseOf(await text(socket));
    }),
  );
  await closed;
  return answers;
}

/** @throws while there is still somebody who takes connections */
async function refused(port: number, hostname: string): Promise<void> {
  const socket: Socket = connect(port, hostname);
  const isRefused = await once(socket, 'connect').then(
    () => false,
    () => true,
  );
  socket.destroy();
  if (!isRefused) throw new Error('The server still takes connections.');
}

/** The last of the answers on a connection. */
function responseOf(received: string): LateAnswer {
  const [head = '', body = ''] = received.slice(received.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n', 2);
  const [status = '', ...fields] = head.split('\r\n');
  const headers = new Headers(fields.map(field => field.split(': ', 2) as [string, string]));
  return { status: Number(status.split(' ')[1]), headers, text: body };
}
