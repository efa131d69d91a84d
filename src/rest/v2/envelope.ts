import type { ErrorCode } from '../../core/errors.ts';
import type { Components } from '../openapi/components.ts';
import { closedObject, type JsonSchema } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { type ApiVersion, JSON_TYPE, type Meta } from '../runtime/execute.ts';
import { type RestError, titleOf } from '../runtime/rest-error.ts';
import { pageOf, type RouteResponse } from '../runtime/route.ts';
import { time } from '../wire/values.ts';

const metaOf = ({ requestId, nowMs }: Meta) => ({
  request_id: requestId,
  timestamp: time(new Date(nowMs).toISOString()),
});

/** Version 2: an envelope around every response, and RFC 9457 on request. */
export const envelope: ApiVersion = {
  name: 'v2',
  rows: 'sparse',
  authenticate: (host, request, reply) => host.authenticate(request, reply),

  success({ data, message, page }, call, meta) {
    if (!page) return { success: true, data, message, meta: metaOf(meta) };
    const { pagination, links } = paginate(page, Array.isArray(data) ? data.length : 0, call);
    return { success: true, data, message, links, meta: { ...metaOf(meta), pagination } };
  },

  failure(error, request, meta) {
    if (request.headers.accept?.includes(PROBLEM_TYPE))
      return { contentType: PROBLEM_TYPE, body: problem(error, request.url, meta) };
    const { code, message, details } = error;
    return {
      contentType: JSON_TYPE,
      body: { success: false, error: { code, message, ...(details && { details }) }, meta: metaOf(meta) },
    };
  },
};

function paginate(page: NonNullable<RouteResponse['page']>, rows: number, call: Call) {
  const pagination = pageOf(page, rows);
  const { current_page: current, last_page: last } = pagination;
  const links = {
    first: call.pageUrl(1),
    last: call.pageUrl(last),
    // Beyond the end, the previous page is the last one.
    prev: current > 1 ? call.pageUrl(Math.min(current - 1, last)) : null,
    next: current < last ? call.pageUrl(current + 1) : null,
  };
  return { pagination, links };
}

const PROBLEM_TYPE = 'application/problem+json';

/** RFC 9457 §3: the code is the type, the request its occurrence. */
const problem = ({ code, status, message, details }: RestError, url: string, { requestId }: Meta) => ({
  type: `urn:parley:error:${code.toLowerCase()}`,
  title: titleOf(code),
  status,
  detail: message,
  instance: url.split('?', 1)[0],
  code,
  ...(details && { [code === 'VALIDATION_ERROR' ? 'errors' : 'details']: details }),
  request_id: requestId,
});

/** The body of every success of version 2. */
export function successSchema(data: JsonSchema, isList: boolean, components: Components): JsonSchema {
  const message = { type: 'string', description: 'Human-readable message.' };
  if (!isList) {
    const meta = { $ref: '#/components/schemas/Meta' };
    return closedObject({ success: { const: true }, data, message, meta });
  }
  const links = components.add('schemas', 'Links', LINKS);
  const meta = components.add('schemas', 'ListMeta', LIST_META);
  return closedObject({ success: { const: true }, data: { type: 'array', items: data }, message, links, meta });
}

const address = (description: string): JsonSchema => ({ type: 'string', description });
const addressOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });

const LINKS = closedObject({
  first: address('URL of the first page.'),
  last: address('URL of the last page.'),
  prev: addressOrNull('URL of the previous page; null on the first page.'),
  next: addressOrNull('URL of the next page; null on the last page.'),
});

const whole = (description: string): JsonSchema => ({ type: 'integer', description });
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });

const LIST_META = closedObject({
  request_id: { type: 'string', format: 'uuid' },
  timestamp: { type: 'string', format: 'date-time' },
  pagination: closedObject({
    current_page: whole('Number of the present page.'),
    per_page: whole('Number of rows in a page.'),
    total: whole('Number of rows in the whole list.'),
    last_page: whole('Number of the last page.'),
    from: wholeOrNull('Number of the first row of this page, starting at 1; null on an empty page.'),
    to: wholeOrNull('Number of the last row of this page; null on an empty page.'),
  }),
});

/** The bodies of its errors. */
export const failureSchema = (
  status: number,
  codes: readonly ErrorCode[],
  components: Components,
): Readonly<Record<string, JsonSchema>> => ({
  'application/json': enveloped(codes, components),
  'application/problem+json': problemSchema(status, codes),
});

const detailsOf = (codes: readonly ErrorCode[]): JsonSchema => {
  const messages: JsonSchema = {
    type: 'object',
    description: 'Error messages by field name.',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  };
  if (codes.every(code => code === 'VALIDATION_ERROR')) return messages;
  return { type: 'object', description: 'Further values that depend on the error code.' };
};

const enveloped = (codes: readonly ErrorCode[], components: Components): JsonSchema => {
  const error = closedObject(
    {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'Human-readable message; programs use the code.' },
      details: detailsOf(codes),
    },
    ['code', 'message'],
  );
  return closedObject({ success: { const: false }, error, meta: components.add('schemas', 'Meta', META) });
};

/** RFC 9457, with `Accept: application/problem+json`. */
const problemSchema = (status: number, codes: readonly ErrorCode[]): JsonSchema =>
  closedObject(
    {
      type: {
        type: 'string',
        format: 'uri',
        description: 'Error code as a URN, for example `urn:parley:error:not_found`.',
      },
      title: { type: 'string' },
      status: { const: status },
      detail: { type: 'string' },
      instance: { type: 'string', description: 'Path of the request.' },
      code: { type: 'string', enum: codes },
      [codes.includes('VALIDATION_ERROR') ? 'errors' : 'details']: detailsOf(codes),
      ...(codes.includes('VALIDATION_ERROR') && codes.length > 1 && { details: { type: 'object' } }),
      request_id: { type: 'string', format: 'uuid' },
    },
    ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  );

const META: JsonSchema = closedObject({
  request_id: {
    type: 'string',
    format: 'uuid',
    description: 'Id of the request, also in `X-Request-Id` and in the log.',
  },
  timestamp: { type: 'string', format: 'date-time', examples: ['2026-01-01T07:58:39+00:00'] },
});
