import type { FastifyInstance } from 'fastify';
import type { RestHost } from '../host.ts';
import { mount } from '../mount.ts';
import type { Route } from '../route.ts';
import { contactRoutes } from './contacts.ts';
import { contactBatchRoutes } from './contacts-batch.ts';
import { envelope } from './envelope.ts';
import { groupRoutes } from './groups.ts';
import { messageRoutes } from './messages.ts';
import { sendRoutes } from './send.ts';
import { sourceRoutes } from './sources.ts';
import { statusRoutes } from './statuses.ts';

export const ROUTES_V2: readonly Route[] = [
  ...contactBatchRoutes,
  ...contactRoutes,
  ...groupRoutes,
  ...sourceRoutes,
  ...statusRoutes,
  ...sendRoutes,
  ...messageRoutes,
];

/** Serves version 2 under `/api/v2`. Every document is compiled now: one that does not fit the schema ends the start. */
export async function registerRestV2(app: FastifyInstance, host: RestHost): Promise<void> {
  await app.register(async scope => mount(scope, host, ROUTES_V2, envelope), { prefix: '/api/v2' });
}
