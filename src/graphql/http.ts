import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Admission } from '../authenticate.ts';
import type { Kernel } from './kernel.ts';
import { BadRequest, parseRequest } from './request.ts';

const RESPONSE_TYPE = 'application/graphql-response+json';

/** JSON, or the media type of the specification where the client asks for it by name. */
const mediaTypeOf = (accept: string | undefined): string =>
  accept?.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json';

/** A stream (SSE, multipart) is Yoga's work, and so is everything that is no JSON body. */
export const wantsStream = (accept: string | undefined): boolean =>
  /text\/event-stream|multipart\/mixed/.test(accept ?? '');

/**
 * `POST /graphql` with a JSON body, straight to the kernel: Yoga's HTTP layer costs four times the rest of the way.
 * Status codes follow GraphQL over HTTP §6.4: with the new media type a request that was not executed is 400, with
 * application/json it is 200, because intermediaries of old clients may not be trusted to pass an error's body.
 */
export async function answerGraphQL(
  kernel: Kernel,
  request: FastifyRequest,
  reply: FastifyReply,
  admission: Admission,
  requestId: string,
): Promise<FastifyReply> {
  const mediaType = mediaTypeOf(request.headers.accept);
  const send = (status: number, result: ExecutionResult): FastifyReply =>
    reply.code(status).header('content-type', `${mediaType}; charset=utf-8`).send(JSON.stringify(result));
  const notExecuted = mediaType === RESPONSE_TYPE ? 400 : 200;
  if (admission.refusal)
    return send(admission.refusal.code === 'RATE_LIMIT_EXCEEDED' ? 429 : 401, { errors: [admission.refusal] });
  try {
    const { query, operationName, variables } = parseRequest(request.body);
    const prepared = kernel.prepare(query, operationName);
    if ('errors' in prepared) return send(notExecuted, { errors: prepared.errors });
    const { operation } = prepared;
    if (operation.node.operation === 'subscription') {
      return send(notExecuted, {
        errors: [new BadRequest('Subscriptions go over WebSocket or Server-Sent Events (Accept: text/event-stream).')],
      });
    }
    const context = kernel.createContext({ principal: admission.principal, requestId });
    const refusal = kernel.refusal(operation, variables, context);
    if (refusal) return send(notExecuted, { errors: [refusal] });
    const result = await kernel.run(operation, variables, context);
    // Without data the operation was not executed: its variables did not fit.
    return send('data' in result ? 200 : notExecuted, result);
  } catch (error) {
    if (error instanceof GraphQLError) return send(400, { errors: [error] });
    throw error;
  }
}
