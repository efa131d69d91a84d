import type { IncomingMessage } from 'node:http';
import { CloseCode, MessageType, makeServer, type ServerOptions } from 'graphql-ws';
import type { WebSocket, WebSocketServer } from 'ws';
import { isUnavailable } from '../../database/unavailable.ts';
import type { Log } from '../../platform/log.ts';
import { createSharedPayloads, type Placeholders } from './shared-payloads.ts';

/** The `extra` of graphql-ws' context. */
export interface Extra {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Replaces results that are sent to many sockets. */
  readonly placeholders: Placeholders;
}

/** IANA close code "Try Again Later". Clients of graphql-ws reconnect on it, but not on 4500. */
export const TRY_AGAIN_LATER = 1013;

interface SocketOptions<E> {
  readonly keepAliveMs: number;
  /** Returns the payload of the pong that answers a client's `ping`. */
  readonly answerPing: (
    extra: Extra & Partial<E>,
    payload: Record<string, unknown> | undefined,
  ) => Promise<object | undefined>;
  readonly log: Log;
}

/**
 * Connects graphql-ws to ws. Unlike its own adapter, internal errors are logged instead of being printed and sent to the client,
 * and messages of one turn are written together.
 * @returns a function that closes every socket with 1001 "Going away" and resolves once they are closed
 */
export function serveSockets<E>(
  options: ServerOptions<Record<string, unknown>, Extra & Partial<E>>,
  sockets: WebSocketServer,
  { keepAliveMs, answerPing, log }: SocketOptions<E>,
): () => Promise<void> {
  const protocol = makeServer(options);
  const payloads = createSharedPayloads();
  sockets.on('error', error => log.error({ err: error }, 'WebSocket server failed'));
  sockets.on('connection', (socket, request) => {
    // ws closes the socket itself: 1009 for an oversized frame, 1002 or 1007 for a malformed one.
    socket.on('error', error => log.info({ err: error }, 'closed a WebSocket: invalid frame'));
    const stopPinging = keepAlive(socket, keepAliveMs);
    const placeholders = payloads.forSocket();
    const send = createSender(socket, request);
    const extra = { socket, request, placeholders } as Extra & Partial<E>;
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: message => send(placeholders.fill(message)),
        close: (code, reason) => socket.close(code, reason),
        // By default, graphql-ws repeats the payload in its pong, including a token.
        async onPing(given) {
          const payload = await answerPing(extra, given);
          await send(JSON.stringify({ type: MessageType.Pong, ...(payload && { payload }) }));
        },
        onMessage(handle) {
          socket.on('message', data => {
            handle(String(data)).catch((error: unknown) => {
              log.error({ err: error }, 'handling a WebSocket message failed');
              if (isUnavailable(error)) socket.close(TRY_AGAIN_LATER, 'Service unavailable');
              else socket.close(CloseCode.InternalServerError, 'Internal server error');
            });
          });
        },
      },
      extra,
    );
    socket.once('close', (code, reason) => {
      stopPinging();
      closed(code, String(reason)).catch((error: unknown) =>
        log.error({ err: error }, 'handling the close of a WebSocket failed'),
      );
    });
  });

  return async () => {
    for (const socket of sockets.clients) socket.close(1001, 'Going away');
    sockets.removeAllListeners();
    await new Promise<void>((resolve, reject) => sockets.close(error => (error ? reject(error) : resolve())));
  };
}

/** Maximum number of bytes written in one system call. */
const MAX_CORKED_BYTES = 4 * 1024;

/**
 * Writes the messages of one turn of the event loop in one system call: with a thousand subscribers, half of the time was
 * spent in calls with one event each. Waiting for the end of the turn also interleaves bursts to different sockets.
 *
 * @returns sends a message; resolves when the next one may be sent
 */
function createSender(socket: WebSocket, { socket: connection }: IncomingMessage): (text: string) => Promise<void> {
  let bytes = 0;
  let turn: Promise<void> | undefined;

  /** Corks the connection until the end of this turn. */
  const cork = (): Promise<void> => {
    connection.cork();
    return new Promise(resolve => {
      setImmediate(() => {
        bytes = 0;
        turn = undefined;
        connection.uncork();
        resolve();
      });
    });
  };

  return async text => {
    if (socket.readyState !== socket.OPEN) return;
    turn ??= cork();
    bytes += text.length;
    if (bytes < MAX_CORKED_BYTES) socket.send(text);
    else await Promise.all([turn, sendText(socket, text)]);
  };
}

const sendText = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve, reject) => socket.send(text, error => (error ? reject(error) : resolve())));

/** Terminates a socket that has not answered the previous ping: its peer has disappeared. */
function keepAlive(socket: WebSocket, everyMs: number): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, everyMs);
  return () => clearInterval(timer);
}
