import type { IncomingMessage } from 'node:http';
import { CloseCode, makeServer, type ServerOptions } from 'graphql-ws';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Log } from '../platform/log.ts';
import { isUnavailable } from './errors.ts';
import { createSharedTexts, type Places } from './shared-texts.ts';

/** What the protocol's context knows of a socket, beside what we add to it. */
export interface Extra {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** For answers that many get. */
  readonly places: Places;
}

/** RFC 6455 registry: "try again later". Clients do, where 4500 would end them for good. */
const TRY_AGAIN_LATER = 1013;

/**
 * Ties the protocol of graphql-ws to sockets of ws, as its own adapter does, but for faults: those go to the log, where the
 * adapter writes them to the console and tells their words to the client.
 * @returns a function that ends every socket with "going away", and resolves when they are gone
 */
export function serveSockets<E>(
  options: ServerOptions<Record<string, unknown>, Extra & Partial<E>>,
  sockets: WebSocketServer,
  keepAliveMs: number,
  log: Log,
): () => Promise<void> {
  const protocol = makeServer(options);
  const texts = createSharedTexts();
  sockets.on('error', error => log.error({ err: error }, 'the server of sockets failed'));
  sockets.on('connection', (socket, request) => {
    // ws closes the socket itself: 1009 for a frame that is too large, 1002 or 1007 for one that is none.
    socket.on('error', error => log.info({ err: error }, 'a socket was closed: what it sent cannot be read'));
    const stopPinging = keepAlive(socket, keepAliveMs);
    const places = texts.placesOf();
    const say = sender(socket, request);
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: message => say(places.fill(message)),
        close: (code, reason) => socket.close(code, reason),
        onMessage(handle) {
          socket.on('message', data => {
            handle(String(data)).catch((error: unknown) => {
              log.error({ err: error }, 'a message of a socket could not be handled');
              if (isUnavailable(error)) socket.close(TRY_AGAIN_LATER, 'Service unavailable');
              else socket.close(CloseCode.InternalServerError, 'Internal server error');
            });
          });
        },
      },
      { socket, request, places } as Extra & Partial<E>,
    );
    socket.once('close', (code, reason) => {
      stopPinging();
      closed(code, String(reason)).catch((error: unknown) =>
        log.error({ err: error }, 'the end of a socket could not be handled'),
      );
    });
  });

  return async () => {
    for (const socket of sockets.clients) socket.close(1001, 'Going away');
    sockets.removeAllListeners();
    await new Promise<void>((resolve, reject) => sockets.close(error => (error ? reject(error) : resolve())));
  };
}

/** So many bytes are written together at most. */
const MAX_TOGETHER_BYTES = 4 * 1024;

/**
 * What goes out on one socket. Texts that are said in one turn of the event loop are written by one call of the system: to
 * a thousand subscribers, half of the work was calls that each carried one event. Waiting for one's turn also keeps a
 * burst to one socket from holding up all others.
 *
 * @returns says a text; resolves when the next one may be said
 */
function sender(socket: WebSocket, { socket: connection }: IncomingMessage): (text: string) => Promise<void> {
  let bytes = 0;
  let turn: Promise<void> | undefined;

  /** Until the end of this turn nothing is written; then all at once. */
  const holdBack = (): Promise<void> => {
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
    turn ??= holdBack();
    bytes += text.length;
    if (bytes < MAX_TOGETHER_BYTES) socket.send(text);
    else await Promise.all([turn, written(socket, text)]);
  };
}

const written = (socket: WebSocket, text: string): Promise<void> =>
  new Promise((resolve, reject) => socket.send(text, error => (error ? reject(error) : resolve())));

/** Ends a socket from which no pong came since the ping before: its other end is gone without a word. */
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
