import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { newId } from '../../core/ids.ts';
import type { Principal } from '../../core/principal.ts';
import { authenticate, bearerToken, type Cost, chargeQuota, checkQuota } from '../../http/authenticate.ts';
import type { Resources } from '../../schema/context.ts';
import type { Kernel } from '../execution/kernel.ts';
import { errorsWithCost, type ReadyOperation, readOperation, withCost } from '../execution/operation.ts';
import { type Extra, serveSockets } from './sockets.ts';

/** The protocol itself sets no limits: one socket could open any number of subscriptions. */
const MAX_PAYLOAD_BYTES = 128 * 1024;
const MAX_OPERATIONS_PER_SOCKET = 100;
const MAX_SOCKETS_PER_TENANT = 5_000;
const KEEP_ALIVE_MS = 12_000;
/** A socket whose send buffer is over the limit at two checks in a row is closed. */
const BUFFER_CHECK_INTERVAL_MS = 5_000;
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Time for clients to answer the close frame; ws itself would wait 30 s for each. */
const CLOSE_TIMEOUT_MS = 2_000;

interface SocketExtra {
  principal: Principal;
  token: string;
  operations: number;
}

type SocketContext = Extra & Partial<SocketExtra>;

/** Passed from `onSubscribe` to `execute` and `subscribe`. */
interface Execution {
  readonly ready: ReadyOperation;
  readonly cost: Cost;
}

export interface Sockets {
  /** Closes every socket with 1001 "going away", so that clients reconnect elsewhere. */
  close(): Promise<void>;
}

/** Serves GraphQL over WebSocket (graphql-transport-ws) on `/graphql`. */
export function attachWebSockets(server: Server, kernel: Kernel, resources: Resources): Sockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD_BYTES, handleProtocols });
  const perTenant = new Map<number, number>();
  const { tokens, log } = resources;

  const options: ServerOptions<Record<string, unknown>, SocketContext> = {
    async onConnect({ connectionParams, extra }) {
      const header = authorizationOf(connectionParams) ?? extra.request.headers.authorization;
      const address = extra.request.socket.remoteAddress ?? '';
      const { principal, quotas, refused } = await authenticate(resources, header, address);
      const token = bearerToken(header);
      // false closes with 4403, on which clients fetch a new token and retry.
      if (!principal || refused || token === undefined) return false;
      if ((await chargeQuota(resources, quotas, 1)).refusal) return false;
      // Closed meanwhile: its close event has fired, and the count below would never be decremented.
      if (extra.socket.readyState !== extra.socket.OPEN) return false;
      const tenantId = principal.tenant.id;
      const open = (perTenant.get(tenantId) ?? 0) + 1;
      if (open > MAX_SOCKETS_PER_TENANT) return false;
      perTenant.set(tenantId, open);
      Object.assign(extra, { principal, token, operations: 0 } satisfies SocketExtra);
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
        return [new GraphQLError('The token is expired or revoked. Reconnect with a valid one.')];
      }
      const { quotas, refused } = await checkQuota(resources, principal);
      if (refused?.refusal) return errorsWithCost([refused.refusal], refused.cost);
      const { query, operationName, variables } = payload;
      const request = { query, operationName: operationName ?? undefined, variables: variables ?? {} };
      const operation = readOperation(kernel, request, { principal, requestId });
      const { cost, refusal } = await chargeQuota(resources, quotas, operation.points);
      if (refusal) return errorsWithCost([refusal], cost);
      if ('errors' in operation) return errorsWithCost(operation.errors, cost);
      if ((extra.operations ?? 0) >= MAX_OPERATIONS_PER_SOCKET) {
        return [
          new GraphQLError(`At most ${MAX_OPERATIONS_PER_SOCKET} operations may be open on one socket.`, {
            extensions: { code: 'RATE_LIMIT_EXCEEDED' },
          }),
        ];
      }
      extra.operations = (extra.operations ?? 0) + 1;
      const { document, name } = operation.operation;
      const execution: Execution = { ready: operation, cost };
      return { schema: kernel.schema, document, operationName: name ?? null, contextValue: execution };
    },

    onComplete({ extra }) {
      extra.operations = Math.max(0, (extra.operations ?? 1) - 1);
    },

    onNext({ extra }, _id, _payload, { contextValue }, result) {
      const { node } = (contextValue as Execution).ready.operation;
      return node.operation === 'subscription' ? extra.placeholders.placeholder(result) : undefined;
    },

    execute: ({ contextValue }) => run(contextValue as Execution),
    subscribe: ({ contextValue }) => subscribe(contextValue as Execution),
  };

  const run = async ({ ready: { operation, variables, context }, cost }: Execution) =>
    withCost(await kernel.run(operation, variables, context), cost);
  const subscribe = ({ ready: { operation, variables, context } }: Execution) =>
    kernel.subscribe(operation, variables, context);

  const closeSockets = serveSockets<SocketExtra>(options, sockets, KEEP_ALIVE_MS, log);
  sockets.on('connection', socket =>
    closeWhenStalled(socket, () => log.info('closed a WebSocket: the client does not read')),
  );
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, webSocket => sockets.emit('connection', webSocket, request));
  });

  return {
    async close() {
      const timer = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, CLOSE_TIMEOUT_MS);
      await closeSockets();
      clearTimeout(timer);
    },
  };
}

/**
 * Whether a request opens a WebSocket. Other Upgrade headers are ignored and the request is answered over HTTP/1.1 (RFC 9110
 * §7.8): `h2c`, which `curl --http2` and Java's client offer (retired by RFC 9113 §3.1), or a WebSocket at another path.
 */
export function isWebSocketUpgrade({ method, url, headers }: IncomingMessage): boolean {
  // Not `new URL`: it throws on malformed input, and nothing would catch that here.
  const [path] = (url ?? '').split('?', 1);
  return method === 'GET' && path === '/graphql' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Reads the token from the connection parameters: `authorization: "Bearer …"`, or `token: "…"`. */
function authorizationOf(parameters: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const header = parameters?.['authorization'] ?? parameters?.['Authorization'];
  if (typeof header === 'string') return header;
  const token = parameters?.['token'];
  return typeof token === 'string' ? `Bearer ${token}` : undefined;
}

/** Closes a socket whose send buffer stays full, to bound memory. Its client can resume from its cursor. */
function closeWhenStalled(socket: WebSocket, onStalled: () => void): void {
  let wasFull = false;
  const timer = setInterval(() => {
    const full = socket.bufferedAmount > MAX_BUFFERED_BYTES;
    if (full && wasFull) {
      onStalled();
      socket.terminate();
    }
    wasFull = full;
  }, BUFFER_CHECK_INTERVAL_MS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
