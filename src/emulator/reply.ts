import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { JsonObject } from '../platform/json.ts';

/** A request of either API, with its body unless it is an upload. */
export interface Request {
  readonly method: string;
  /** Decoded path segments, without the leading empty one. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Empty for an upload. */
  readonly body: Buffer;
  /** The body of an upload, as a stream. */
  readonly stream: AsyncIterable<Buffer>;
  /** `http://host:port` as given by the client, for absolute links in responses. */
  readonly origin: string;
}

/** The result of a request: a response, or a way of not responding. */
export type Reply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | Buffer;
    }
  | {
      readonly kind: 'stream';
      readonly status: number;
      /** With `content-length`. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Readable;
    }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' };

export function json(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8', ...headers },
    body: JSON.stringify(body),
  };
}

export const SUCCESS: JsonObject = { success: true };

/** The access token of a request, in one of the forms of the Graph API: `Authorization: Bearer …`, `OAuth …` (uploads), or `access_token` in the query. */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers['authorization'];
  const match = typeof header === 'string' ? /^(?:Bearer|OAuth)\s+(\S+)$/i.exec(header) : null;
  return match?.[1] ?? request.query.get('access_token') ?? undefined;
}
