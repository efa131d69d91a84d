import type { FastifyInstance } from 'fastify';
import type { RestHost } from '../host.ts';
import { mount } from '../mount.ts';
import { openApiOf } from '../openapi/document.ts';
import { serveOpenApi } from '../openapi/serve.ts';
import type { Route } from '../route.ts';
import { API_V1 } from './api.ts';
import { botRoutes } from './bots.ts';
import { contactRoutes } from './contacts.ts';
import { legacyEnvelope } from './envelope.ts';
import { legacyLabelRoutes } from './labels.ts';
import { sendRoutes } from './send.ts';
import { sendMediaRoutes } from './send-media.ts';
import { sendTemplateRoutes } from './send-template.ts';
import { templateRoutes } from './templates.ts';

export const ROUTES_V1: readonly Route[] = [
  ...contactRoutes,
  ...legacyLabelRoutes,
  ...sendRoutes,
  ...sendMediaRoutes,
  ...sendTemplateRoutes,
  ...templateRoutes,
  ...botRoutes,
];

const SUCCESSORS = new Map(ROUTES_V1.map(({ path, successor = path }) => [path, successor]));

/** Serves version 1 under `/api/v1/{tenant}`. Every document is compiled now: one that does not fit the schema ends the start. */
export async function registerRestV1(
  app: FastifyInstance,
  host: RestHost,
  { v1SunsetMs }: { readonly v1SunsetMs: number | undefined },
): Promise<void> {
  await app.register(
    async scope => {
      mount(scope, host, ROUTES_V1, legacyEnvelope(v1SunsetMs, SUCCESSORS));
      serveOpenApi(scope, () => openApiOf(ROUTES_V1, host.kernel.schema, API_V1));
    },
    { prefix: API_V1.prefix },
  );
}
