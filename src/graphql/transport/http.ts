import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExecutionResult } from 'graphql';
import { type CodedError, ERROR_STATUS } from '../../core/errors.ts';
import type { Charge } from '../../http/authenticate.ts';
import type { Caller, Kernel } from '../execution/kernel.ts';
import { type InvalidOperation, readOperation, withCost } from '../execution/operation.ts';
import { BadRequest, parseRequest } from '../execution/request.ts';

const RESPONSE_TYPE = 'application/graphql-response+json';

/** Returns the response media type: that of the GraphQL over HTTP specification if the client accepts it, else JSON. */
const mediaTypeOf = (accept: string | undefined): string =>
  accept?.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json';

/** Whether the client accepts a stream (SSE, multipart), which Yoga serves. */
export const wantsStream = (accept: string | undefined): boolean =>
  /text\/event-stream|multipart\/mixed/.test(accept ?? '');

/**
 * Status of an operation that was not executed (GraphQL over HTTP §6.4): 400 with the specification's media type, 200 with
 * application/json, for legacy clients whose proxies may replace the body of an error.
 */
export const statusNotExecuted = (request: FastifyRequest): number =>
  mediaTypeOf(request.headers.accept) === RESPONSE_TYPE ? 400 : 200;

/** @param charge absent if the call failed before it could be authenticated */
export function sendResult(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  result: ExecutionResult,
  charge: Charge | undefined,
): FastifyReply {
  return reply
    .code(status)
    .headers(charge?.headers ?? {})
    .header('content-type', `${mediaTypeOf(request.headers.accept)}; charset=utf-8`)
    .send(JSON.stringify(charge ? withCost(result, charge.cost) : result));
}

/** Sends the refusal of a call that is not authenticated or has no quota left. */
export function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: CodedError,
  charge: Charge,
): FastifyReply {
  const status = refusal.code === 'QUERY_TOO_COMPLEX' ? statusNotExecuted(request) : ERROR_STATUS[refusal.code];
  return sendResult(request, reply, status, { errors: [refusal] }, charge);
}

/**
 * Answers `POST /graphql` with a JSON body from the kernel: Yoga's HTTP layer would cost four times as much as the rest.
 * @param chargePoints charges the call
 */
export async function answerGraphQL(
  kernel: Kernel,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  chargePoints: (points: number) => Promise<Charge>,
): Promise<FastifyReply> {
  const operation = await readBody(kernel, request, caller);
  const charge = await chargePoints(operation.points);
  const send = (status: number, result: ExecutionResult): FastifyReply =>
    sendResult(request, reply, status, result, charge);
  if (charge.refusal) return sendRefusal(request, reply, charge.refusal, charge);
  if ('errors' in operation) return send(operation.status ?? statusNotExecuted(request), { errors: operation.errors });
  if (operation.operation.node.operation === 'subscription') {
    return send(statusNotExecuted(request), {
      errors: [new BadRequest('Subscriptions need WebSocket or Server-Sent Events (Accept: text/event-stream).')],
    });
  }
  const result = await kernel.run(operation.operation, operation.variables, operation.context);
  const retryAfter = retryAfterOf(result);
  if (retryAfter !== undefined) {
    reply.header('retry-after', String(retryAfter));
    return send(503, result);
  }
  // No `data` entry: the variables were invalid and nothing was executed.
  return send('data' in result ? 200 : statusNotExecuted(request), result);
}

/**
 * Returns the seconds after which the operation may be repeated, if all of it failed because the service is unavailable.
 * A result with data keeps status 200: clients that retry on 503 would repeat a mutation that succeeded.
 */
export function retryAfterOf({ data, errors = [] }: ExecutionResult): number | undefined {
  const error = errors.find(({ extensions }) => extensions['code'] === 'SERVICE_UNAVAILABLE');
  if (!error || Object.values(data ?? {}).some(value => value !== null)) return undefined;
  const seconds = (error.extensions['details'] as { retry_after?: unknown } | undefined)?.retry_after;
  return typeof seconds === 'number' ? seconds : 1;
}

type BodyOperation = Awaited<ReturnType<typeof readOperation>> & { readonly status?: number };

async function readBody(kernel: Kernel, request: FastifyRequest, caller: Caller): Promise<BodyOperation> {
  try {
    return await readOperation(kernel, parseRequest(request.body), caller);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return { errors: [error], points: 1, status: 400 } satisfies InvalidOperation & { status: number };
  }
}
