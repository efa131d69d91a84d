import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { JsonObject } from '../../platform/json.ts';

/** A request of either API, its body read completely unless it is an upload. */
export interface Request {
  readonly method: string;
  /** Decoded path segments, without the empty first one. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Empty for an upload. */
  readonly body: Buffer;
  /** The body of an upload, as it comes. */
  readonly stream: AsyncIterable<Buffer>;
  /** `http://host:port` as the client wrote it: absolute links in answers start with it. */
  readonly origin: string;
}

/** What becomes of a request: an answer, or one of the ways in which a network gives none. */
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
