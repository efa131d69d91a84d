import type { JsonObject } from '../cloud-api/json.ts';

/** A request of either API, its body read completely. */
export interface Request {
  readonly method: string;
  /** Decoded path segments, without the empty first one. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
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
