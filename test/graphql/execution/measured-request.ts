import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../support/gateway.ts';

/** A response and its parsed body. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly json: any;
}
/** Sends a request with this token. */
export async function measuredRequest(
  url: string,
  token: string,
  init: RequestInit & { path?: string },
): Promise<Seen> {
  const response = await fetch(`${url}${init.path ?? '/graphql'}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers },
  });
  const text = await response.text();
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: data.startsWith('{') ? JSON.parse(data) : undefined,
  };
}

/** Expects the cost in the body to agree with the rate limit headers. */
export function agree({ status, headers, json }: Seen): void {
  const { cost } = json.extensions;
  expect(cost.remaining).toBe(Number(headers.get('x-ratelimit-remaining')));
  const states = new Map(
    (headers.get('ratelimit') ?? '').split(', ').map(item => {
      const [, name = '', r, t] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(item) ?? [];
      return [name, { r: Number(r), t: Number(t) }];
    }),
  );
  expect([...states.values()].map(({ r }) => r)).toContain(cost.remaining);
  const refused = json.errors?.[0]?.extensions.code === 'RATE_LIMIT_EXCEEDED';
  expect([headers.has('retry-after'), headers.has('x-ratelimit-reset'), status === 429]).toEqual([
    refused,
    refused,
    refused,
  ]);
  expect(cost.resetAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  if (!refused) return;
  const { details } = json.errors[0].extensions;
  expect(details).toEqual({
    retry_after: Number(headers.get('retry-after')),
    limit: Number(headers.get('x-ratelimit-limit')),
  });
  expect(Date.parse(cost.resetAt) / 1_000).toBe(Number(headers.get('x-ratelimit-reset')));
  const token = states.get('token');
  expect([token?.r, token?.t]).toEqual([cost.remaining, details.retry_after]);
}

/** Opens a WebSocket; returns a function that sends an operation and resolves with its response. */
export async function connect(url: string, token: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  const messages: any[] = [];
  const closed = new Promise<number>(resolve => void socket.on('close', resolve));
  socket.on('error', () => undefined).on('message', data => void messages.push(JSON.parse(String(data))));
  await new Promise(resolve => void socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
  await eventually(() => expect(messages.shift()?.type).toBe('connection_ack'));
  let id = 0;
  return {
    socket,
    closed,
    async ask(query: string) {
      id += 1;
      const mine = String(id);
      socket.send(JSON.stringify({ id: mine, type: 'subscribe', payload: { query } }));
      return eventually(() => {
        const found = messages.find(message => message.id === mine && message.type !== 'complete');
        expect(found).toBeDefined();
        return found;
      });
    },
  };
}
