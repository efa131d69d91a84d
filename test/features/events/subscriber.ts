import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';
import { EVENT_TYPES, eventWord, typesMatching } from '../../../src/core/events.ts';
import { eventually } from '../../support/gateway.ts';

/** What every subscription of these tests asks for. */
export const EVENTS =
  'subscription ($filter: EventFilter, $after: String) { events(filter: $filter, after: $after) { id: databaseId cursor type data: payload } }';

export interface SeenEvent {
  readonly id: string;
  readonly cursor: string;
  readonly type: string;
  readonly data: {
    readonly message?: { readonly id: string; readonly message: string | null };
    readonly group?: { readonly id: number; readonly name: string };
  };
}

export interface Follower {
  readonly events: SeenEvent[];
  /** What came instead of events: errors of the operation, or how the socket was closed. */
  readonly errors: unknown[];
  /** Resolves with the close of the socket. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly socket: () => WebSocket;
  stop(): Promise<void>;
}

export interface FollowOptions {
  /** Types and patterns, as webhooks write them. */
  readonly types?: readonly string[];
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly after?: string | undefined;
  readonly query?: string;
}

const filterOf = (types: readonly string[] | undefined, filter: FollowOptions['filter']) => ({
  ...(types && { types: [...typesMatching(types)].map(eventWord) }),
  ...filter,
});

/** An event with its type as webhooks write it. */
const onWire = (event: SeenEvent): SeenEvent => ({
  ...event,
  type: EVENT_TYPES.find(type => eventWord(type) === event.type) ?? event.type,
});

/** Follows the events of a tenant over a socket of its own, as a browser would. Resolves when the server has acknowledged. */
export async function follow(
  url: string,
  token: string,
  { types, filter, after, query = EVENTS }: FollowOptions = {},
): Promise<Follower> {
  const events: SeenEvent[] = [];
  const errors: unknown[] = [];
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  let socket: WebSocket | undefined;
  const client = connect(url, token, {
    connected: raw => {
      socket = raw as WebSocket;
    },
    closed: event => closed.resolve(event as { code: number; reason: string }),
  });
  const acknowledged = new Promise<void>(resolve => client.on('connected', () => resolve()));
  client.subscribe<{ events: SeenEvent }>(
    {
      query,
      variables: {
        ...((types || filter) && { filter: filterOf(types, filter) }),
        ...(after !== undefined && { after }),
      },
    },
    {
      next: result => {
        if (result.data) events.push(onWire(result.data.events));
        if (result.errors) errors.push(...result.errors);
      },
      error: error => void errors.push(error),
      complete: () => undefined,
    },
  );
  await Promise.race([acknowledged, closed.promise]);
  return {
    events,
    errors,
    closed: closed.promise,
    socket: () => {
      if (!socket) throw new Error('The socket was never connected.');
      return socket;
    },
    async stop() {
      await client.dispose();
    },
  };
}

/** A client that stays away once it is closed. */
export function connect(
  url: string,
  token: string | undefined,
  on: NonNullable<Parameters<typeof createClient>[0]['on']> = {},
): Client {
  return createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    retryAttempts: 0,
    onNonLazyError: () => undefined,
    ...(token !== undefined && { connectionParams: { authorization: `Bearer ${token}` } }),
    on,
  });
}

/** One operation over a client that is connected already. */
export function ask(
  client: Client,
  query: string,
): Promise<ExecutionResult<Record<string, unknown>> | readonly unknown[]> {
  return new Promise((resolve, reject) => {
    let last: ExecutionResult<Record<string, unknown>> | undefined;
    client.subscribe(
      { query },
      {
        next: result => {
          last = result as ExecutionResult<Record<string, unknown>>;
        },
        error: error => (Array.isArray(error) ? resolve(error as readonly unknown[]) : reject(error)),
        complete: () => (last ? resolve(last) : reject(new Error('Nothing came.'))),
      },
    );
  });
}

/** A stream of Server-Sent Events: what has come of it so far. */
export interface Stream {
  readonly status: number;
  readonly events: SeenEvent[];
  readonly errors: { readonly message: string; readonly extensions: { readonly code: string } }[];
  readonly ended: Promise<void>;
  abort(): void;
}

/** Follows over Server-Sent Events: POST with `Accept: text/event-stream`. */
export async function stream(
  url: string,
  token: string,
  { types, filter, after, query = EVENTS }: FollowOptions = {},
): Promise<Stream> {
  const gone = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables: { filter: filterOf(types, filter), after } }),
    signal: gone.signal,
  });
  const events: SeenEvent[] = [];
  const errors: Stream['errors'] = [];
  const read = async (): Promise<void> => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: ?(.+)$/m.exec(block)?.[1];
        if (data === undefined || !/^event: ?next$/m.test(block)) continue;
        const result = JSON.parse(data) as { data?: { events: SeenEvent } | null; errors?: Stream['errors'] };
        if (result.data) events.push(onWire(result.data.events));
        if (result.errors) errors.push(...result.errors);
      }
    }
  };
  return { status: response.status, events, errors, ended: read().catch(() => undefined), abort: () => gone.abort() };
}

/** Waits until a follower has seen what it was told to wait for: for as long as more comes. */
export async function seen(follower: Pick<Follower, 'events'>, count: number): Promise<void> {
  while (follower.events.length < count) {
    const before = follower.events.length;
    await eventually(() => {
      if (follower.events.length === before) throw new Error(`Only ${before} of ${count} events have come.`);
    });
  }
}
