import { type Client, createClient, type SubscribePayload } from 'graphql-ws';
import { backoffMs, pause } from './backoff.ts';
import { TransportError } from './errors.ts';
import { isRefusal, renewalLeadMs, type TokenStore, unauthorized } from './token.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly tokens: TokenStore;
  /** The WebSocket class; default: the global one. */
  readonly webSocketImpl?: unknown;
  /** Called when the socket is connected, and when it is lost or cannot be connected, with the close event or error. */
  readonly onConnection?: (state: 'connected' | 'closed', cause?: unknown) => void;
  /** Interval of keep-alive pings. The gateway has half of it to answer, and all of it to accept a connection. Default 20 s. */
  readonly keepAliveMs?: number;
}

/** A subscription, as its connection sees it. */
export interface Follower {
  /** Called with the position of the event log each time the socket is connected, before the subscription is sent. */
  readonly connected: (eventCursor: string) => void;
  /** Called when the client is closed. */
  readonly closed: () => void;
}

interface Sink {
  readonly next: (result: { readonly data?: unknown; readonly errors?: unknown }) => void;
  /** Called with the errors of a refused operation, a close event, or an error of the socket. */
  readonly error: (failure: unknown) => void;
  readonly complete: () => void;
}

/** Payload of an acknowledgement, and of the pong that confirms a renewal. */
interface Acknowledgement {
  readonly eventCursor?: unknown;
  readonly expiresAt?: unknown;
}

interface Socket {
  readonly readyState: number;
  send(text: string): void;
}

/** Close codes after which a retry would fail in the same way: protocol violations, no token, internal errors. */
const FINAL_CODES: ReadonlySet<unknown> = new Set([1009, 4400, 4401, 4406, 4409, 4429, 4500]);
/** The token is unknown, revoked or expired. */
const FORBIDDEN = 4403;
/** A connection that lasted this long resets the count of failures. */
const STABLE_MS = 30_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The socket that all subscriptions of a client share. graphql-ws implements the protocol. Reconnecting is implemented here, because
 * that of graphql-ws gives up when a connection is refused, and starts before a token is available.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #followers = new Set<Follower>();
  /** Aborted while there are no subscriptions. */
  #idle = new AbortController();
  /** Set once the connection is acknowledged. */
  #socket: Socket | undefined;
  #connectedAtMs = 0;
  #token = '';
  #rejected: string | undefined;
  /** Number of consecutive rejections of tokens. */
  #rejections = 0;
  #failures = 0;
  #recovery: Promise<void> | undefined;
  #positions: ((cursor: string | undefined) => void)[] = [];
  #renewalTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ConnectionOptions) {
    const { url, webSocketImpl, keepAliveMs = 20_000 } = options;
    this.#options = options;
    this.#client = createClient({
      url: url.replace(/^http/, 'ws'),
      ...(webSocketImpl !== undefined && { webSocketImpl }),
      connectionParams: () => ({ authorization: `Bearer ${this.#token}` }),
      keepAlive: keepAliveMs,
      retryAttempts: 0,
      on: {
        connecting: () => this.#expectMessage(keepAliveMs),
        connected: (socket, payload) => this.#connected(socket as Socket, payload ?? {}),
        closed: event => this.#closed(event),
        pong: (isReceived, payload) => {
          if (isReceived && payload) this.#renewed(payload);
        },
        ping: isReceived => {
          if (!isReceived) this.#expectMessage(keepAliveMs / 2);
        },
        message: () => clearTimeout(this.#silenceTimer),
      },
    });
  }

  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  /** Adds a subscription. @returns a function that removes it */
  join(follower: Follower): () => void {
    if (this.#followers.size === 0) this.#idle = new AbortController();
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size > 0) return;
      this.#recovery = undefined;
      this.#idle.abort();
    };
  }

  /**
   * Waits for the backoff after a failure, and for a token. Resolves at once while the socket is open.
   * @throws ParleyError if the session is over
   */
  async ready(hasFailed: boolean): Promise<void> {
    if (this.#socket) return;
    const recovery = this.#recovery ?? this.#recover(hasFailed);
    this.#recovery = recovery;
    try {
      await recovery;
    } finally {
      if (this.#recovery === recovery) this.#recovery = undefined;
    }
  }

  /** Subscribes without retries; connects if necessary. @returns a function that unsubscribes */
  subscribe(payload: SubscribePayload, sink: Sink): () => void {
    return this.#client.subscribe(payload, sink);
  }

  /** @returns the present position of the event log; undefined if the socket is lost */
  async position(): Promise<string | undefined> {
    if (!this.#socket) return undefined;
    const answer = new Promise<string | undefined>(resolve => this.#positions.push(resolve));
    this.#ping();
    return answer;
  }

  /** @returns the error with which subscriptions end; undefined if a retry may succeed */
  finalError(failure: unknown): Error | undefined {
    const { code, reason } = (failure ?? {}) as { readonly code?: unknown; readonly reason?: unknown };
    if (code === FORBIDDEN && this.#rejections > (this.#options.tokens.isRenewable ? 1 : 0))
      return unauthorized('The gateway does not accept the token: it is unknown, revoked or expired.');
    if (FINAL_CODES.has(code))
      return new TransportError(`The socket was closed: ${String(reason)} (${String(code)}).`, undefined, failure);
    return undefined;
  }

  /** Ends all subscriptions and closes the socket. */
  async close(): Promise<void> {
    for (const follower of this.#followers) follower.closed();
    // It rejects if the socket cannot be connected, which needs no handling.
    await Promise.resolve(this.#client.dispose()).catch(() => undefined);
  }

  async #recover(hasFailed: boolean): Promise<void> {
    const { tokens, onConnection } = this.#options;
    const { signal } = this.#idle;
    for (let mustWait = hasFailed; ; mustWait = true) {
      if (mustWait) await pause(backoffMs(this.#failures++), signal);
      try {
        this.#token = await tokens.get(this.#rejected);
        return;
      } catch (error) {
        if (isRefusal(error)) throw error;
        onConnection?.('closed', error);
      }
    }
  }

  /** Terminates the connection if no message arrives in time: the operating system would report a lost peer only after minutes. */
  #expectMessage(withinMs: number): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.#client.terminate(), withinMs);
  }

  #connected(socket: Socket, payload: Acknowledgement): void {
    this.#socket = socket;
    this.#connectedAtMs = performance.now();
    this.#rejections = 0;
    const { eventCursor } = payload;
    if (typeof eventCursor === 'string') for (const follower of this.#followers) follower.connected(eventCursor);
    this.#scheduleRenewal(payload);
    this.#options.onConnection?.('connected');
  }

  #closed(event: unknown): void {
    clearTimeout(this.#renewalTimer);
    clearTimeout(this.#silenceTimer);
    if (this.#socket && performance.now() - this.#connectedAtMs > STABLE_MS) this.#failures = 0;
    this.#socket = undefined;
    if ((event as { readonly code?: unknown }).code === FORBIDDEN) {
      this.#rejected = this.#token;
      this.#rejections += 1;
    }
    this.#answerPositions(undefined);
    this.#options.onConnection?.('closed', event);
  }

  #renewed(payload: Acknowledgement): void {
    if (typeof payload.eventCursor === 'string') this.#answerPositions(payload.eventCursor);
    this.#scheduleRenewal(payload);
  }

  #answerPositions(cursor: string | undefined): void {
    for (const resolve of this.#positions.splice(0)) resolve(cursor);
  }

  #scheduleRenewal(payload: Acknowledgement): void {
    clearTimeout(this.#renewalTimer);
    if (typeof payload.expiresAt !== 'string' || !this.#options.tokens.isRenewable) return;
    const remainingMs = Date.parse(payload.expiresAt) - Date.now();
    // This computer's clock is wrong: the token is replaced when the gateway closes the connection.
    if (!(remainingMs > 0)) return;
    const waitMs = Math.max(1_000, remainingMs - renewalLeadMs(remainingMs));
    this.#renewalTimer = setTimeout(() => void this.#renew(payload), Math.min(waitMs, MAX_TIMER_MS));
  }

  /** Replaces the token of the open socket, early enough for several attempts before the old one expires. */
  async #renew(payload: Acknowledgement): Promise<void> {
    try {
      this.#token = await this.#options.tokens.get(this.#token);
      this.#ping();
    } catch {
      if (this.#socket) this.#scheduleRenewal(payload);
    }
  }

  /** Sends the token in a ping: the gateway replaces the previous token and responds with the position of its log. */
  #ping(): void {
    if (this.#socket?.readyState !== 1) return;
    this.#socket.send(JSON.stringify({ type: 'ping', payload: { authorization: `Bearer ${this.#token}` } }));
  }
}
