import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { HOUR, SECOND } from '../platform/clock.ts';

/**
 * Headers of every response; pages and files replace the policy. @fastify/helmet is not used: it builds fifteen middlewares for each
 * request, and its other headers concern pages only.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

export function setSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}

/** Browsers cache a preflight for at most two hours. */
const PREFLIGHT_MAX_AGE_SECONDS = (2 * HOUR) / SECOND;

/** Headers that scripts may read in addition to those that CORS always allows. */
const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'Deprecation',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'WWW-Authenticate',
];

/**
 * Allows pages of the configured origins to call the routes of this scope. Never with credentials: callers are identified by
 * bearer tokens alone, which a page of another origin does not have.
 */
export async function allowOrigins(app: FastifyInstance, { corsOrigins }: Pick<Config, 'corsOrigins'>): Promise<void> {
  if (corsOrigins.length === 0) return;
  const roots = new Set<string | undefined>();
  app.addHook('onRoute', ({ url }) => {
    if (url !== '*') roots.add(rootOf(url));
  });
  // @fastify/cors would also answer preflights for paths outside this scope.
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.url !== '*' || roots.has(rootOf(request.url))) return;
    reply.callNotFound();
    await reply;
  });
  const options = {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    credentials: false,
  };
  await app.register(cors, {
    delegator: ({ method, headers }, done) =>
      // An OPTIONS request without the headers of a preflight is answered by the route.
      done(null, {
        ...options,
        preflight: method === 'OPTIONS' && headers['access-control-request-method'] !== undefined,
      }),
  });
}

/** `api` of `/api/v2/contacts?page=2`. */
const rootOf = (path: string): string | undefined => /^\/([^/?]*)/.exec(path)?.[1];
