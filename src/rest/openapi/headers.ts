import type { Components } from './components.ts';
import type { JsonSchema } from './shape.ts';

const text = (description: string, example?: string): JsonSchema => ({
  description,
  schema: { type: 'string' },
  ...(example !== undefined && { example }),
});
const whole = (description: string): JsonSchema => ({ description, schema: { type: 'integer' } });

const HEADERS = {
  'X-Request-Id': text('The id of the request; the log has it too.'),
  'RateLimit-Policy': text(
    'The rates that hold: calls (`q`) in seconds (`w`).',
    '"token";q=60;w=60, "tenant";q=600;w=60',
  ),
  RateLimit: text(
    'What is left (`r`), and the seconds until it is all there again (`t`).',
    '"token";r=42;t=17, "tenant";r=582;t=17',
  ),
  'X-RateLimit-Limit': whole('The narrowest rate, for old clients.'),
  'X-RateLimit-Remaining': whole('What is left of it.'),
  'X-RateLimit-Reset': whole('When to come back, in seconds since 1970.'),
  'Retry-After': whole('Seconds to wait.'),
  'WWW-Authenticate': text('The scheme.', 'Bearer'),
  ETag: text('Stands for what `data` shows. Send it as `If-None-Match` to be answered 304 while that is the same.'),
  'Cache-Control': text('Nobody keeps an answer for others, nor uses it without asking again.', 'private, no-cache'),
  'Idempotency-Replayed': text('`true`: this is the answer that the first request with this key got.', 'true'),
  Deprecation: text('Since when nobody should begin to use this (RFC 9745).', '@1767225600'),
  Link: text('Where to go instead (RFC 8288).', '</api/v2/contacts>; rel="successor-version"'),
  Sunset: text('Until when it is there, where that is known (RFC 8594).', 'Fri, 31 Dec 2027 00:00:00 GMT'),
  'Preference-Applied': text('`respond-async`: the answer did not wait for the network.', 'respond-async'),
} as const satisfies Record<string, JsonSchema>;

export type HeaderName = keyof typeof HEADERS;

/** The headers of a response, by reference. */
export const headersOf = (components: Components, ...names: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries(names.map(name => [name, components.add('headers', name, HEADERS[name])]));
