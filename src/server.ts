import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { type Admission, admit, charge } from './authenticate.ts';
import { paceBodies, UPLOAD_TIMEOUT_MS } from './body-pace.ts';
import type { Resources } from './context.ts';
import { CodedError, ERROR_STATUS } from './errors.ts';
import { callerOf } from './features/caller.ts';
import { isVerifyToken } from './features/channels/webhook-owners.ts';
import { rememberAnswer } from './features/idempotency/answer.ts';
import { createWebhookReceiver } from './features/inbox/receive.ts';
import { receiveFile } from './features/media/receive-file.ts';
import { isTenant } from './features/tenants/known.ts';
import { createKernel, type Kernel } from './graphql/kernel.ts';
import { registerGraphQL } from './graphql/route.ts';
import { attachWebSockets, type Sockets } from './graphql/websocket.ts';
import { integrationRoutes } from './integration-routes.ts';
import { mediaRoutes } from './media-routes.ts';
import { SECOND } from './platform/clock.ts';
import { asCoded } from './request-errors.ts';
import { dialectAt } from './rest/dialect-at.ts';
import type { RestHost } from './rest/host.ts';
import { parseJsonBody } from './rest/json-body.ts';
import { registerRestV1 } from './rest/v1/register.ts';
import { registerRestV2 } from './rest/v2/register.ts';
import { answerUnreadable } from './unreadable-requests.ts';

export interface GatewayServer {
  readonly url: string;
  readonly kernel: Kernel;
  /** Stops accepting, says goodbye to sockets, lets requests under way come to their end. */
  close(): Promise<void>;
}

/** The network sends up to 3 MB and 1,000 updates at once (cloud-api §9). */
const WEBHOOK_BODY_LIMIT = 4 * 1024 * 1024;
const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND;
/** Requests under way get this long when we stop; who is still sending or reading then is cut off. */
const CLOSE_TIMEOUT_MS = 3 * SECOND;

/**
 * One HTTP server for everything: GraphQL, REST, webhooks of the network, health, metrics.
 * @param parts a worker serves its health alone
 */
export async function startServer(
  resources: Resources,
  schema: GraphQLSchema,
  parts: 'all' | 'health',
  isReady: () => boolean,
): Promise<GatewayServer> {
  const { config, log } = resources;
  const app = Fastify({
    bodyLimit: config.bodyLimit,
    trustProxy: config.trustProxy,
    // Other bodies have to be here long before: see paceBodies.
    requestTimeout: UPLOAD_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    genReqId: newRequestId,
    logger: false,
    // Fastify's own has the shape of none of our interfaces: see refuseWhenClosing.
    return503OnClosing: false,
    // Faults in the address itself never reach a hook.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.header('x-request-id', request.id), resources),
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, resources),
    forceCloseConnections: 'idle',
  });
  const kernel = createKernel(resources, schema);
  parseJson(app);
  observe(app, resources);
  refuseWhenClosing(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, resources));
  app.setNotFoundHandler((request, reply) =>
    answerError(new CodedError('NOT_FOUND', 'There is nothing at this address.'), request, reply, resources),
  );

  paceBodies(app);
  registerHealth(app, resources, isReady);
  const sockets = parts === 'all' ? await registerApis(app, resources, kernel) : undefined;
  const url = await app.listen({ host: config.host, port: config.port });
  log.info({ url }, 'listening');
  return {
    url,
    kernel,
    async close() {
      await sockets?.close();
      const impatient = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await app.close();
      clearTimeout(impatient);
    },
  };
}

async function registerApis(app: FastifyInstance, resources: Resources, kernel: Kernel): Promise<Sockets> {
  registerGraphQL(app, resources, kernel, request => admitRequest(resources, request));
  await app.register(webhookRoutes(resources), { prefix: '/network/cloud-api' });
  await app.register(integrationRoutes(resources), { prefix: '/integrations' });
  const authenticate = async (request: FastifyRequest, reply: FastifyReply) => {
    const { principal, quotas, refused } = await admitRequest(resources, request);
    const { headers, refusal } = refused ?? (await charge(resources, quotas, 1));
    reply.headers(headers);
    if (refusal) throw refusal;
    if (!principal) throw new CodedError('UNAUTHORIZED', 'A bearer token is required.');
    return { principal, requestId: request.id };
  };
  await app.register(mediaRoutes(resources, authenticate), { prefix: '/media' });
  const host: RestHost = {
    kernel,
    authenticate,
    isTenant: slug => isTenant(resources.db.read, slug),
    saveAnswer: rememberAnswer,
    receiveFile: ({ principal }, file) => receiveFile(resources, callerOf({ principal }), file),
  };
  await registerRestV1(app, host, resources.config);
  await registerRestV2(app, host);

  return attachWebSockets(app.server, kernel, resources);
}

/** The request id stands in the answer, in the log and in errors: a UUID, ours always, so that nobody can forge another's. */
const newRequestId = (): string => crypto.randomUUID();

/** JSON bodies: parsed by us, so that a malformed one is the caller's 400. */
function parseJson(app: FastifyInstance): void {
  // Fastify would read it as well; nothing here takes plain text, and Yoga's refusal of it has no body.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<Buffer>(
    ['application/json', 'application/graphql-response+json'],
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body),
  );
}

/** Who calls; nothing is charged yet. */
async function admitRequest(resources: Resources, request: FastifyRequest): Promise<Admission> {
  const admission = await admit(resources, request.headers.authorization, request.ip);
  if (admission.principal) request.tenantId = admission.principal.tenant.id;
  return admission;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log. */
    tenantId: number | undefined;
  }
}

/** One line in the log and one observation for each request; never a body, a token or a query string. */
function observe(app: FastifyInstance, { log, metrics }: Resources): void {
  // Looking for secrets where none can be costs a quarter of a small request (8 of 34 µs).
  const lines = log.child({}, { redact: [] });
  app.decorateRequest('tenantId', undefined);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    const status = reply.statusCode;
    metrics.httpDuration.observe({ route, method: request.method, status: String(status) }, reply.elapsedTime / SECOND);
    const line = {
      requestId: request.id,
      tenantId: request.tenantId,
      method: request.method,
      route,
      status,
      ms: Math.round(reply.elapsedTime),
    };
    if (status >= 500) lines.warn(line, 'request failed');
    else lines.info(line, 'request');
  });
}

/**
 * What comes over a connection that is still open while we stop is refused at once, in the words of its address, so that its
 * caller goes to another process: to begin with it would only make those wait that are under way.
 */
function refuseWhenClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  // With `done`: a promise for every request would cost more than what is asked.
  app.addHook('onRequest', (_request, _reply, done) => {
    done(
      isClosing
        ? new CodedError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again.', { retry_after: 1 })
        : undefined,
    );
  });
}

/** Errors before any route's own handling: unknown routes, bodies that cannot be read, faults of ours. */
function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { config, log, clock }: Resources,
): FastifyReply {
  const { code, message, details } = asCoded(error, request, log);
  const status = ERROR_STATUS[code];
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (status === 503) reply.header('retry-after', String(details?.['retry_after'] ?? 1));
  const meta = { requestId: request.id, nowMs: clock.now() };
  const dialect = dialectAt(request.url, config.v1SunsetMs);
  reply.headers(dialect.headers?.(request) ?? {});
  const { contentType, body } = dialect.failure({ code, status, message, details }, request, meta);
  return reply.code(status).type(contentType).send(body);
}

function registerHealth(app: FastifyInstance, { db, metrics }: Resources, isReady: () => boolean): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const reason = isReady()
      ? await db.ping(2 * SECOND).then(
          () => undefined,
          (error: unknown) => `database: ${error instanceof Error ? error.message : 'no answer'}`,
        )
      : 'starting or stopping';
    return reason === undefined
      ? { status: 'ready' }
      : reply.code(503).header('retry-after', '1').send({ status: 'unavailable', reason });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}

/** Inbound webhooks of the network. The signature is over the raw bytes, so nothing here parses them first. */
function webhookRoutes(resources: Resources) {
  return async (app: FastifyInstance): Promise<void> => {
    const receiver = createWebhookReceiver(resources);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser<Buffer>(
      '*',
      { parseAs: 'buffer', bodyLimit: WEBHOOK_BODY_LIMIT },
      (_request, body, done) => done(null, body),
    );

    app.get<{ Querystring: Record<string, string | undefined> }>('/webhook', async (request, reply) => {
      const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = request.query;
      const known = mode === 'subscribe' && token !== undefined && (await isVerifyToken(resources, token));
      return known ? reply.type('text/plain').send(challenge ?? '') : reply.code(403).send({ error: 'forbidden' });
    });

    app.post<{ Body: Buffer | undefined }>('/webhook', { bodyLimit: WEBHOOK_BODY_LIMIT }, async (request, reply) => {
      const header = request.headers['x-hub-signature-256'];
      const receipt = await receiver.receive(
        request.body ?? Buffer.alloc(0),
        typeof header === 'string' ? header : undefined,
      );
      if (receipt === 'stored') return reply.send({ status: 'stored' });
      return reply.code(receipt === 'forbidden' ? 403 : 400).send({ error: receipt });
    });
  };
}
