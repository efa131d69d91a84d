import type { FastifyInstance } from 'fastify';
import { openApiOf } from './openapi/document.ts';
import { serveOpenApi } from './openapi/serve.ts';
import type { ApiVersion } from './runtime/execute.ts';
import type { RestHost } from './runtime/host.ts';
import { mount } from './runtime/mount.ts';
import { API_V1, ROUTES_V1 } from './v1/api.ts';
import { legacyEnvelope } from './v1/envelope.ts';
import { API_V2, ROUTES_V2 } from './v2/api.ts';
import { envelope } from './v2/envelope.ts';

const SUCCESSORS = new Map(ROUTES_V1.map(({ path, successor = path }) => [path, successor]));

/** Serves both versions with their OpenAPI documents. @throws when a document does not fit the schema */
export async function registerRest(
  app: FastifyInstance,
  host: RestHost,
  { v1SunsetMs }: { readonly v1SunsetMs: number | undefined },
): Promise<void> {
  const versions = [
    { api: API_V1, routes: ROUTES_V1, version: legacyEnvelope(v1SunsetMs, SUCCESSORS) },
    { api: API_V2, routes: ROUTES_V2, version: envelope },
  ];
  for (const { api, routes, version } of versions)
    await app.register(
      async scope => {
        mount(scope, host, routes, version);
        serveOpenApi(scope, () => openApiOf(routes, host.kernel.schema, api));
      },
      { prefix: api.prefix },
    );
}

/** The format of errors that occur before any route: version 1 below its prefix, version 2 everywhere else. */
export const apiVersionAt = (url: string, v1SunsetMs: number | undefined): ApiVersion =>
  /^\/api\/v1(?![\w-])/.test(url) ? legacyEnvelope(v1SunsetMs) : envelope;
