import type { Route } from '../route.ts';
import type { Components } from './components.ts';
import type { ApiDescription } from './document.ts';
import { headersOf } from './headers.ts';
import type { JsonSchema } from './shape.ts';

/**
 * The responses of success, by status.
 * @param data what the answer shows; of a list, one of its rows
 */
export function successResponses(
  route: Route,
  data: JsonSchema,
  keyed: boolean,
  api: ApiDescription,
  components: Components,
): Record<string, JsonSchema> {
  const schema = route.bare ? data : api.success(data, route.list !== undefined, components);
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
    [status]: answer(status === 201 ? 'Made.' : 'Done.', tagged ? headersOf(components, 'ETag') : {}),
    ...(route.found && { 200: answer('It was there already.') }),
    ...(route.async && {
      202: answer('Stored; it goes on by itself.', headersOf(components, 'Preference-Applied')),
    }),
    ...(tagged && {
      304: {
        description: 'It is what `If-None-Match` says.',
        headers: headersOf(components, ...api.headers, 'X-Request-Id', 'ETag', 'Cache-Control'),
      },
    }),
  };
}
