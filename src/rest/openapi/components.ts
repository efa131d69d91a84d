import type { JsonSchema } from './schema.ts';

export type ComponentKind = 'schemas' | 'responses' | 'headers' | 'parameters';

/** Parts that several operations share, each under one name. */
export class Components {
  readonly #kinds = new Map<ComponentKind, Map<string, JsonSchema>>();

  /** @returns a reference. @throws when the name is taken by a different component */
  add(kind: ComponentKind, name: string, component: JsonSchema): JsonSchema {
    const components = this.#kinds.get(kind) ?? new Map<string, JsonSchema>();
    this.#kinds.set(kind, components);
    const known = components.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(component))
      throw new Error(`Two different ${kind} are called ${name}.`);
    components.set(name, component);
    return { $ref: `#/components/${kind}/${name}` };
  }

  toJSON(): JsonSchema {
    return Object.fromEntries(
      [...this.#kinds].map(([kind, components]) => [kind, Object.fromEntries([...components].sort())] as const),
    );
  }
}

const text = (description: string, example?: string): JsonSchema => ({
  description,
  schema: { type: 'string' },
  ...(example !== undefined && { example }),
});
const whole = (description: string): JsonSchema => ({ description, schema: { type: 'integer' } });

const HEADERS = {
  'X-Request-Id': text('Id of the request, also in the log.'),
  'RateLimit-Policy': text(
    'Rate limits: requests (`q`) per number of seconds (`w`).',
    '"token";q=60;w=60, "tenant";q=600;w=60',
  ),
  RateLimit: text(
    'Remaining requests (`r`), and seconds until the quota is full again (`t`).',
    '"token";r=42;t=17, "tenant";r=582;t=17',
  ),
  'X-RateLimit-Limit': whole('The strictest rate limit, for clients that do not read `RateLimit`.'),
  'X-RateLimit-Remaining': whole('Remaining requests under that limit.'),
  'X-RateLimit-Reset': whole('Time at which the quota resets, in seconds since 1970-01-01 UTC.'),
  'Retry-After': whole('Seconds to wait before the next request.'),
  'WWW-Authenticate': text('The authentication scheme.', 'Bearer'),
  ETag: text('Identifies the content of `data`. Send it as `If-None-Match` to get 304 while that is unchanged.'),
  'Cache-Control': text('Responses are private and must be revalidated before each use.', 'private, no-cache'),
  'Idempotency-Replayed': text('`true`: this is the response to the first request with this key.', 'true'),
  Deprecation: text('Time of deprecation (RFC 9745).', '@1767225600'),
  Link: text('URL of the successor (RFC 8288).', '</api/v2/contacts>; rel="successor-version"'),
  Sunset: text('Time of removal, if known (RFC 8594).', 'Fri, 31 Dec 2027 00:00:00 GMT'),
  'Preference-Applied': text('`respond-async`: the response did not wait for the network.', 'respond-async'),
} as const satisfies Record<string, JsonSchema>;

export type HeaderName = keyof typeof HEADERS;

/** The headers of a response, by reference. */
export const headersOf = (components: Components, ...names: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries(names.map(name => [name, components.add('headers', name, HEADERS[name])]));
