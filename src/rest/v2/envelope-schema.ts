import type { ErrorCode } from '../../errors.ts';
import type { Components } from '../openapi/components.ts';
import { closedObject } from '../openapi/output.ts';
import type { JsonSchema } from '../openapi/shape.ts';

/** The body of every success of version 2. */
export function success(data: JsonSchema, isList: boolean, components: Components): JsonSchema {
  const message = { type: 'string', description: 'For people.' };
  if (!isList) {
    const meta = { $ref: '#/components/schemas/Meta' };
    return closedObject({ success: { const: true }, data, message, meta }, ['success', 'data', 'message', 'meta']);
  }
  const links = components.add('schemas', 'Links', LINKS);
  const meta = components.add('schemas', 'ListMeta', LIST_META);
  return closedObject({ success: { const: true }, data: { type: 'array', items: data }, message, links, meta }, [
    'success',
    'data',
    'message',
    'links',
    'meta',
  ]);
}

const address = (description: string): JsonSchema => ({ type: 'string', description });
const addressOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });

const LINKS = closedObject(
  {
    first: address('The first page.'),
    last: address('The last page.'),
    prev: addressOrNull('The page before this one.'),
    next: addressOrNull('The page behind this one.'),
  },
  ['first', 'last', 'prev', 'next'],
);

const whole = (description: string): JsonSchema => ({ type: 'integer', description });
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });

const LIST_META = closedObject(
  {
    request_id: { type: 'string', format: 'uuid' },
    timestamp: { type: 'string', format: 'date-time' },
    pagination: closedObject(
      {
        current_page: whole('This page.'),
        per_page: whole('Rows of a page.'),
        total: whole('Rows of the list.'),
        last_page: whole('The last page.'),
        from: wholeOrNull('The first row of this page, counted from 1; null on an empty page.'),
        to: wholeOrNull('The last row of this page.'),
      },
      ['current_page', 'per_page', 'total', 'last_page', 'from', 'to'],
    ),
  },
  ['request_id', 'timestamp', 'pagination'],
);

/** The bodies of its refusals. */
export const failure = (
  status: number,
  codes: readonly ErrorCode[],
  components: Components,
): Readonly<Record<string, JsonSchema>> => ({
  'application/json': enveloped(codes, components),
  'application/problem+json': problem(status, codes),
});

const detailsOf = (codes: readonly ErrorCode[]): JsonSchema => {
  const messages: JsonSchema = {
    type: 'object',
    description: 'What is wrong, by field.',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  };
  if (codes.every(code => code === 'VALIDATION_ERROR')) return messages;
  return { type: 'object', description: 'What the code needs beside its message.' };
};

const enveloped = (codes: readonly ErrorCode[], components: Components): JsonSchema => {
  const error = closedObject(
    {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'For people; programs look at the code.' },
      details: detailsOf(codes),
    },
    ['code', 'message'],
  );
  return closedObject({ success: { const: false }, error, meta: components.add('schemas', 'Meta', META) }, [
    'success',
    'error',
    'meta',
  ]);
};

/** RFC 9457, with `Accept: application/problem+json`. */
const problem = (status: number, codes: readonly ErrorCode[]): JsonSchema =>
  closedObject(
    {
      type: { type: 'string', format: 'uri', description: 'The code as a name: `urn:parley:error:not_found`.' },
      title: { type: 'string' },
      status: { const: status },
      detail: { type: 'string' },
      instance: { type: 'string', description: 'The path that was asked for.' },
      code: { type: 'string', enum: codes },
      [codes.includes('VALIDATION_ERROR') ? 'errors' : 'details']: detailsOf(codes),
      ...(codes.includes('VALIDATION_ERROR') && codes.length > 1 && { details: { type: 'object' } }),
      request_id: { type: 'string', format: 'uuid' },
    },
    ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  );

const META: JsonSchema = closedObject(
  {
    request_id: { type: 'string', format: 'uuid', description: 'Also in `X-Request-Id` and in the log.' },
    timestamp: { type: 'string', format: 'date-time', examples: ['2026-01-01T07:58:39+00:00'] },
  },
  ['request_id', 'timestamp'],
);
