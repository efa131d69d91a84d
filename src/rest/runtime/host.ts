import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Kernel } from '../../graphql/execution/kernel.ts';

/** A file of a multipart body. */
export interface ReceivedPart {
  /** The name of its part. */
  readonly field: string;
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly stream: AsyncIterable<Uint8Array>;
  /** As sent, not yet checked; null: the default channel. */
  readonly channelId: string | null;
}

/** The part of the log that REST writes to. */
export interface RestLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Everything that REST uses of the rest of the program. REST imports no feature and no store, so it cannot bypass authorization. */
export interface RestHost {
  readonly kernel: Kernel;
  readonly clock: { now(): number };
  readonly log: RestLog;
  /** Verifies the bearer token, charges the rate limits and sets their headers on the reply. @throws UNAUTHORIZED, RATE_LIMIT_EXCEEDED */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
  /** Whether a tenant has this name. Call it only for authenticated callers, or it reveals which tenants exist. */
  isTenant(slug: string): Promise<boolean>;
  /**
   * Streams a file of a multipart body to the network. @returns the media id
   * @throws VALIDATION_ERROR on `field`, and every error of an upload
   */
  receiveFile(caller: Caller, file: ReceivedPart): Promise<string>;
  /** Whether a request of the caller's tenant has used this idempotency key: a mutation with it changes nothing. */
  isUsedKey(caller: Caller, key: string): Promise<boolean>;
  /** Stores the answer to a request with an idempotency key, to be repeated word for word. */
  saveAnswer(context: ReturnType<Kernel['createContext']>, answer: unknown): Promise<void>;
}
