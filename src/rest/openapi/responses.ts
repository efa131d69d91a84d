import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import { isChange, type Route } from '../runtime/route.ts';
import { type Components, type HeaderName, headersOf } from './components.ts';
import type { ApiDescription } from './description.ts';
import type { JsonSchema } from './schema.ts';

const MEANING = {
  BAD_REQUEST: 'The request is malformed, for example because its body is not JSON.',
  UNAUTHORIZED: 'The bearer token is missing, unknown, revoked or expired.',
  INSUFFICIENT_SCOPE: 'The token lacks the scope.',
  FEATURE_LIMIT_EXCEEDED: 'The limit of the plan is reached.',
  FEATURE_NOT_AVAILABLE: 'The plan does not include this feature.',
  CONTACT_OPTED_OUT: 'The contact has opted out of messages.',
  NOT_FOUND: 'The object does not exist in this tenant.',
  METHOD_NOT_ALLOWED: '`Allow` lists the supported methods.',
  CONFLICT: 'The object is in use, or the first request with this `Idempotency-Key` is still running.',
  TOO_OLD: 'The time in which this was possible is over.',
  DISABLED: 'The object is disabled: enable it first.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The content type of the body is not supported.',
  PRECONDITION_FAILED: 'The object is not as `If-Match` says: it was changed since. Read it again.',
  CURSOR_EXPIRED: 'The event log no longer contains the events after this cursor.',
  VALIDATION_ERROR: 'A field is missing or invalid.',
  OUTSIDE_SERVICE_WINDOW: 'The contact has not written within 24 hours, so free-form messages are refused.',
  MESSAGING_NOT_CONFIGURED: 'The tenant has no channel to send from.',
  OTP_NOT_FOUND: 'There is no live code for this phone number and purpose.',
  OTP_EXPIRED: 'The code has expired.',
  INVALID_CODE: 'The code is wrong.',
  MAX_ATTEMPTS_EXCEEDED: 'The code was entered wrong too often.',
  IDEMPOTENCY_MISMATCH: 'This `Idempotency-Key` was used with another payload.',
  RATE_LIMIT_EXCEEDED: 'Too many requests; `Retry-After` has the seconds to wait.',
  QUERY_TOO_COMPLEX: 'The query is too large.',
  MESSAGE_SEND_FAILED:
    'The network refused the message permanently. After a temporary refusal the message stays `queued`.',
  INTERNAL_ERROR: 'Unexpected server error, logged with the request id.',
  SERVICE_UNAVAILABLE: 'Temporarily unavailable; `Retry-After` has the seconds to wait.',
} as const satisfies Record<ErrorCode, string>;

const TITLES: Readonly<Record<number, string>> = {
  400: 'Malformed request.',
  401: 'Authentication required.',
  403: 'Not allowed.',
  404: 'Not found.',
  409: 'Conflict.',
  413: 'Body too large.',
  415: 'Unsupported type of body.',
  422: 'Invalid or refused input.',
  429: 'Rate limit exceeded.',
  500: 'Internal error.',
  503: 'Temporarily unavailable.',
};

/** The responses of success, by status. @param data the schema of `data`; of a list, that of one row */
export function successResponses(
  route: Route,
  operationId: string,
  data: JsonSchema,
  keyed: boolean,
  api: ApiDescription,
  components: Components,
): Record<string, JsonSchema> {
  const body = route.withoutEnvelope ? data : api.success(data, route.list !== undefined, components);
  const schema = components.add('schemas', bodyName(route, operationId, data), body);
  const headers = headersOf(
    components,
    ...api.headers,
    'X-Request-Id',
    'RateLimit-Policy',
    'RateLimit',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    ...(route.method === 'GET' ? (['Cache-Control'] as const) : []),
    ...(keyed ? (['Idempotency-Replayed'] as const) : []),
  );
  const answer = (description: string, more: JsonSchema = {}): JsonSchema => ({
    description,
    headers: { ...headers, ...more },
    content: { 'application/json': { schema } },
  });
  const status = route.status ?? 200;
  const tagged = route.method === 'GET' && !route.list;
  return {
    [status]: answer(
      status === 201 ? 'Created.' : 'Success.',
      tagged || route.method === 'PATCH' ? headersOf(components, 'ETag') : {},
    ),
    ...(route.mayExist && { 200: answer('The endpoint already existed.') }),
    ...(route.async && {
      202: answer('Stored; it is processed later.', headersOf(components, 'Preference-Applied')),
    }),
    ...(tagged && {
      304: {
        description: 'Unchanged since the response that `If-None-Match` names.',
        headers: headersOf(components, ...api.headers, 'X-Request-Id', 'ETag', 'Cache-Control'),
      },
    }),
  };
}

/** The name of a body: that of the component which it contains, otherwise that of the operation. */
function bodyName({ list }: Route, operationId: string, { $ref }: JsonSchema): string {
  const name = typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : operationId;
  return `${name}${list ? 'List' : 'Response'}`;
}

/** The errors of a route: those of its kind, and those that its row names. */
export function codesOf(
  route: Route,
  always: readonly ErrorCode[],
  facts: { readonly needsScope: boolean; readonly takesKey: boolean; readonly hasQuery: boolean },
): ErrorCode[] {
  const changes = route.method !== 'GET';
  const hasId = route.path.includes(':');
  const codes: (ErrorCode | false)[] = [
    isChange(route) && 'PRECONDITION_FAILED',
    (changes || hasId) && 'BAD_REQUEST',
    'UNAUTHORIZED',
    facts.needsScope && 'INSUFFICIENT_SCOPE',
    // The contact of a key's first request may have been erased.
    (hasId || facts.takesKey) && 'NOT_FOUND',
    facts.takesKey && 'CONFLICT',
    changes && 'PAYLOAD_TOO_LARGE',
    changes && 'UNSUPPORTED_MEDIA_TYPE',
    (changes || facts.hasQuery) && 'VALIDATION_ERROR',
    facts.takesKey && 'IDEMPOTENCY_MISMATCH',
    'RATE_LIMIT_EXCEEDED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...always,
    ...(route.errors ?? []),
  ];
  return [...new Set(codes.filter(code => code !== false))];
}

/** The responses of errors, by status. */
export function failureResponses(
  codes: readonly ErrorCode[],
  api: ApiDescription,
  components: Components,
): Record<string, JsonSchema> {
  const byStatus = Map.groupBy(codes, code => ERROR_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, possible]) => {
      const sorted = [...possible].sort();
      return [
        String(status),
        components.add('responses', sorted.join('.'), response(status, sorted, api, components)),
      ] as const;
    }),
  );
}

const response = (
  status: number,
  codes: readonly ErrorCode[],
  api: ApiDescription,
  components: Components,
): JsonSchema => ({
  description: [TITLES[status] ?? '', ...codes.map(code => `- \`${code}\`: ${meaningOf(code, api)}`)].join('\n'),
  headers: headersOf(components, ...api.headers, 'X-Request-Id', ...(HEADERS[status] ?? RATES)),
  content: Object.fromEntries(
    Object.entries(api.failure(status, codes, components)).map(([type, schema]) => [type, { schema }]),
  ),
});

const meaningOf = (code: ErrorCode, { details }: ApiDescription): string =>
  details[code] === undefined ? MEANING[code] : `${MEANING[code]} \`details\` has ${details[code]}.`;

const RATES = ['RateLimit-Policy', 'RateLimit', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'] as const;
const HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  429: [...RATES, 'Retry-After', 'X-RateLimit-Reset'],
  503: [...RATES, 'Retry-After'],
};
