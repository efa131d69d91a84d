import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import type { Caller, Kernel } from '../graphql/kernel.ts';

/** All that REST gets of the rest of the program: it knows no feature and no store, so it cannot go round authorization. */
export interface RestHost {
  readonly kernel: Kernel;
  /** Verifies the bearer token and charges the rate limits, with their headers on the reply. @throws UNAUTHORIZED, RATE_LIMIT_EXCEEDED */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
  /** Keeps the answer of a request that had an idempotency key, to be repeated word for word. */
  saveAnswer(context: Context, answer: unknown): Promise<void>;
}
