import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type ConnectionError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { CodedError, ERROR_STATUS } from '../core/errors.ts';
import { callerOf, type Principal } from '../core/principal.ts';
import { openExport } from '../features/contacts/exports/open.ts';
import { receiveFile } from '../features/messages/content/media/receive-file.ts';
import { isUsedKey, rememberAnswer } from '../features/tenancy/idempotency/keys.ts';
import { isTenant } from '../features/tenancy/tenants/find.ts';
import { createKernel, type Kernel } from '../graphql/execution/kernel.ts';
import { registerGraphQL } from '../graphql/transport/route.ts';
import { registerSchemaFiles } from '../graphql/transport/schema-files.ts';
import { attachWebSockets, isWebSocketUpgrade, type Sockets } from '../graphql/transport/websocket.ts';
import { type Authentication, authenticate, chargeQuota } from '../http/authenticate.ts';
import { allowOrigins, SECURITY_HEADERS, setSecurityHeaders } from '../http/browser-access.ts';
import { clientAddress } from '../http/client-address.ts';
import { registerCompression } from '../http/compression.ts';
import { registerDashboard } from '../http/dashboard.ts';
import { registerHealth } from '../http/health.ts';
import { integrationRoutes } from '../http/integration-routes.ts';
import { mediaRoutes } from '../http/media-routes.ts';
import { networkRoutes } from '../http/network-routes.ts';
import { limitBodyTime, parseJsonBody, UPLOAD_TIMEOUT_MS } from '../http/request-body.ts';
import { asCoded } from '../http/request-errors.ts';
import { signedRoutes } from '../http/signed-routes.ts';
import { SECOND } from '../platform/clock.ts';
import { apiVersionAt, registerRest } from '../rest/register.ts';
import type { RestHost } from '../rest/runtime/host.ts';
import type { Resources } from '../schema/context.ts';

export interface GatewayServer {
  readonly url: string;
  readonly kernel: Kernel;
  /** Stops accepting connections, closes WebSockets, and waits for requests in progress. */
  close(): Promise<void>;
}

/** Additional routes of a development server. `authenticate` refuses callers without a token. */
export type AddRoutes = (
  app: FastifyInstance,
  resources: Resources,
  authenticate: (request: FastifyRequest, reply: FastifyReply) => Promise<{ readonly principal: Principal }>,
) => Promise<void>;

const KEEP_ALIVE_TIMEOUT_MS = 65 * SECOND;
/** Time for requests in progress to finish at shutdown; their connections are then closed. */
const CLOSE_TIMEOUT_MS = 3 * SECOND;

/**
 * Starts the HTTP server: GraphQL, REST, webhooks of the network, health and metrics.
 * @param parts a worker serves only health and metrics
 */
export async function startServer(
  resources: Resources,
  schema: GraphQLSchema,
  parts: 'all' | 'health',
  isReady: () => boolean,
  addRoutes?: AddRoutes,
): Promise<GatewayServer> {
  const { config, log } = resources;
  const app = Fastify({
    // A network's id of a message may be longer than Fastify's 100 characters.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    http: { shouldUpgradeCallback: request => parts === 'all' && isWebSocketUpgrade(request) },
    bodyLimit: config.bodyLimit,
    // The limit of uploads. Other bodies have less time: see limitBodyTime.
    requestTimeout: UPLOAD_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    genReqId: newRequestId,
    logger: false,
    // Fastify's 503 has none of our error shapes: see refuseWhenClosing.
    return503OnClosing: false,
    // Malformed URLs never reach a hook.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.headers({ 'x-request-id': request.id, ...SECURITY_HEADERS }), resources),
    clientErrorHandler: (error, socket) => answerMalformed(error, socket, resources),
    forceCloseConnections: 'idle',
    // No route has a schema of Fastify's; its default compilers (ajv, fast-json-stringify) are 110 modules.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
  });
  const kernel = createKernel(resources, schema);
  parseJson(app);
  observe(app, resources);
  // First, so that refusals by later hooks have the headers too.
  setSecurityHeaders(app);
  refuseWhenClosing(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, resources));
  app.setNotFoundHandler((request, reply) =>
    answerError(new CodedError('NOT_FOUND', 'There is no route at this URL.'), request, reply, resources),
  );

  limitBodyTime(app);
  await registerCompression(app);
  registerHealth(app, resources, isReady);
  const sockets = parts === 'all' ? await registerApis(app, resources, kernel, addRoutes) : undefined;
  const url = await app.listen({ host: config.host, port: config.port });
  log.info({ url }, 'listening');
  return {
    url,
    kernel,
    async close() {
      await sockets?.close();
      const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await app.close();
      clearTimeout(timer);
    },
  };
}

async function registerApis(
  app: FastifyInstance,
  resources: Resources,
  kernel: Kernel,
  addRoutes: AddRoutes | undefined,
): Promise<Sockets> {
  await app.register(networkRoutes(resources), { prefix: '/network/cloud-api' });
  await app.register(integrationRoutes(resources), { prefix: '/integrations' });
  const authenticateCall = async (request: FastifyRequest, reply: FastifyReply) => {
    const { principal, quotas, refused } = await authenticateRequest(resources, request);
    const { headers, refusal } =
      refused ?? (await chargeQuota(resources, quotas, request.routeOptions.config.points ?? 1));
    reply.headers(headers);
    if (refusal) throw refusal;
    if (!principal) throw new CodedError('UNAUTHORIZED', 'A bearer token is required.');
    return { principal, requestId: request.id };
  };
  await addRoutes?.(app, resources, authenticateCall);
  const host: RestHost = {
    kernel,
    clock: resources.clock,
    log: resources.log,
    async authenticate(request, reply) {
      const caller = await authenticateCall(request, reply);
      if (caller.principal.documentsOnly)
        throw new CodedError('INSUFFICIENT_SCOPE', 'This token executes trusted documents of GraphQL only.');
      return caller;
    },
    isTenant: slug => isTenant(resources.db.read, slug),
    isUsedKey: ({ principal }, key) => isUsedKey(resources, principal, key),
    saveAnswer: rememberAnswer,
    receiveFile: ({ principal }, file) => receiveFile(resources, callerOf({ principal }), file),
  };
  await registerDashboard(app, resources.config);
  // A separate scope: pages of other origins must not call webhooks, health and metrics.
  await app.register(async api => {
    await allowOrigins(api, resources.config);
    registerGraphQL(api, resources, kernel, request => authenticateRequest(resources, request));
    registerSchemaFiles(api, kernel.schema);
    await api.register(mediaRoutes(resources, authenticateCall));
    await api.register(
      signedRoutes(resources, 'export', 'Export', (tenantId, id) => openExport(resources, tenantId, id)),
    );
    await registerRest(api, host, resources.config);
  });

  return attachWebSockets(app.server, kernel, resources);
}

/** The id in responses, log lines and errors. Always generated here: an id taken from a header could be forged. */
const newRequestId = (): string => crypto.randomUUID();

function refuseSchemas(): never {
  throw new Error('Routes have no Fastify schemas: bodies are checked where they are read.');
}

/** Replaces Fastify's JSON parser, so that malformed JSON is a 400 with our error shape. */
function parseJson(app: FastifyInstance): void {
  // No route accepts plain text, and Yoga's rejection of it has no body.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<Buffer>(
    ['application/json', 'application/graphql-response+json'],
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body),
  );
}

/** Resolves the caller. A request that may proceed has not been charged yet. */
async function authenticateRequest(resources: Resources, request: FastifyRequest): Promise<Authentication> {
  const authentication = await authenticate(resources, request.headers.authorization, {
    address: clientAddress(request.raw, resources.config.trustedProxies),
    origin: request.headers.origin,
    isRead: request.method === 'GET' || request.method === 'HEAD',
  });
  if (authentication.principal) request.tenantId = authentication.principal.tenant.id;
  return authentication;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** For the request log. */
    tenantId: number | undefined;
  }
}

/** Logs and measures each request. Never logs a body, a token or a query string. */
function observe(app: FastifyInstance, { log, metrics }: Resources): void {
  // These lines contain no secrets: redaction would cost a quarter of a small request (8 of 34 µs).
  const requestLog = log.child({}, { redact: [] });
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
    if (status >= 500) requestLog.warn(line, 'request failed');
    else requestLog.info(line, 'request');
  });
}

/**
 * Rejects requests on kept-alive connections during shutdown with 503, so that clients retry on another process and requests
 * in progress are not delayed.
 */
function refuseWhenClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  // A callback rather than async: it saves a promise per request.
  app.addHook('onRequest', (_request, _reply, done) => {
    done(
      isClosing
        ? new CodedError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again.', { details: { retry_after: 1 } })
        : undefined,
    );
  });
}

/** Handles errors outside a route's own handling: unknown routes, unreadable bodies, internal errors. */
function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { config, log, clock }: Resources,
): FastifyReply {
  const { code, message, details } = asCoded(error, request.id, log);
  const status = ERROR_STATUS[code];
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (status === 503) reply.header('retry-after', String(details?.['retry_after'] ?? 1));
  const meta = { requestId: request.id, nowMs: clock.now() };
  const version = apiVersionAt(request.url, config.v1SunsetMs);
  reply.headers(version.headers?.(request) ?? {});
  const { contentType, body } = version.failure({ code, status, message, details }, request, meta);
  return reply.code(status).type(contentType).send(body);
}

const MALFORMED_BY_CODE: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request timed out.'],
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large.'],
  HPE_INVALID_METHOD: [400, 'Unknown HTTP method.'],
};
const MALFORMED = [400, 'Malformed HTTP request.'] as const;

/**
 * Answers a request that Node's parser rejects (unknown method, oversized headers), in the error shape of its URL if that can
 * be read. Closes the connection, because the start of the next request is unknown.
 */
function answerMalformed(error: ConnectionError, socket: Socket, { config, log, clock }: Resources): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = MALFORMED_BY_CODE[error.code ?? ''] ?? MALFORMED;
  const requestId = crypto.randomUUID();
  // The last packet; it holds the request line if the request fits into one.
  const packet: unknown = error.rawPacket;
  const url = /^\S+ (\/\S*)/.exec(Buffer.isBuffer(packet) ? packet.toString('latin1') : '')?.[1] ?? '';
  const version = apiVersionAt(url, config.v1SunsetMs);
  const malformed = { code: 'BAD_REQUEST', status, message, details: undefined } as const;
  const { contentType, body } = version.failure(malformed, { headers: {}, url }, { requestId, nowMs: clock.now() });
  const text = JSON.stringify(body);
  const headers = {
    ...version.headers?.({ routeOptions: {} }),
    ...SECURITY_HEADERS,
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': requestId,
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  log.info({ requestId, status, code: error.code }, 'malformed request');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`);
}
