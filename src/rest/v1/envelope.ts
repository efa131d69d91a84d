import { CodedError, type ErrorCode, unauthorized } from '../../core/errors.ts';
import type { Components } from '../openapi/components.ts';
import { closedObject, type JsonSchema } from '../openapi/schema.ts';
import { type ApiVersion, JSON_TYPE } from '../runtime/execute.ts';
import { type RestError, titleOf } from '../runtime/rest-error.ts';
import { paginate, paginatorSchema } from './paginator.ts';

/** Version 1 is deprecated since 1 January 2026; in seconds since 1970 (RFC 9745). */
const DEPRECATED_SINCE = Date.UTC(2026, 0, 1) / 1_000;
const PREFIX = '/api/v1';
const SUCCESSOR = '/api/v2';
const TENANT = '/:tenant';

/** Paths of version 2, by those of version 1. */
export type Successors = ReadonlyMap<string, string>;

/**
 * Version 1: the tenant in the path, `status`, `message` and `data` or `errors`, and a deprecation header on every answer.
 * @param sunsetMs when it ends, in milliseconds since 1970; undefined: not decided
 */
export const legacyEnvelope = (sunsetMs: number | undefined, successors: Successors = new Map()): ApiVersion => ({
  name: 'v1',
  pathPrefix: TENANT,
  rows: 'complete',

  // The token is verified first, so that only authenticated callers learn whether a tenant exists.
  async authenticate(host, request, reply) {
    const caller = await host.authenticate(request, reply);
    const { tenant = '' } = request.params;
    if (caller.principal?.tenant.slug === tenant) return caller;
    if (await host.isTenant(tenant)) throw unauthorized();
    throw new CodedError('BAD_REQUEST', 'There is no such tenant: the address has to name it after /api/v1/.');
  },

  headers({ routeOptions: { url = '' }, params }) {
    const path = url.startsWith(PREFIX + TENANT)
      ? successors.get(url.slice((PREFIX + TENANT).length))
      : unversionedPath(url);
    const id = (params as { readonly id?: string } | undefined)?.id ?? '';
    const link = SUCCESSOR + (path ?? '').replace(':id', encodeURIComponent(id));
    return {
      deprecation: `@${DEPRECATED_SINCE}`,
      link: `<${link}>; rel="successor-version"`,
      ...(sunsetMs !== undefined && { sunset: new Date(sunsetMs).toUTCString() }),
    };
  },

  success({ data, message, page }, call) {
    const shown = page ? paginate(page, Array.isArray(data) ? data : [], call) : data;
    return { status: 'success', message, data: shown };
  },

  failure: (error, _request, { requestId }) => ({ contentType: JSON_TYPE, body: bodyOf(error, requestId) }),
});

/** Returns the path without its prefix for paths that both versions serve in addition to their routes: `/openapi.json`, `/docs`. */
const unversionedPath = (url: string): string | undefined =>
  url.startsWith(`${PREFIX}/`) && !url.includes('*') ? url.slice(PREFIX.length) : undefined;

function bodyOf(error: RestError, requestId: string): object {
  const { code, message, details } = error;
  if (code === 'RATE_LIMIT_EXCEEDED') return { message, retry_after: details?.['retry_after'] ?? 1 };
  if (code === 'VALIDATION_ERROR') return { status: 'error', message, errors: details ?? {} };
  return { status: 'error', message: titleOf(code), errors: reasonOf(error, requestId) };
}

/** The message, with the most important of version 2's `details`. */
function reasonOf({ code, message, details }: RestError, requestId: string): string {
  switch (code) {
    case 'INTERNAL_ERROR':
      return `${message} The request was ${requestId}.`;
    case 'MESSAGE_SEND_FAILED': {
      const { code: number, details: reason } = (details?.['provider'] ?? {}) as { code?: number; details?: string };
      // The details often only repeat the title.
      return number === undefined
        ? message
        : `${message} (${number}${reason && !message.includes(reason) ? `: ${reason}` : ''})`;
    }
    default:
      return message;
  }
}

const MESSAGE: JsonSchema = { type: 'string', description: 'Human-readable message.' };

/** The body of every success of version 1: a list is a paginator. */
export const successSchema = (data: JsonSchema, isList: boolean, components: Components): JsonSchema =>
  closedObject({
    status: { const: 'success' },
    message: MESSAGE,
    data: isList ? paginatorSchema(data, components) : data,
  });

const BY_FIELD = closedObject({
  status: { const: 'error' },
  message: MESSAGE,
  errors: {
    type: 'object',
    description: 'Error messages by field name.',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  },
});

const RATE = closedObject({
  message: MESSAGE,
  retry_after: { type: 'integer', minimum: 1, description: 'Seconds to wait before the next request.' },
});

/** The body of its errors. */
export function failureSchema(
  _status: number,
  codes: readonly ErrorCode[],
  components: Components,
): Readonly<Record<string, JsonSchema>> {
  const others = codes.filter(code => code !== 'VALIDATION_ERROR' && code !== 'RATE_LIMIT_EXCEEDED');
  const shapes: JsonSchema[] = [
    ...(codes.includes('VALIDATION_ERROR') ? [components.add('schemas', 'ValidationError', BY_FIELD)] : []),
    ...(codes.includes('RATE_LIMIT_EXCEEDED') ? [RATE] : []),
    ...(others.length > 0 ? [textual(others)] : []),
  ];
  const [only] = shapes;
  return { 'application/json': shapes.length === 1 && only ? only : { oneOf: shapes } };
}

const textual = (codes: readonly ErrorCode[]): JsonSchema =>
  closedObject({
    status: { const: 'error' },
    message: {
      type: 'string',
      enum: codes.map(titleOf),
      description: 'Machine-readable text, constant for each error code.',
    },
    errors: { type: 'string', description: 'Human-readable reason.' },
  });
