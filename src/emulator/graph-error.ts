import { randomBytes } from 'node:crypto';
import { ERROR_CODES } from '../network/cloud-api/error-codes.ts';
import type { JsonObject } from '../platform/json.ts';
import { json, type Reply } from './reply.ts';

/**
 * HTTP statuses by code, from an older revision of Meta's error page. All other codes have 400, including rate limits: clients must
 * not rely on 429.
 */
const HTTP_STATUS: Readonly<Record<number, number>> = {
  0: 401,
  2: 503,
  10: 403,
  190: 401,
  368: 403,
  131000: 500,
  131005: 403,
  131016: 500,
  131031: 403,
  131057: 500,
  133004: 503,
};

/** An error response of the Graph API, thrown by handlers and written by the server. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super('rejected');
    this.reply = reply;
  }
}

/** The usual format: `OAuthException` with `error_data.details`. `message` replaces the title of the code. */
export function graphError(
  code: number,
  details?: string,
  options: { message?: string; httpStatus?: number } = {},
): GraphError {
  const known = ERROR_CODES.get(code);
  const transient = known?.retryClass === 'retry_backoff';
  const error: JsonObject = {
    message: options.message ?? `(#${code}) ${known?.title ?? 'Unknown error'}`,
    type: 'OAuthException',
    code,
    ...(details !== undefined && { error_data: { messaging_product: 'whatsapp', details } }),
    ...(transient && { is_transient: true }),
    fbtrace_id: traceId(),
  };
  const status = options.httpStatus ?? HTTP_STATUS[code] ?? (code >= 200 && code < 300 ? 403 : 400);
  return new GraphError(json(status, { error }));
}

/** A missing or invalid parameter, in the wording of the Graph API, without `error_data`. */
export function badParameter(sentence: string): GraphError {
  return graphError(100, undefined, { message: `(#100) ${sentence}` });
}

/** A missing or unknown token. */
export function badToken(present: boolean): GraphError {
  const message = present
    ? 'Invalid OAuth access token - Cannot parse access token'
    : 'An access token is required to request this resource.';
  return new GraphError(
    json(
      401,
      { error: { message, type: 'OAuthException', code: 190, fbtrace_id: traceId() } },
      { 'www-authenticate': `OAuth "Facebook Platform" "invalid_token" "${message}"` },
    ),
  );
}

/** An object that does not exist or that the token may not see: the same response for both, in the other error format. */
export function unknownObject(method: string, id: string): GraphError {
  const message =
    `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing ` +
    'permissions, or does not support this operation. Please read the Graph API documentation at ' +
    'https://developers.facebook.com/docs/graph-api';
  const error = { message, type: 'GraphMethodException', code: 100, error_subcode: 33, fbtrace_id: traceId() };
  return new GraphError(
    json(
      400,
      { error },
      {
        'www-authenticate': `OAuth "Facebook Platform" "invalid_request" "${message}"`,
        'x-app-usage': '{"call_count":1,"total_cputime":0,"total_time":1}',
      },
    ),
  );
}

function traceId(): string {
  return `A${randomBytes(16).toString('base64url')}`;
}
