import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { HOUR, SECOND } from '../platform/clock.ts';

/**
 * Headers of every answer; pages and files replace the policy. @fastify/helmet is not used: it builds fifteen middlewares for each
 * request, and all of its other headers are for pages.
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

/** Headers that scripts may read beside those that CORS always allows. */
const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/**
 * Allows pages of the configured origins to call the routes of this scope. Never with credentials: callers are identified by
 * bearer tokens alone, which a page of another origin does not have.
 */
export async function allowOrigins(app: FastifyInstance, { corsOrigins }: Pick<Config, 'corsOrigins'>): Promise<void> {
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    credentials: false,
    // Without the headers of a preflight, OPTIONS is the request of a tool.
    strictPreflight: false,
  });
}
