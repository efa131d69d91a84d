import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, type ServerOptions } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { CodedError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Principal } from '../../core/principal.ts';
import { encodeCursor } from '../../events/cursor.ts';
import {
  authenticate,
  bearerToken,
  type Cost,
  chargeQuota,
  checkQuotasOf,
  type RequestSource,
} from '../../http/authenticate.ts';
import { clientAddress } from '../../http/client-address.ts';
import type { Resources } from '../../schema/context.ts';
import type { Caller, Kernel } from '../execution/kernel.ts';
import {
  errorsWithCost,
  type InvalidOperation,
  type ReadyOperation,
  readOperation,
  withCost,
} from '../execution/operation.ts';
import { BadRequest, parseRequest } from '../execution/request.ts';
import { afterOf, authorizationOf, type ConnectionParams } from './connection-params.ts';
import { type Extra, serveSockets, TRY_AGAIN_LATER } from './sockets.ts';

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
  /** Cursor after which the streams of this socket start, unless they name a later one. */
  after: string | undefined;
  operations: number;
  stopWatching: () => void;
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
  const { tokens, log, bus, logGeneration, config } = resources;

  const sourceOf = (request: IncomingMessage): RequestSource => ({
    address: clientAddress(request, config.trustedProxies),
    origin: request.headers.origin,
    isRead: false,
  });

  const options: ServerOptions<Record<string, unknown>, SocketContext> = {
    async onConnect({ connectionParams, extra }) {
      const { socket } = extra;
      const header = authorizationOf(connectionParams) ?? extra.request.headers.authorization;
      const { principal, quotas, refused } = await authenticate(resources, header, sourceOf(extra.request));
      const token = bearerToken(header);
      const refusal = refused?.refusal ?? (await chargeQuota(resources, quotas, 1)).refusal;
      if (refusal?.code === 'RATE_LIMIT_EXCEEDED') return refuse(socket, TRY_AGAIN_LATER, 'Rate limit exceeded');
      if (header === undefined) return refuse(socket, CloseCode.Unauthorized, 'Unauthorized');
      if (!principal || refusal || token === undefined) return refuse(socket, CloseCode.Forbidden, 'Forbidden');
      // Closed during authentication: the close event has fired, so the count below would never be decremented.
      if (socket.readyState !== socket.OPEN) return false;
      const tenantId = principal.tenant.id;
      const open = (perTenant.get(tenantId) ?? 0) + 1;
      if (open > MAX_SOCKETS_PER_TENANT) return refuse(socket, TRY_AGAIN_LATER, 'Too many sockets');
      perTenant.set(tenantId, open);
      const after = afterOf(connectionParams);
      const stopWatching = watch(extra, token);
      Object.assign(extra, { principal, token, after, operations: 0, stopWatching } satisfies SocketExtra);
      socket.once('close', () => {
        extra.stopWatching?.();
        perTenant.set(tenantId, (perTenant.get(tenantId) ?? 1) - 1);
      });
      return sessionState(principal);
    },

    async onSubscribe({ extra }, _id, payload) {
      const { principal: connected, token } = extra;
      const requestId = newId();
      const principal = token === undefined ? undefined : await tokens.verify(token);
      if (!connected || !principal) {
        extra.socket.close(CloseCode.Forbidden, 'Forbidden');
        return [new CodedError('UNAUTHORIZED', 'The token is expired or revoked. Reconnect with a valid one.')];
      }
      const { quotas, refused } = await checkQuotasOf(resources, principal);
      if (refused?.refusal) return errorsWithCost([refused.refusal], refused.cost);
      const operation = await readPayload(payload, { principal, requestId, after: extra.after });
      const { cost, refusal } = await chargeQuota(resources, quotas, operation.points);
      if (refusal) return errorsWithCost([refusal], cost);
      if ('errors' in operation) return errorsWithCost(operation.errors, cost);
      if ((extra.operations ?? 0) >= MAX_OPERATIONS_PER_SOCKET) {
        return [
          new CodedError(
            'RATE_LIMIT_EXCEEDED',
            `At most ${MAX_OPERATIONS_PER_SOCKET} operations may be open on one socket.`,
          ),
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
      if (node.operation !== 'subscription') return undefined;
      const reason = interruptionOf(result);
      // Nothing is sent once the socket is closing: clients of graphql-ws would take the error for the end of the subscription.
      if (reason !== undefined) extra.socket.close(TRY_AGAIN_LATER, reason);
      return extra.placeholders.placeholder(result);
    },

    execute: ({ contextValue }) => run(contextValue as Execution),
    subscribe: ({ contextValue }) => subscribe(contextValue as Execution),
  };

  async function readPayload(payload: unknown, caller: Caller): Promise<ReadyOperation | InvalidOperation> {
    try {
      return await readOperation(kernel, parseRequest(payload), caller);
    } catch (error) {
      if (error instanceof BadRequest) return { errors: [error], points: 1 };
      throw error;
    }
  }

  const watch = ({ socket }: SocketContext, token: string): (() => void) =>
    tokens.watch(token, () => socket.close(CloseCode.Forbidden, 'Forbidden'));

  /** Payload of the acknowledgement, and of the pong that confirms a renewal. */
  const sessionState = ({ expiresAtMs }: Principal) => ({
    eventCursor: encodeCursor(bus.position, logGeneration),
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
  });

  /**
   * Replaces the token of an open socket. The new token must belong to the same tenant and have at least the scopes of the old one,
   * because open streams were authorized with those.
   * @returns the payload of the pong; undefined if the token is rejected
   */
  async function renew(extra: SocketContext, header: string): Promise<object | undefined> {
    const { principal } = await authenticate(resources, header, sourceOf(extra.request));
    const token = bearerToken(header);
    const { principal: old } = extra;
    if (!principal || !old || token === undefined || principal.tenant.id !== old.tenant.id) return undefined;
    if (![...old.scopes].every(scope => principal.scopes.has(scope))) return undefined;
    extra.stopWatching?.();
    Object.assign(extra, { principal, token, stopWatching: watch(extra, token) } satisfies Partial<SocketExtra>);
    if (extra.socket.readyState !== extra.socket.OPEN) extra.stopWatching?.();
    return sessionState(principal);
  }

  async function answerPing(extra: SocketContext, payload: ConnectionParams): Promise<object | undefined> {
    const header = authorizationOf(payload);
    if (header === undefined) return payload;
    // Before `connection_init` is acknowledged there is nothing to renew; the pong must not repeat the token.
    if (!extra.principal) return undefined;
    const renewed = await renew(extra, header);
    if (!renewed) extra.socket.close(CloseCode.Forbidden, 'Forbidden');
    return renewed;
  }

  const run = async ({ ready: { operation, variables, context }, cost }: Execution) =>
    withCost(await kernel.run(operation, variables, context), cost);
  const subscribe = ({ ready: { operation, variables, context } }: Execution) =>
    kernel.subscribe(operation, variables, context);

  const closeSockets = serveSockets<SocketExtra>(options, sockets, { keepAliveMs: KEEP_ALIVE_MS, answerPing, log });
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

/** Closes a connection that is not accepted. @returns false, on which graphql-ws would close it with 4403 */
function refuse(socket: WebSocket, code: number, reason: string): false {
  socket.close(code, reason);
  return false;
}

/**
 * Returns why a stream has to be interrupted: its client reads too slowly, or the database is away. The cursor in the reason is that
 * of the last event that was sent.
 */
function interruptionOf({
  errors = [],
}: {
  readonly errors?: readonly GraphQLError[] | undefined;
}): string | undefined {
  const error = errors.find(({ extensions }) => extensions['code'] === 'SERVICE_UNAVAILABLE');
  if (!error) return undefined;
  const { after } = (error.extensions['details'] ?? {}) as { after?: unknown };
  return typeof after === 'string' ? `Too slow; resume after ${after}` : 'Service unavailable';
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
