import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import { CodedError, ERROR_STATUS } from '../../core/errors.ts';
import { type Authentication, bearerToken, type Charge, chargeQuota } from '../../http/authenticate.ts';
import { cacheHeaders, namesEtag } from '../../http/etag.ts';
import { refuseOtherMethods } from '../../http/other-methods.ts';
import { asCoded } from '../../http/request-errors.ts';
import type { Resources } from '../../schema/context.ts';
import type { Caller, Kernel } from '../execution/kernel.ts';
import { findText, prepareOperation } from '../execution/operation.ts';
import { BadRequest, findParameterFault, parseGetRequest, parseRequest } from '../execution/request.ts';
import { sendGraphiQL, wantsPage } from './graphiql.ts';
import { answerGraphQL, sendRefusal, sendResult, statusNotExecuted, wantsStream } from './http.ts';
import { type RequestHandling, registerEventStreams, STREAM_PATH } from './stream-routes.ts';

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
  const hooks: RequestHandling['hooks'] = {
    async onRequest(request, reply) {
      const authentication = await authenticate(request);
      const { refused } = authentication;
      if (refused?.refusal) return sendRefusal(request, reply, refused.refusal, refused);
      request.authentication = authentication;
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
  };

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const isPlainPost =
      request.method === 'POST' &&
      /^application\/json\b/i.test(request.headers['content-type'] ?? '') &&
      !wantsStream(request.headers.accept);
    if (isPlainPost)
      return answerGraphQL(kernel, request, reply, callerOf(request), points => chargeOnce(request, points));
    const read = await readForYoga(kernel, request, callerOf(request));
    const charge = await chargeOnce(request, read.points);
    if (charge.refusal) return sendRefusal(request, reply, charge.refusal, charge);
    if (resources.config.graphiql && wantsPage(request))
      return sendGraphiQL(request, reply.headers(charge.headers), resources.config);
    const fault = findForgery(request.headers) ?? findParameterFault(request.query);
    if (fault) return sendResult(request, reply, 400, { errors: [fault] }, charge);
    if (read.errors) {
      const isMalformed = read.errors.some(error => error instanceof BadRequest);
      return sendResult(
        request,
        reply,
        isMalformed ? 400 : statusNotExecuted(request),
        { errors: read.errors },
        charge,
      );
    }
    return forward(request, reply.headers(charge.headers), charge, read.text);
  }

  app.route({ method: ['GET', 'POST'], url: '/graphql', ...hooks, handler: answer });
  refuseOtherMethods(
    app,
    [
      ...['GET', 'POST'].map(method => ({ method, path: '/graphql' })),
      ...['GET', 'POST', 'PUT', 'DELETE'].map(method => ({ method, path: STREAM_PATH })),
    ],
    hooks,
  );
  registerEventStreams(app, resources, kernel, { hooks, callerOf, chargeOnce, answer });
}

interface YogaRequest {
  readonly points: number;
  /** The document, if the request names it by a digest. */
  readonly text?: string;
  /** Present if the request is malformed, or that document is not known or not valid. */
  readonly errors?: readonly GraphQLError[];
}

/**
 * Returns the cost of a request that Yoga executes; one point for a malformed one and for the GraphiQL page. Yoga must not see a malformed
 * one: it ignores what it does not know (`documentId` beside `query`, another version of `persistedQuery`) and would execute a text that
 * was neither admitted nor charged.
 */
async function readForYoga(kernel: Kernel, request: FastifyRequest, caller: Caller): Promise<YogaRequest> {
  try {
    const parsed = request.method === 'POST' ? parseRequest(request.body) : parseGetRequest(request.query);
    const requested = await findText(kernel, parsed, caller);
    if ('errors' in requested) return requested;
    const read = prepareOperation(kernel, parsed, requested, caller);
    // Yoga answers an invalid document of its own request, as a stream if the client asked for one.
    if (parsed.query !== undefined) return { points: read.points };
    return 'errors' in read ? read : { points: read.points, text: read.text };
  } catch (error) {
    if (error instanceof BadRequest) return { points: 1, errors: [error] };
    throw error;
  }
}

/** Headers that a page cannot send to another origin without a preflight (Fetch §2.2.2), among them those that Apollo Server accepts. */
const PREFLIGHTED_HEADERS = [
  'authorization',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'graphql-require-preflight',
];
const SIMPLE_CONTENT_TYPE = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i;

/**
 * Returns an error for a request that any web page could make a browser send (cross-site request forgery): a GET or a form without
 * a header that needs a preflight.
 */
function findForgery(headers: IncomingHttpHeaders): BadRequest | undefined {
  const type = headers['content-type'];
  const isPreflighted =
    PREFLIGHTED_HEADERS.some(name => headers[name] !== undefined) ||
    (type !== undefined && !SIMPLE_CONTENT_TYPE.test(type));
  if (isPreflighted) return undefined;
  return new BadRequest(
    'A GET request needs a header that browsers preflight: Authorization, or GraphQL-Require-Preflight.',
  );
}

/** Returns a handler for GET, Server-Sent Events and multipart, which Yoga executes. */
function forwardToYoga(app: FastifyInstance, resources: Resources, kernel: Kernel) {
  // Loaded by the first request that needs it: Yoga is 490 modules, which a gateway for REST and plain GraphQL never runs.
  let yoga: Promise<ReturnType<typeof import('./yoga.ts').createYogaServer>> | undefined;
  const loadYoga = () =>
    (yoga ??= import('./yoga.ts').then(({ createYogaServer }) => createYogaServer(kernel, resources.tokens)));
  /** Responses that do not end by themselves. */
  const streams = new Set<ServerResponse>();
  // Destroyed rather than completed: clients treat that as a lost connection and resume elsewhere from their cursor.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy();
  });

  /** Rebuilds the request for Yoga: its body is consumed already. */
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { cost }: Charge,
    text: string | undefined,
  ): Promise<FastifyReply> => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined && !['content-length', 'transfer-encoding', 'connection'].includes(name))
        headers.set(name, String(value));
    }
    const body = request.body === undefined ? undefined : bodyOf(request.body, text);
    const disconnect = new AbortController();
    reply.raw.once('close', () => disconnect.abort());
    let complete: unknown;
    const context = {
      principal: request.authentication?.principal,
      requestId: request.id,
      token: bearerToken(request.headers.authorization),
      cost,
      onComplete(data: unknown) {
        complete = data;
      },
    };
    // Yoga knows one path; the Host header is untrusted input. The parameters are those that were charged: Fastify also begins them at `#`.
    const parameters = new URLSearchParams(request.query as Record<string, string>);
    if (text !== undefined && body === undefined) {
      parameters.set('query', text);
      parameters.delete('documentId');
    }
    const url = `http://localhost/graphql?${parameters}`;
    const init = { method: request.method, headers, signal: disconnect.signal, ...(body !== undefined && { body }) };
    const response = await (await loadYoga()).fetch(url, init, context);
    if (wantsStream(request.headers.accept)) {
      streams.add(reply.raw);
      reply.raw.once('close', () => streams.delete(reply.raw));
    }
    reply.code(response.status);
    response.headers.forEach((value, name) => void reply.header(name, value));
    // Browsers revalidate responses to GET: an app that polls a persisted query downloads only changed results.
    if (request.method === 'GET' && complete !== undefined) {
      const headers = cacheHeaders({ data: complete });
      reply.headers(headers);
      if (headers.etag !== undefined && namesEtag(request.headers['if-none-match'], headers.etag))
        return reply.code(304).removeHeader('content-type').removeHeader('content-length').send();
    }
    return reply.send(response.body);
  };
}

/** @param text the document, if the body does not contain it */
function bodyOf(body: unknown, text: string | undefined): string {
  if (typeof body === 'string') return body;
  return stringify(text === undefined ? body : { ...(body as object), query: text, documentId: undefined });
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
