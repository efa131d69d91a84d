import type { Route } from '../route.ts';
import type { Components } from './components.ts';
import { headersOf } from './headers.ts';
import { closedObject } from './output.ts';
import type { JsonSchema } from './shape.ts';

/**
 * The responses of success, by status.
 * @param data what the answer shows; of a list, one of its rows
 */
export function successResponses(
  route: Route,
  data: JsonSchema,
  keyed: boolean,
  components: Components,
): Record<string, JsonSchema> {
  const schema = route.bare ? data : enveloped(data, route.list !== undefined, components);
  const headers = headersOf(
    components,
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
    [status]: answer(status === 201 ? 'Made.' : 'Done.', tagged ? headersOf(components, 'ETag') : {}),
    ...(route.async && {
      202: answer('Stored; it goes on by itself.', headersOf(components, 'Preference-Applied')),
    }),
    ...(tagged && {
      304: {
        description: 'It is what `If-None-Match` says.',
        headers: headersOf(components, 'X-Request-Id', 'ETag', 'Cache-Control'),
      },
    }),
  };
}

function enveloped(data: JsonSchema, isList: boolean, components: Components): JsonSchema {
  const success = { const: true };
  const message = { type: 'string', description: 'For people.' };
  if (!isList) {
    const meta = { $ref: '#/components/schemas/Meta' };
    return closedObject({ success, data, message, meta }, ['success', 'data', 'message', 'meta']);
  }
  const links = components.add('schemas', 'Links', LINKS);
  const meta = components.add('schemas', 'ListMeta', LIST_META);
  return closedObject({ success, data: { type: 'array', items: data }, message, links, meta }, [
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
