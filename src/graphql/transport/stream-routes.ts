import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { GraphQLError } from 'graphql';
import { CodedError, notFound } from '../../core/errors.ts';
import { bearerToken, type Charge } from '../../http/authenticate.ts';
import type { Resources } from '../../schema/context.ts';
import type { Caller, Kernel } from '../execution/kernel.ts';
import { type ReadyOperation, readOperation, withCost } from '../execution/operation.ts';
import { BadRequest, parseRequest } from '../execution/request.ts';
import { endOnSignal } from './end-on-signal.ts';
import { createEventStreams, type StreamFault } from './event-streams.ts';
import { sendRefusal, sendResult, wantsStream } from './http.ts';

/** How every GraphQL request is authenticated, charged and refused. */
export interface RequestHandling {
  readonly hooks: Required<Pick<RouteShorthandOptions, 'onRequest' | 'errorHandler'>>;
  callerOf(request: FastifyRequest): Caller;
  chargeOnce(request: FastifyRequest, points: number): Promise<Charge>;
  /** Serves a request outside the single-connection mode: the response contains its results. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

export const STREAM_PATH = '/graphql/stream';
const TOKEN_HEADER = 'x-graphql-event-stream-token';

/** Registers `/graphql/stream`: both modes of the protocol of graphql-sse. Requests without a stream's token are distinct connections. */
export function registerEventStreams(
  app: FastifyInstance,
  { tokens }: Pick<Resources, 'tokens'>,
  kernel: Kernel,
  { hooks, callerOf, chargeOnce, answer }: RequestHandling,
): void {
  const streams = createEventStreams();
  app.addHook('preClose', async () => streams.close());

  const watchOf = (request: FastifyRequest) => {
    const token = bearerToken(request.headers.authorization);
    return (end: () => void) => (token === undefined ? () => undefined : tokens.watch(token, end));
  };

  /** Charges the call and returns its tenant; undefined if it was refused, in which case the response is sent. @throws UNAUTHORIZED */
  async function chargeTenant(
    request: FastifyRequest,
    reply: FastifyReply,
    points: number,
  ): Promise<number | undefined> {
    const { principal } = callerOf(request);
    const charge = await chargeOnce(request, points);
    if (charge.refusal) return void sendRefusal(request, reply, charge.refusal, charge);
    reply.headers(charge.headers);
    if (!principal) throw new CodedError('UNAUTHORIZED', 'A bearer token is required.');
    return principal.tenant.id;
  }

  app.put(STREAM_PATH, hooks, async (request, reply) => {
    const tenantId = await chargeTenant(request, reply, 1);
    if (tenantId === undefined) return reply;
    const reserved = streams.reserve(tenantId, watchOf(request));
    if (reserved === 'full') throw faultError(reserved);
    return reply.code(201).type('text/plain; charset=utf-8').send(reserved.token);
  });

  app.get(STREAM_PATH, hooks, async (request, reply) => {
    const token = tokenOf(request);
    if (token === undefined) return answer(request, reply);
    if (!wantsStream(request.headers.accept)) throw new CodedError('BAD_REQUEST', 'Accept must be text/event-stream.');
    const stream = streams.open(token);
    if (typeof stream === 'string') throw faultError(stream);
    return reply
      .headers({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
      .send(stream);
  });

  app.post(STREAM_PATH, hooks, async (request, reply) => {
    const token = tokenOf(request);
    if (token === undefined) return answer(request, reply);
    const read = await readBody(request);
    if ('errors' in read) return refuseOperation(request, reply, read.errors);
    const { id, ready } = read;
    const tenantId = await chargeTenant(request, reply, ready.points);
    if (tenantId === undefined) return reply;
    const fault = await streams.run(token, tenantId, id, () => execute(request, ready));
    if (fault) throw faultError(fault);
    return reply.code(202).send();
  });

  app.delete<{ Querystring: { operationId?: unknown } }>(STREAM_PATH, hooks, async (request, reply) => {
    const tenantId = await chargeTenant(request, reply, 1);
    if (tenantId === undefined) return reply;
    const { operationId } = request.query;
    if (typeof operationId !== 'string')
      throw new CodedError('BAD_REQUEST', 'The parameter operationId must be a string.');
    const fault = await streams.complete(tokenOf(request) ?? '', tenantId, operationId);
    if (fault) throw faultError(fault);
    return reply.code(200).send();
  });

  type Read = { readonly id: string; readonly ready: ReadyOperation } | { readonly errors: readonly GraphQLError[] };

  async function readBody(request: FastifyRequest): Promise<Read> {
    try {
      const parsed = parseRequest(request.body);
      const id = (request.body as { extensions?: { operationId?: unknown } }).extensions?.operationId;
      if (typeof id !== 'string' || id === '')
        throw new BadRequest('The parameter extensions.operationId must be a string.');
      const ready = await readOperation(kernel, parsed, callerOf(request));
      return 'errors' in ready ? ready : { id, ready };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }

  async function refuseOperation(
    request: FastifyRequest,
    reply: FastifyReply,
    errors: readonly GraphQLError[],
  ): Promise<FastifyReply> {
    const charge = await chargeOnce(request, 1);
    if (charge.refusal) return sendRefusal(request, reply, charge.refusal, charge);
    return sendResult(request, reply, 400, { errors }, charge);
  }

  async function execute(request: FastifyRequest, { operation, variables, context }: ReadyOperation) {
    if (operation.node.operation !== 'subscription') {
      const result = await kernel.run(operation, variables, context);
      return request.charge ? withCost(result, request.charge.cost) : result;
    }
    const results = await kernel.subscribe(operation, variables, context);
    if (!(Symbol.asyncIterator in results)) return results;
    return endOnSignal(results, watchOf(request), {
      errors: [new CodedError('UNAUTHORIZED', 'The token has expired or was revoked.')],
    });
  }
}

/** Returns the token of the stream; the EventSource of browsers cannot send headers. */
function tokenOf({ headers, query }: FastifyRequest): string | undefined {
  const token = headers[TOKEN_HEADER] ?? (query as { token?: unknown }).token;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

function faultError(fault: StreamFault): CodedError {
  switch (fault) {
    case 'unknown':
      return notFound('Stream');
    case 'taken':
      return new CodedError('CONFLICT', 'The stream is open already, or its operation id is in use.');
    case 'full':
      return new CodedError('RATE_LIMIT_EXCEEDED', 'Too many streams or operations are open.', {
        details: { retry_after: 1 },
      });
    default:
      return fault satisfies never;
  }
}
