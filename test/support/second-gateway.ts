import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { schema } from '../../src/app/schema.ts';
import { type Gateway, serve } from '../../src/app/serve.ts';
import type { Config } from '../../src/config.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import { type GraphQLAnswer, post, type TestGateway } from './gateway.ts';

export interface SecondGateway {
  readonly url: string;
  readonly resources: Gateway['resources'];
  graphql(query: string, variables?: object, token?: string): Promise<GraphQLAnswer>;
  stop(): Promise<void>;
}

/** A second gateway on the database of the first, with its own caches, pools and signals, as a second process has. */
export async function startSecondGateway(
  first: TestGateway,
  databaseUrl = first.database.url,
  database: Partial<Config['database']> = {},
  keys: { readonly secretKey?: Uint8Array; readonly previousSecretKey?: Uint8Array } = {},
  clock?: Clock,
): Promise<SecondGateway> {
  const { config } = first.gateway.resources;
  const { secretKey } = config;
  if (!secretKey) throw new Error('The first gateway has no secret key.');
  const gateway = await serve({
    config: { ...config, databaseUrl, secretKey, database: { ...config.database, ...database }, ...keys },
    schema,
    role: 'gateway',
    ...(clock && { clock }),
    log: createLog('debug', { write: line => void first.logs.push(JSON.parse(line)) }),
  });
  const { url } = gateway.server;
  return {
    url,
    resources: gateway.resources,
    graphql: (query, variables = {}, token = first.tenant.token) => post(url, query, variables, token),
    stop: () => gateway.stop(),
  };
}

/** A worker on the database of a gateway, as a process of its own is. */
export async function startWorker({ gateway }: TestGateway): Promise<Gateway> {
  const { config } = gateway.resources;
  const { databaseUrl, secretKey } = config;
  if (databaseUrl === undefined || secretKey === undefined) throw new Error('The configuration is not complete.');
  return serve({ config: { ...config, databaseUrl, secretKey }, schema, role: 'worker', log: createLog('silent') });
}

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
  stop(): Promise<void>;
}

/** A TCP proxy to a database, which simulates network failures. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
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
  if (address === null || typeof address === 'string') throw new Error('The line has no port.');
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
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
