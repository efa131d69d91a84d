import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { admit, admitAgain, bearerOf, type Cost, charge } from '../authenticate.ts';
import type { Principal, Resources } from '../context.ts';
import { newId } from '../platform/ids.ts';
import { type Asked, errorsWithCost, readOperation, withCost } from './asked.ts';
import type { Kernel } from './kernel.ts';
import { type Extra, serveSockets } from './sockets.ts';

/** The protocol has no limits of its own: 5,000 subscriptions on one socket would be accepted. */
const MAX_PAYLOAD_BYTES = 128 * 1024;
const MAX_OPERATIONS_PER_SOCKET = 100;
const MAX_SOCKETS_PER_TENANT = 5_000;
const KEEP_ALIVE_MS = 12_000;
/** A socket whose client does not read is given this long. */
const SLOW_CHECK_MS = 5_000;
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Clients answer a close at once; those who are stuck would hold the process for 30 s. */
const GOODBYE_MS = 2_000;

interface SocketExtra {
  principal: Principal;
  token: string;
  operations: number;
}

type SocketContext = Extra & Partial<SocketExtra>;

/** What `onSubscribe` found out, handed to `execute` and `subscribe`. */
interface Arguments {
  readonly asked: Asked;
  readonly cost: Cost;
}

export interface Sockets {
  /** Ends every socket with "going away", so that clients reconnect elsewhere. */
  close(): Promise<void>;
}

/** GraphQL over WebSocket (graphql-transport-ws) on `/graphql`. */
export function attachWebSockets(server: Server, kernel: Kernel, resources: Resources): Sockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD_BYTES, handleProtocols });
  const perTenant = new Map<number, number>();
  const { tokens, log } = resources;

  const options: ServerOptions<Record<string, unknown>, SocketContext> = {
    async onConnect({ connectionParams, extra }) {
      const header = authorizationOf(connectionParams) ?? extra.request.headers.authorization;
      const admission = await admit(resources, header, extra.request.socket.remoteAddress ?? '');
      const token = bearerOf(header);
      // false closes with 4403, on which clients ask for a new token and try again.
      if (!admission.principal || admission.refused || token === undefined) return false;
      if ((await charge(resources, admission.quotas, 1)).refusal) return false;
      // Gone while we looked: its close has been told already, and would never be counted.
      if (extra.socket.readyState !== extra.socket.OPEN) return false;
      const tenantId = admission.principal.tenant.id;
      const open = (perTenant.get(tenantId) ?? 0) + 1;
      if (open > MAX_SOCKETS_PER_TENANT) return false;
      perTenant.set(tenantId, open);
      Object.assign(extra, { principal: admission.principal, token, operations: 0 } satisfies SocketExtra);
      const stopWatching = tokens.watch(token, () => extra.socket.close(CloseCode.Forbidden, 'Forbidden'));
      extra.socket.once('close', () => {
        stopWatching();
        perTenant.set(tenantId, (perTenant.get(tenantId) ?? 1) - 1);
      });
      return true;
    },

    async onSubscribe({ extra }, _id, payload) {
      const { principal: connected, token } = extra;
      const requestId = newId();
      const principal = token === undefined ? undefined : await tokens.verify(token);
      if (!connected || !principal) {
        extra.socket.close(CloseCode.Forbidden, 'Forbidden');
        return [new GraphQLError('The token has ended.')];
      }
      const { quotas, refused } = await admitAgain(resources, principal);
      if (refused?.refusal) return errorsWithCost([refused.refusal], refused.cost);
      const { query, operationName, variables } = payload;
      const request = { query, operationName: operationName ?? undefined, variables: variables ?? {} };
      const asked = readOperation(kernel, request, { principal, requestId });
      const { cost, refusal } = await charge(resources, quotas, asked.points);
      if (refusal) return errorsWithCost([refusal], cost);
      if ('errors' in asked) return errorsWithCost(asked.errors, cost);
      if ((extra.operations ?? 0) >= MAX_OPERATIONS_PER_SOCKET) {
        return [
          new GraphQLError(`At most ${MAX_OPERATIONS_PER_SOCKET} operations may be open on one socket.`, {
            extensions: { code: 'RATE_LIMIT_EXCEEDED' },
          }),
        ];
      }
      extra.operations = (extra.operations ?? 0) + 1;
      const { document, name } = asked.operation;
      const args: Arguments = { asked, cost };
      return { schema: kernel.schema, document, operationName: name ?? null, contextValue: args };
    },

    onComplete({ extra }) {
      extra.operations = Math.max(0, (extra.operations ?? 1) - 1);
    },

    onNext({ extra }, _id, _payload, { contextValue }, result) {
      const { node } = (contextValue as Arguments).asked.operation;
      return node.operation === 'subscription' ? extra.places.mark(result) : undefined;
    },

    execute: ({ contextValue }) => run(contextValue as Arguments),
    subscribe: ({ contextValue }) => follow(contextValue as Arguments),
  };

  const run = async ({ asked: { operation, variables, context }, cost }: Arguments) =>
    withCost(await kernel.run(operation, variables, context), cost);
  const follow = ({ asked: { operation, variables, context } }: Arguments) =>
    kernel.subscribe(operation, variables, context);

  const endSockets = serveSockets<SocketExtra>(options, sockets, KEEP_ALIVE_MS, log);
  sockets.on('connection', socket =>
    watchReader(socket, () => log.info('a socket was closed: its client does not read')),
  );
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Not by URL: it throws on what a stranger may write here, and nobody would catch that.
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== '/graphql') {
      // Node has taken its own listener away: a client that is gone before it reads this would end the process.
      socket.on('error', () => socket.destroy());
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, webSocket => sockets.emit('connection', webSocket, request));
  });

  return {
    async close() {
      const impatient = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, GOODBYE_MS);
      await endSockets();
      clearTimeout(impatient);
    },
  };
}

/** Where clients put their token: as a header would be written, or bare. */
function authorizationOf(parameters: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const header = parameters?.['authorization'] ?? parameters?.['Authorization'];
  if (typeof header === 'string') return header;
  const token = parameters?.['token'];
  return typeof token === 'string' ? `Bearer ${token}` : undefined;
}

/** Ends a socket on which bytes pile up: its client can come back and go on after its cursor, our memory cannot. */
function watchReader(socket: WebSocket, onSlow: () => void): void {
  let wasFull = false;
  const timer = setInterval(() => {
    const full = socket.bufferedAmount > MAX_BUFFERED_BYTES;
    if (full && wasFull) {
      onSlow();
      socket.terminate();
    }
    wasFull = full;
  }, SLOW_CHECK_MS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
