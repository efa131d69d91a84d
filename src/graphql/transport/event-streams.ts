import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { SECOND } from '../../platform/clock.ts';

/*
 * Single connection mode of GraphQL over SSE (the protocol of graphql-sse): PUT reserves a stream, GET opens it, each POST runs an
 * operation whose results are sent on it, DELETE ends an operation. Streams are in the memory of one process, so a load balancer must
 * send all requests of a client to the same process.
 *
 * graphql-sse's own handler is not used: it queues results without a bound for a client that does not read, and never drops a
 * reservation that is not opened.
 */

/** Connection of one client, shared by its operations. */
interface EventStream {
  readonly tenantId: number;
  readonly body: PassThrough;
  isOpen: boolean;
  /** By the client's id, which it may use again once it has ended an operation. */
  readonly operations: Map<string, StreamedOperation>;
  /** Resolves when the client has read enough. */
  drained: Promise<void> | undefined;
  end(): void;
}

interface StreamedOperation {
  /** Undefined until it is executed, and for an operation with a single result. */
  results: AsyncGenerator<ExecutionResult> | undefined;
}

/** Starts to watch the token; returns a function that stops watching. */
type Watch = (end: () => void) => () => void;

/** Why a request for a stream is not served. */
export type StreamFault = 'unknown' | 'taken' | 'full';

export interface EventStreams {
  /** @returns the token of the stream; `full` if the tenant has too many */
  reserve(tenantId: number, watch: Watch): { readonly token: string } | 'full';
  /** @returns the body of the response; `taken` if the stream has been opened before */
  open(token: string): PassThrough | StreamFault;
  /**
   * Executes an operation whose results go into the stream; resolves once it is started.
   * @returns why it is not executed, if it is not
   */
  run(
    token: string,
    tenantId: number,
    operationId: string,
    execute: () => Promise<AsyncGenerator<ExecutionResult> | ExecutionResult>,
  ): Promise<StreamFault | undefined>;
  /** Ends an operation. */
  complete(token: string, tenantId: number, operationId: string): Promise<StreamFault | undefined>;
  /** Drops all connections: clients take that for a lost one and resume elsewhere. */
  close(): void;
}

const MAX_STREAMS_PER_TENANT = 5_000;
const MAX_OPERATIONS_PER_STREAM = 100;
/** A stream that is not opened within this time is forgotten. */
const OPEN_TIMEOUT_MS = 30 * SECOND;
const PING_INTERVAL_MS = 12 * SECOND;

export function createEventStreams(): EventStreams {
  const streams = new Map<string, EventStream>();
  const perTenant = new Map<number, number>();

  /** A stream of another tenant is reported like a missing one. */
  const find = (token: string, tenantId: number): EventStream | undefined => {
    const stream = streams.get(token);
    return stream?.tenantId === tenantId ? stream : undefined;
  };

  return {
    reserve(tenantId, watch) {
      const count = (perTenant.get(tenantId) ?? 0) + 1;
      if (count > MAX_STREAMS_PER_TENANT) return 'full';
      perTenant.set(tenantId, count);
      const token = randomBytes(32).toString('base64url');
      const body = new PassThrough();
      const stream: EventStream = {
        tenantId,
        body,
        isOpen: false,
        operations: new Map(),
        drained: undefined,
        end: () => void body.destroy(),
      };
      const unopened = setTimeout(() => stream.isOpen || stream.end(), OPEN_TIMEOUT_MS);
      const pings = setInterval(() => body.writableNeedDrain || body.write(':\n\n'), PING_INTERVAL_MS);
      const stopWatching = watch(() => body.end());
      // Also emitted when the connection of the client is lost.
      body.once('close', () => {
        clearTimeout(unopened);
        clearInterval(pings);
        stopWatching();
        streams.delete(token);
        perTenant.set(tenantId, (perTenant.get(tenantId) ?? 1) - 1);
        for (const { results } of stream.operations.values()) void results?.return(undefined);
      });
      streams.set(token, stream);
      return { token };
    },

    open(token) {
      const stream = streams.get(token);
      if (!stream) return 'unknown';
      if (stream.isOpen) return 'taken';
      stream.isOpen = true;
      // Some browsers accept the response only once its first bytes arrive.
      stream.body.write(':\n\n');
      return stream.body;
    },

    async run(token, tenantId, operationId, execute) {
      const stream = find(token, tenantId);
      if (!stream) return 'unknown';
      const { operations } = stream;
      if (operations.has(operationId)) return 'taken';
      if (operations.size >= MAX_OPERATIONS_PER_STREAM) return 'full';
      const operation: StreamedOperation = { results: undefined };
      operations.set(operationId, operation);
      const result = await execute().catch((error: unknown) => {
        if (operations.get(operationId) === operation) operations.delete(operationId);
        throw error;
      });
      // False if the client ended the operation or disconnected during its execution; another one may have the id by then.
      const isWanted = operations.get(operationId) === operation && !stream.body.destroyed;
      if (Symbol.asyncIterator in result) {
        if (isWanted) operation.results = result;
        else await result.return(undefined);
      }
      if (isWanted) void pump(stream, operationId, operation, result);
      return undefined;
    },

    async complete(token, tenantId, operationId) {
      const stream = find(token, tenantId);
      if (!stream) return 'unknown';
      const operation = stream.operations.get(operationId);
      stream.operations.delete(operationId);
      await operation?.results?.return(undefined);
      return undefined;
    },

    close() {
      for (const stream of streams.values()) stream.end();
    },
  };
}

/** Sends the results of an operation as fast as the client reads them. */
async function pump(
  stream: EventStream,
  id: string,
  operation: StreamedOperation,
  results: AsyncGenerator<ExecutionResult> | ExecutionResult,
): Promise<void> {
  if (Symbol.asyncIterator in results) {
    // The kernel's generators never throw: their last result says what went wrong.
    for await (const payload of results) await write(stream, 'next', { id, payload });
  } else await write(stream, 'next', { id, payload: results });
  // A client that ended the operation expects nothing more.
  if (stream.operations.get(id) !== operation) return;
  stream.operations.delete(id);
  await write(stream, 'complete', { id });
}

async function write(stream: EventStream, event: string, data: object): Promise<void> {
  const { body } = stream;
  if (!body.writable || body.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)) return;
  // One wait for all operations.
  stream.drained ??= new Promise(resolve => {
    const done = (): void => {
      stream.drained = undefined;
      body.off('drain', done).off('close', done);
      resolve();
    };
    body.once('drain', done).once('close', done);
  });
  await stream.drained;
}
