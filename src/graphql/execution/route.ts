import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { CodedError, ERROR_STATUS } from '../../core/errors.ts';
import { type Authentication, bearerToken, type Charge, chargeQuota } from '../../http/authenticate.ts';
import { asCoded } from '../../http/request-errors.ts';
import type { Resources } from '../../schema/context.ts';
import { sendGraphiQL, wantsPage } from '../transport/graphiql.ts';
import {
  answerGraphQL,
  findParameterFault,
  parseGetRequest,
  parseRequest,
  sendRefusal,
  sendResult,
  wantsStream,
} from '../transport/http.ts';
import type { Caller, Kernel } from './kernel.ts';
import { readOperation } from './operation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of `/graphql`; undefined until authenticated. */
    authentication: Authentication | undefined;
    /** The charge of this request. A request is charged once, whatever its outcome. */
    charge: Charge | undefined;
  }
}

/**
 * Registers `/graphql` over HTTP. A caller is authenticated before the body is read, so that one without quota costs no
 * parsing, and charged once the body is read and its cost known. Every response, errors included, has the GraphQL shape.
 * @param authenticate resolves the caller; charges nothing
 */
export function registerGraphQL(
  app: FastifyInstance,
  resources: Resources,
  kernel: Kernel,
  authenticate: (request: FastifyRequest) => Promise<Authentication>,
): void {
  const forward = forwardToYoga(app, resources, kernel);
  const chargeOnce = async (request: FastifyRequest, points: number): Promise<Charge> => {
    request.charge ??= await chargeQuota(resources, request.authentication?.quotas ?? [], points);
    return request.charge;
  };
  const callerOf = ({ authentication, id }: FastifyRequest): Caller => ({
    principal: authentication?.principal,
    requestId: id,
  });

  app.decorateRequest('authentication', undefined);
  app.decorateRequest('charge', undefined);
  app.route({
    method: ['GET', 'POST', 'OPTIONS'],
    url: '/graphql',
    async onRequest(request, reply) {
      const authentication = await authenticate(request);
      const { refused } = authentication;
      if (refused?.refusal) return sendRefusal(request, reply, refused.refusal, refused);
      request.authentication = authentication;
    },
    async handler(request, reply) {
      const isPlainPost =
        request.method === 'POST' &&
        /^application\/json\b/i.test(request.headers['content-type'] ?? '') &&
        !wantsStream(request.headers.accept);
      if (isPlainPost)
        return answerGraphQL(kernel, request, reply, callerOf(request), points => chargeOnce(request, points));
      const charge = await chargeOnce(request, pointsOfRequest(kernel, request, callerOf(request)));
      if (charge.refusal) return sendRefusal(request, reply, charge.refusal, charge);
      if (resources.config.graphiql && wantsPage(request))
        return sendGraphiQL(request, reply.headers(charge.headers), resources.config);
      const fault = findParameterFault(request.query);
      if (fault) return sendResult(request, reply, 400, { errors: [fault] }, charge);
      return forward(request, reply.headers(charge.headers), charge);
    },
    /** Handles errors raised before the handler, such as unreadable bodies. They cost one point, as every client error does. */
    async errorHandler(error, request, reply) {
      const refusal = asCoded(error, request.id, resources.log);
      const status = ERROR_STATUS[refusal.code];
      if (status === 503) reply.header('retry-after', String(refusal.details?.['retry_after'] ?? 1));
      const charge = request.authentication && status < 500 ? await chargeOnce(request, 1) : request.charge;
      if (charge?.refusal) return sendRefusal(request, reply, charge.refusal, charge);
      return sendResult(request, reply, status, { errors: [refusal] }, charge);
    },
  });
}

/** Returns the cost of a request that Yoga executes. Requests that it rejects, and the GraphiQL page, cost one point. */
function pointsOfRequest(kernel: Kernel, request: FastifyRequest, caller: Caller): number {
  try {
    const parsed = request.method === 'POST' ? parseRequest(request.body) : parseGetRequest(request.query);
    return readOperation(kernel, parsed, caller).points;
  } catch (error) {
    if (error instanceof GraphQLError) return 1;
    throw error;
  }
}

/** Executes GET, Server-Sent Events and multipart through Yoga. */
function forwardToYoga(app: FastifyInstance, resources: Resources, kernel: Kernel) {
  // Loaded by the first request that needs it: Yoga is 490 modules, which a gateway for REST and plain GraphQL never runs.
  let yoga: Promise<ReturnType<typeof import('../transport/yoga.ts').createYogaServer>> | undefined;
  const loadYoga = () =>
    (yoga ??= import('../transport/yoga.ts').then(({ createYogaServer }) =>
      createYogaServer(kernel, resources.tokens),
    ));
  /** Responses that do not end by themselves. */
  const streams = new Set<ServerResponse>();
  // Destroyed rather than completed: clients treat that as a lost connection and resume elsewhere from their cursor.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy();
  });

  /** Rebuilds the request for Yoga: its body is consumed already. */
  return async (request: FastifyRequest, reply: FastifyReply, { cost }: Charge): Promise<FastifyReply> => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined && !['content-length', 'transfer-encoding', 'connection'].includes(name))
        headers.set(name, String(value));
    }
    const body =
      request.body === undefined
        ? undefined
        : typeof request.body === 'string'
          ? request.body
          : stringify(request.body);
    const disconnect = new AbortController();
    reply.raw.once('close', () => disconnect.abort());
    const context = {
      principal: request.authentication?.principal,
      requestId: request.id,
      token: bearerToken(request.headers.authorization),
      cost,
    };
    // Yoga uses only path and query; the Host header is untrusted input.
    const url = `http://localhost${request.url}`;
    const init = { method: request.method, headers, signal: disconnect.signal, ...(body !== undefined && { body }) };
    const response = await (await loadYoga()).fetch(url, init, context);
    if (wantsStream(request.headers.accept)) {
      streams.add(reply.raw);
      reply.raw.once('close', () => streams.delete(reply.raw));
    }
    reply.code(response.status);
    response.headers.forEach((value, name) => void reply.header(name, value));
    return reply.send(response.body);
  };
}

/** @throws BAD_REQUEST for a body nested too deeply to serialize; JSON.parse has no such limit */
function stringify(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (error instanceof RangeError) throw new CodedError('BAD_REQUEST', 'The body is nested too deeply.');
    throw error;
  }
}
