import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { type Admission, bearerOf, type Charge, charge } from '../authenticate.ts';
import type { Resources } from '../context.ts';
import { CodedError, ERROR_STATUS } from '../errors.ts';
import { asCoded } from '../request-errors.ts';
import { readOperation } from './asked.ts';
import { answerGraphQL, sendRefusal, sendResult, wantsStream } from './http.ts';
import type { Caller, Kernel } from './kernel.ts';
import { faultInAddress, parseRequest, requestInAddress } from './request.ts';
import { createYogaServer } from './yoga.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls `/graphql`; undefined where that is not known. */
    admission: Admission | undefined;
    /** What it has been charged: once, whatever becomes of it. */
    charge: Charge | undefined;
  }
}

/**
 * `/graphql` over HTTP. Who calls is known before a body is read, so that somebody with nothing left makes nobody read one;
 * what a call costs is known when it has been read. Whatever the call was, its answer is one of GraphQL.
 * @param admit finds out who calls
 */
export function registerGraphQL(
  app: FastifyInstance,
  resources: Resources,
  kernel: Kernel,
  admit: (request: FastifyRequest) => Promise<Admission>,
): void {
  const handOver = createHandOver(app, resources, kernel);
  const pay = async (request: FastifyRequest, points: number): Promise<Charge> => {
    request.charge ??= await charge(resources, request.admission?.quotas ?? [], points);
    return request.charge;
  };
  const callerOf = ({ admission, id }: FastifyRequest): Caller => ({
    principal: admission?.principal,
    requestId: id,
  });

  app.decorateRequest('admission', undefined);
  app.decorateRequest('charge', undefined);
  app.route({
    method: ['GET', 'POST', 'OPTIONS'],
    url: '/graphql',
    async onRequest(request, reply) {
      const admission = await admit(request);
      const { refused } = admission;
      if (refused?.refusal) return sendRefusal(request, reply, refused.refusal, refused);
      request.admission = admission;
    },
    async handler(request, reply) {
      const simple =
        request.method === 'POST' &&
        /^application\/json\b/i.test(request.headers['content-type'] ?? '') &&
        !wantsStream(request.headers.accept);
      if (simple) return answerGraphQL(kernel, request, reply, callerOf(request), points => pay(request, points));
      const charged = await pay(request, priceOf(kernel, request, callerOf(request)));
      if (charged.refusal) return sendRefusal(request, reply, charged.refusal, charged);
      const fault = faultInAddress(request.query);
      if (fault) return sendResult(request, reply, 400, { errors: [fault] }, charged);
      return handOver(request, reply.headers(charged.headers), charged);
    },
    /** What is raised before the handler, by bodies that cannot be read. It costs a point, as what the handler finds wrong does. */
    async errorHandler(error, request, reply) {
      const refusal = asCoded(error, request, resources.log);
      const status = ERROR_STATUS[refusal.code];
      if (status === 503) reply.header('retry-after', String(refusal.details?.['retry_after'] ?? 1));
      const charged = request.admission && status < 500 ? await pay(request, 1) : request.charge;
      if (charged?.refusal) return sendRefusal(request, reply, charged.refusal, charged);
      return sendResult(request, reply, status, { errors: [refusal] }, charged);
    },
  });
}

/** What a request costs that Yoga will answer; what it will refuse, or is a page of GraphiQL, costs one point. */
function priceOf(kernel: Kernel, request: FastifyRequest, caller: Caller): number {
  try {
    const asked = request.method === 'POST' ? parseRequest(request.body) : requestInAddress(request.query);
    return readOperation(kernel, asked, caller).points;
  } catch (error) {
    if (error instanceof GraphQLError) return 1;
    throw error;
  }
}

/** Gives requests to Yoga: GET, Server-Sent Events, GraphiQL. */
function createHandOver(app: FastifyInstance, resources: Resources, kernel: Kernel) {
  const yoga = createYogaServer(kernel, resources.tokens, resources.config.graphiql);
  /** Answers that never come to an end by themselves. */
  const streams = new Set<ServerResponse>();
  // Cut off, not completed: a client takes that for a broken connection and goes on elsewhere after its cursor.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy();
  });

  /** Replays the request for Yoga: its body was read here, and a consumed stream cannot be read twice. */
  return async (request: FastifyRequest, reply: FastifyReply, { cost }: Charge): Promise<FastifyReply> => {
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
      principal: request.admission?.principal,
      requestId: request.id,
      token: bearerOf(request.headers.authorization),
      cost,
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
  };
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
