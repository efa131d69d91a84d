import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** The URL of the database through this proxy. */
  readonly databaseUrl: string;
  /** Cuts open connections, and refuses new ones. */
  cut(): void;
  /** Accepts connections again after `cut`. */
  mend(): void;
  /** Forwards nothing more, without closing connections, as if the host were unreachable. */
  stall(): void;
  /** Forwards new connections again; those that were stalled stay so. */
  forward(): void;
  /** Leads new connections to another server. */
  redirect(databaseUrl: string): void;
  stop(): Promise<void>;
}

/** A TCP proxy to a database, which simulates network failures. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isStalled = false;
  const server = createServer(near => {
    if (isCut) return void near.destroy();
    if (isStalled) {
      sockets.add(near);
      return void near.on('error', () => undefined).on('close', () => sockets.delete(near));
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  const through = new URL(databaseUrl);
  through.hostname = '127.0.0.1';
  through.port = String(address.port);
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    databaseUrl: through.href,
    cut,
    mend() {
      isCut = false;
      if (!isStalled) return;
      isStalled = false;
      for (const socket of sockets) socket.destroy();
    },
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    forward() {
      isStalled = false;
    },
    redirect(url) {
      target = new URL(url);
    },
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
