import { type Client, createClient } from 'graphql-ws';
import { ParleyError, type ResponseError, TransportError } from './errors.ts';
import type { TokenStore } from './token.ts';

export interface StreamOptions {
  readonly url: string;
  readonly tokens: TokenStore;
  /** The WebSocket class; default: the global one. */
  readonly webSocketImpl?: unknown;
  /** Called after a lost connection was restored, and when one is lost. */
  readonly onConnection?: (state: 'connected' | 'closed') => void;
}

interface Payload {
  readonly query: string;
  /** Of a trusted document, in place of `query`. */
  readonly documentId?: string;
  readonly operationName?: string | undefined;
  variables: Record<string, unknown>;
}

/** Before the end of its session a socket gets the next token. */
const RENEWAL_MS = 60_000;
/** Events that may wait for a consumer; beyond it the subscription pauses and resumes from its cursor. */
const MAX_WAITING = 1_000;

/** Opens the socket of a client. Each subscription is resumed after a lost connection, from the cursor of its last event. */
export function openStreams({ url, tokens, webSocketImpl, onConnection }: StreamOptions): Client {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const scheduleRenewal = (socket: { send(text: string): void; readyState?: number }, ack: unknown): void => {
    const expiresAt = typeof ack === 'object' && ack !== null && 'expiresAt' in ack ? ack.expiresAt : undefined;
    if (typeof expiresAt !== 'string' || !tokens.isRenewable) return;
    const inMs = Math.max(0, Date.parse(expiresAt) - Date.now() - RENEWAL_MS);
    timer = setTimeout(
      () => {
        // The gateway takes the new token in place of the old one. A failure shows when the session ends: the socket closes with 4403.
        tokens.get().then(
          token => {
            if (socket.readyState === 1)
              socket.send(JSON.stringify({ type: 'ping', payload: { authorization: `Bearer ${token}` } }));
          },
          () => undefined,
        );
      },
      Math.min(inMs, 2 ** 31 - 1),
    );
  };
  return createClient({
    url: url.replace(/^http/, 'ws'),
    ...(webSocketImpl !== undefined && { webSocketImpl }),
    connectionParams: async () => ({ authorization: `Bearer ${await tokens.get()}` }),
    retryAttempts: Number.POSITIVE_INFINITY,
    keepAlive: 20_000,
    on: {
      connected: (socket, ack) => {
        clearTimeout(timer);
        scheduleRenewal(socket as never, ack);
        onConnection?.('connected');
      },
      closed: () => {
        clearTimeout(timer);
        onConnection?.('closed');
      },
    },
  });
}

/**
 * Yields the results of a subscription. Where the document has a variable `$after` and selects the `cursor` of its events, no event
 * is lost or repeated across lost connections.
 * @throws ParleyError if the gateway refuses or ends the subscription
 */
export async function* follow(client: Client, payload: Payload, signal?: AbortSignal): AsyncGenerator<unknown> {
  const waiting: unknown[] = [];
  let outcome: { readonly error?: unknown } | undefined;
  let wake = (): void => undefined;
  const end = (error?: unknown): void => {
    outcome ??= { error };
    wake();
  };
  const start = (): (() => void) =>
    client.subscribe(payload as never, {
      next: ({ data, errors }) => {
        if (errors && errors.length > 0) return end(new ParleyError(errors as readonly ResponseError[], data));
        const cursor = cursorOf(data);
        // graphql-ws sends this very object again when it reconnects.
        if (cursor !== undefined) payload.variables = { ...payload.variables, after: cursor };
        waiting.push(data);
        wake();
      },
      error: error => end(asError(error)),
      complete: () => {
        if (!isPaused) end();
      },
    });
  let isPaused = false;
  let stop = start();
  const abort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    for (;;) {
      if (waiting.length > MAX_WAITING && !isPaused && 'after' in payload.variables) {
        isPaused = true;
        stop();
      }
      if (waiting.length > 0) {
        yield waiting.shift();
        continue;
      }
      if (outcome) {
        if (outcome.error !== undefined) throw outcome.error;
        return;
      }
      if (isPaused) {
        isPaused = false;
        stop = start();
      }
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}

/** The cursor of the event, if the document selects it. */
function cursorOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  for (const value of Object.values(data))
    if (typeof value === 'object' && value !== null && typeof value.cursor === 'string') return value.cursor;
  return undefined;
}

function asError(error: unknown): unknown {
  if (Array.isArray(error)) return new ParleyError(error);
  if (error instanceof Error) return error;
  const { code, reason } = (error ?? {}) as { readonly code?: unknown; readonly reason?: unknown };
  return new TransportError(
    `The socket was closed: ${String(reason ?? '')} (${String(code ?? 'no code')}).`,
    undefined,
    error,
  );
}
