import type { FastifyInstance } from 'fastify';
import type { RestHost } from '../host.ts';
import { mount } from '../mount.ts';
import { openApiOf } from '../openapi/document.ts';
import { serveOpenApi } from '../openapi/serve.ts';
import type { Route } from '../route.ts';
import { accountRoutes } from './account.ts';
import { API_V2 } from './api.ts';
import { botRoutes } from './bots.ts';
import { contactRoutes } from './contacts.ts';
import { contactBatchRoutes } from './contacts-batch.ts';
import { envelope } from './envelope.ts';
import { groupRoutes } from './groups.ts';
import { messageRoutes } from './messages.ts';
import { otpRoutes } from './otp.ts';
import { sendRoutes } from './send.ts';
import { sendMediaRoutes } from './send-media.ts';
import { sendTemplateRoutes } from './send-template.ts';
import { sourceRoutes } from './sources.ts';
import { statusRoutes } from './statuses.ts';
import { templateRoutes } from './templates.ts';
import { webhookRoutes } from './webhooks.ts';

export const ROUTES_V2: readonly Route[] = [
  ...accountRoutes,
  ...botRoutes,
  ...contactBatchRoutes,
  ...contactRoutes,
  ...groupRoutes,
  ...sourceRoutes,
  ...statusRoutes,
  ...templateRoutes,
  ...sendRoutes,
  ...sendMediaRoutes,
  ...sendTemplateRoutes,
  ...messageRoutes,
  ...otpRoutes,
  ...webhookRoutes,
];

/** Serves version 2 under `/api/v2`. Every document is compiled now: one that does not fit the schema ends the start. */
export async function registerRestV2(app: FastifyInstance, host: RestHost): Promise<void> {
  await app.register(
    async scope => {
      mount(scope, host, ROUTES_V2, envelope);
      serveOpenApi(scope, () => openApiOf(ROUTES_V2, host.kernel.schema, API_V2));
    },
    { prefix: API_V2.prefix },
  );
}
