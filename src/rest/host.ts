import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import type { Caller, Kernel } from '../graphql/kernel.ts';

/** A file of a multipart body, as it comes. */
export interface ReceivedPart {
  /** The name of its part. */
  readonly field: string;
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly stream: AsyncIterable<Uint8Array>;
  /** As it was written; null: the default one. */
  readonly channelId: string | null;
}

/** All that REST gets of the rest of the program: it knows no feature and no store, so it cannot go round authorization. */
export interface RestHost {
  readonly kernel: Kernel;
  /** Verifies the bearer token and charges the rate limits, with their headers on the reply. @throws UNAUTHORIZED, RATE_LIMIT_EXCEEDED */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
  /** Whether there is a tenant of this name. Only for those who have shown a token: strangers do not learn who is here. */
  isTenant(slug: string): Promise<boolean>;
  /**
   * Takes a file of a multipart body straight to the network. @returns the id of the media that it became
   * @throws VALIDATION_ERROR on `field`, and what else may be wrong with a file or who sends it
   */
  receiveFile(caller: Caller, file: ReceivedPart): Promise<string>;
  /** Keeps the answer of a request that had an idempotency key, to be repeated word for word. */
  saveAnswer(context: Context, answer: unknown): Promise<void>;
}
