import { ERROR_STATUS, type ErrorCode } from '../../errors.ts';
import type { Route } from '../route.ts';
import type { Components } from './components.ts';
import type { ApiDescription } from './document.ts';
import { type HeaderName, headersOf } from './headers.ts';
import type { JsonSchema } from './shape.ts';

const MEANING = {
  BAD_REQUEST: 'The request cannot be read, for example because its body is no JSON.',
  UNAUTHORIZED: 'The bearer token is missing, unknown, revoked or expired.',
  INSUFFICIENT_SCOPE: 'The token lacks the scope.',
  FEATURE_LIMIT_EXCEEDED: 'The plan allows no more.',
  FEATURE_NOT_AVAILABLE: 'The plan does not have this.',
  CONTACT_OPTED_OUT: 'The person asked not to be messaged.',
  NOT_FOUND: 'There is no such thing in this tenant.',
  METHOD_NOT_ALLOWED: '`Allow` names the methods that are possible here.',
  CONFLICT: 'It is in use, or the first request with this `Idempotency-Key` is still running.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body has a type that is not read here.',
  CURSOR_EXPIRED: 'What followed this place in the event log is no longer kept.',
  VALIDATION_ERROR: 'A field is missing or not valid.',
  OUTSIDE_SERVICE_WINDOW: 'The person did not write within 24 hours, and free-form messages are refused then.',
  MESSAGING_NOT_CONFIGURED: 'The tenant has no channel that sends.',
  OTP_NOT_FOUND: 'There is no live code for this phone number and purpose.',
  OTP_EXPIRED: 'The code is too old.',
  INVALID_CODE: 'The code is another one.',
  MAX_ATTEMPTS_EXCEEDED: 'The code was tried too often.',
  IDEMPOTENCY_MISMATCH: 'This `Idempotency-Key` was used with another payload.',
  RATE_LIMIT_EXCEEDED: 'Too many calls: `Retry-After` has the seconds to wait.',
  QUERY_TOO_COMPLEX: 'The query is too large.',
  MESSAGE_SEND_FAILED: 'The network refused the message.',
  INTERNAL_ERROR: 'A fault of ours, which the log knows by the request id.',
  SERVICE_UNAVAILABLE: 'Not at the moment: `Retry-After` has the seconds to wait.',
} as const satisfies Record<ErrorCode, string>;

const TITLES: Readonly<Record<number, string>> = {
  400: 'It cannot be read.',
  401: 'Who are you?',
  403: 'That is not allowed.',
  404: 'Not found.',
  409: 'Not now.',
  413: 'Too large.',
  415: 'Unknown type of body.',
  422: 'It is not valid, or not possible.',
  429: 'Too many calls.',
  500: 'Not done.',
  503: 'Not at the moment.',
};

/** What can come of a route beside success: what its kind can, and what its row names. */
export function codesOf(
  route: Route,
  always: readonly ErrorCode[],
  facts: { readonly scoped: boolean; readonly keyed: boolean; readonly chooses: boolean },
): ErrorCode[] {
  const changes = route.method !== 'GET';
  const hasId = route.path.includes(':');
  const codes: (ErrorCode | false)[] = [
    (changes || hasId) && 'BAD_REQUEST',
    'UNAUTHORIZED',
    facts.scoped && 'INSUFFICIENT_SCOPE',
    hasId && 'NOT_FOUND',
    facts.keyed && 'CONFLICT',
    changes && 'PAYLOAD_TOO_LARGE',
    changes && 'UNSUPPORTED_MEDIA_TYPE',
    (changes || facts.chooses) && 'VALIDATION_ERROR',
    facts.keyed && 'IDEMPOTENCY_MISMATCH',
    'RATE_LIMIT_EXCEEDED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...always,
    ...(route.errors ?? []),
  ];
  return [...new Set(codes.filter(code => code !== false))];
}

/** The responses of refusals, by status. */
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
