import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Charge } from '../authenticate.ts';
import { type CodedError, ERROR_STATUS } from '../errors.ts';
import { readOperation, type Unanswerable, withCost } from './asked.ts';
import type { Caller, Kernel } from './kernel.ts';
import { BadRequest, parseRequest } from './request.ts';

const RESPONSE_TYPE = 'application/graphql-response+json';

/** JSON, or the media type of the specification where the client asks for it by name. */
const mediaTypeOf = (accept: string | undefined): string =>
  accept?.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json';

/** A stream (SSE, multipart) is Yoga's work, and so is everything that is no JSON body. */
export const wantsStream = (accept: string | undefined): boolean =>
  /text\/event-stream|multipart\/mixed/.test(accept ?? '');

/**
 * Status of an operation that was not executed (GraphQL over HTTP §6.4): with the new media type 400, with
 * application/json 200, because intermediaries of old clients may not be trusted to pass an error's body.
 */
const notExecuted = (request: FastifyRequest): number =>
  mediaTypeOf(request.headers.accept) === RESPONSE_TYPE ? 400 : 200;

/** @param charge absent where the call could not be charged, because nobody knows yet whose it is */
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

/** The call goes no further: nothing left to spend, or nobody whom we know. */
export function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: CodedError,
  charge: Charge,
): FastifyReply {
  const status = refusal.code === 'QUERY_TOO_COMPLEX' ? notExecuted(request) : ERROR_STATUS[refusal.code];
  return sendResult(request, reply, status, { errors: [refusal] }, charge);
}

/**
 * `POST /graphql` with a JSON body, straight to the kernel: Yoga's HTTP layer costs four times the rest of the way.
 * @param charge takes the points of the call, once
 */
export async function answerGraphQL(
  kernel: Kernel,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  charge: (points: number) => Promise<Charge>,
): Promise<FastifyReply> {
  const asked = readBody(kernel, request, caller);
  const charged = await charge(asked.points);
  const send = (status: number, result: ExecutionResult): FastifyReply =>
    sendResult(request, reply, status, result, charged);
  if (charged.refusal) return sendRefusal(request, reply, charged.refusal, charged);
  if ('errors' in asked) return send(asked.status ?? notExecuted(request), { errors: asked.errors });
  if (asked.operation.node.operation === 'subscription') {
    return send(notExecuted(request), {
      errors: [new BadRequest('Subscriptions go over WebSocket or Server-Sent Events (Accept: text/event-stream).')],
    });
  }
  const result = await kernel.run(asked.operation, asked.variables, asked.context);
  // Without data the operation was not executed: its variables did not fit.
  return send('data' in result ? 200 : notExecuted(request), result);
}

type ReadBody = ReturnType<typeof readOperation> & { readonly status?: number };

function readBody(kernel: Kernel, request: FastifyRequest, caller: Caller): ReadBody {
  try {
    return readOperation(kernel, parseRequest(request.body), caller);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { errors: [error], points: 1, status: 400 } satisfies Unanswerable & { status: number };
  }
}
