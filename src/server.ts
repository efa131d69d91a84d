import type { ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { type Admission, admit, bearerOf } from './authenticate.ts';
import type { Resources } from './context.ts';
import { CodedError, ERROR_STATUS, type ErrorCode } from './errors.ts';
import { isVerifyToken } from './features/channels/webhook-owners.ts';
import { rememberAnswer } from './features/idempotency/answer.ts';
import { createWebhookReceiver } from './features/inbox/receive.ts';
import { isUnavailable } from './graphql/errors.ts';
import { answerGraphQL, wantsStream } from './graphql/http.ts';
import { createKernel, type Kernel } from './graphql/kernel.ts';
import { faultInAddress } from './graphql/request.ts';
import { attachWebSockets, type Sockets } from './graphql/websocket.ts';
import { createYogaServer } from './graphql/yoga.ts';
import { SECOND } from './platform/clock.ts';
import { registerRestV2 } from './rest/v2/register.ts';

export interface GatewayServer {
  readonly url: string;
  readonly kernel: Kernel;
  /** Stops accepting, says goodbye to sockets, lets requests under way come to their end. */
  close(): Promise<void>;
}

/** The network sends up to 3 MB and 1,000 updates at once (cloud-api §9). */
const WEBHOOK_BODY_LIMIT = 4 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 60 * SECOND;
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
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    genReqId: newRequestId,
    logger: false,
    return503OnClosing: true,
    // Faults in the address itself never reach a hook.
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request, reply.header('x-request-id', request.id), resources),
    forceCloseConnections: 'idle',
  });
  const kernel = createKernel(resources, schema);
  parseJson(app);
  observe(app, resources);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, resources));
  app.setNotFoundHandler((request, reply) =>
    answerError(new CodedError('NOT_FOUND', 'There is nothing at this address.'), request, reply, resources),
  );

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
  registerGraphQL(app, resources, kernel);
  await app.register(webhookRoutes(resources), { prefix: '/network/cloud-api' });
  await registerRestV2(app, {
    kernel,
    async authenticate(request, reply) {
      const { principal, headers, refusal } = await admitRequest(resources, request, true);
      reply.headers(headers);
      if (refusal) throw refusal;
      return { principal, requestId: request.id };
    },
    saveAnswer: rememberAnswer,
  });

  return attachWebSockets(app.server, kernel, resources);
}

/** The request id stands in the answer, in the log and in errors: a UUID, ours always, so that nobody can forge another's. */
const newRequestId = (): string => crypto.randomUUID();

/** JSON bodies: parsed by us, so that a malformed one is the caller's 400, and an empty one is no body. */
function parseJson(app: FastifyInstance): void {
  // Fastify would read it as well; nothing here takes plain text, and Yoga's refusal of it has no body.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<string>(
    ['application/json', 'application/graphql-response+json'],
    { parseAs: 'string' },
    (_request, body, done) => {
      try {
        done(null, body === '' ? undefined : JSON.parse(body));
      } catch {
        done(new CodedError('BAD_REQUEST', 'The body is not valid JSON.'), undefined);
      }
    },
  );
}

/** A body that was read, as JSON again. @throws BAD_REQUEST for one that is nested deeper than the stack: reading it takes none */
function written(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (error instanceof RangeError) throw new CodedError('BAD_REQUEST', 'The body is nested too deeply.');
    throw error;
  }
}

async function admitRequest(resources: Resources, request: FastifyRequest, tokenRequired: boolean): Promise<Admission> {
  const header = request.headers.authorization;
  const admission = await admit(resources, header, request.ip);
  if (admission.principal) request.tenantId = admission.principal.tenant.id;
  if (!tokenRequired || admission.principal || admission.refusal) return admission;
  return { ...admission, refusal: new CodedError('UNAUTHORIZED', 'A bearer token is required.') };
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

/** Errors before any route's own handling: unknown routes, bodies that cannot be read, faults of ours. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, { log }: Resources): FastifyReply {
  const { code, message, details } = asCoded(error, request, log);
  if (ERROR_STATUS[code] === 503) reply.header('retry-after', String(details?.['retry_after'] ?? 1));
  const timestamp = new Date().toISOString().replace(/\.\d+Z$/, '+00:00');
  const meta = { request_id: request.id, timestamp };
  return reply
    .code(ERROR_STATUS[code])
    .send({ success: false, error: { code, message, ...(details && { details }) }, meta });
}

const FRAMEWORK_CODES: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

export function asCoded(
  error: unknown,
  request: FastifyRequest,
  log: Resources['log'],
): Pick<CodedError, 'code' | 'message' | 'details'> {
  if (error instanceof CodedError) return error;
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500 && error instanceof Error) {
    return { code: FRAMEWORK_CODES[status] ?? 'BAD_REQUEST', message: error.message, details: undefined };
  }
  log.error({ err: error, requestId: request.id }, 'a request failed');
  if (isUnavailable(error) || status === 503) {
    return {
      code: 'SERVICE_UNAVAILABLE',
      message: 'The service is not available at the moment. Try again.',
      details: { retry_after: 1 },
    };
  }
  return { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side.', details: undefined };
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

function registerGraphQL(app: FastifyInstance, resources: Resources, kernel: Kernel): void {
  const yoga = createYogaServer(kernel, resources.tokens, resources.config.graphiql);
  /** Answers that never come to an end by themselves. */
  const streams = new Set<ServerResponse>();
  // Cut off, not completed: a client takes that for a broken connection and goes on elsewhere after its cursor.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy();
  });

  /** Replays the request for Yoga: its body was read here, and a consumed stream cannot be read twice. */
  async function handOver(request: FastifyRequest, reply: FastifyReply, admission: Admission): Promise<FastifyReply> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined && !['content-length', 'transfer-encoding', 'connection'].includes(name))
        headers.set(name, String(value));
    }
    const body =
      request.body === undefined ? undefined : typeof request.body === 'string' ? request.body : written(request.body);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const context = {
      principal: admission.principal,
      requestId: request.id,
      token: bearerOf(request.headers.authorization),
    };
    // Yoga looks at path and query alone, and the Host header may be anything that a stranger writes.
    const address = `http://localhost${request.url}`;
    const init = { method: request.method, headers, signal: gone.signal, ...(body !== undefined && { body }) };
    const response = await yoga.fetch(address, init, context);
    if (wantsStream(request.headers.accept)) {
      streams.add(reply.raw);
      reply.raw.once('close', () => streams.delete(reply.raw));
    }
    reply.code(response.status);
    response.headers.forEach((value, name) => void reply.header(name, value));
    return reply.send(response.body);
  }

  app.route({
    method: ['GET', 'POST', 'OPTIONS'],
    url: '/graphql',
    async handler(request, reply) {
      const admission = await admitRequest(resources, request, false);
      reply.headers(admission.headers);
      const simple =
        request.method === 'POST' &&
        /^application\/json\b/i.test(request.headers['content-type'] ?? '') &&
        !wantsStream(request.headers.accept);
      if (simple || admission.refusal) return answerGraphQL(kernel, request, reply, admission, request.id);
      const fault = faultInAddress(request.query);
      return fault ? reply.code(400).send({ errors: [fault] }) : handOver(request, reply, admission);
    },
  });
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
