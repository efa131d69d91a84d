import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../support/processes.ts';

export interface TcpProxy {
  readonly url: string;
  /** Connections taken so far. */
  readonly connections: () => number;
  /** Drops all connections, as a network does. */
  cut(): void;
  /** Takes connections and forwards nothing in either direction any more, or does again for new ones. */
  setSilent(isSilent: boolean): void;
  /** Refuses connections until it is opened again, on the same port. */
  close(): Promise<void>;
  open(): Promise<void>;
}

/** A TCP proxy before a server, for tests of connections that are lost. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const forwarded = new Set<Socket>();
  let isSilent = false;
  let connections = 0;
  const { hostname, port } = new URL(target);

  const server = createServer(socket => {
    connections += 1;
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        forwarded.delete(from);
        to.destroy();
      });
      forwarded.add(from);
      from.on('data', data => {
        if (forwarded.has(from)) to.write(data);
      });
    }
    if (isSilent) for (const one of [socket, upstream]) forwarded.delete(one);
  });
  const open = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  // It is closed and opened again: meanwhile the system must not give the port to anybody else.
  const own = await freePort();
  await open(own);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    url: `http://127.0.0.1:${own}`,
    connections: () => connections,
    cut,
    setSilent(silent) {
      isSilent = silent;
      if (silent) forwarded.clear();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
    open: () => open(own),
  };
}
