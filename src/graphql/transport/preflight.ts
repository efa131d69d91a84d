import type { IncomingHttpHeaders } from 'node:http';
import { BadRequest } from '../execution/request.ts';

/** Headers that a page cannot send to another origin without a preflight (Fetch §2.2.2), among them those that Apollo Server accepts. */
const PREFLIGHTED_HEADERS = [
  'authorization',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'graphql-require-preflight',
];
const SIMPLE_CONTENT_TYPE = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;

/**
 * Returns an error for a request that any web page could make a browser send (cross-site request forgery): a GET or a form without
 * a header that needs a preflight.
 */
export function findForgery(headers: IncomingHttpHeaders): BadRequest | undefined {
  const type = headers['content-type'];
  const isPreflighted =
    PREFLIGHTED_HEADERS.some(name => headers[name] !== undefined) ||
    (type !== undefined && !SIMPLE_CONTENT_TYPE.test(type));
  if (isPreflighted) return undefined;
  return new BadRequest(
    'A GET request needs a header that browsers preflight: Authorization, or GraphQL-Require-Preflight.',
  );
}
