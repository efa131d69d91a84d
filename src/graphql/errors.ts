import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CodedError } from '../errors.ts';
import type { Log } from '../platform/log.ts';

/** SQLSTATE classes and system errors that mean "the database is not there", not "the statement is wrong". */
const UNAVAILABLE = /^(08\w{3}|53\w{3}|57P0[1-3]|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOTFOUND)$/;

/**
 * What of an error may leave the process: coded refusals and faults of the document or its variables as they are,
 * everything else as INTERNAL_ERROR with the request id, under which the log has the rest.
 */
export function maskError(error: unknown, requestId: string, log: Log): GraphQLError {
  const cause = causeOf(error);
  if (cause instanceof CodedError) return error instanceof GraphQLError ? withPath(cause, error) : cause;
  if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) {
    return codeOf(error) === undefined ? withCode(error, 'BAD_USER_INPUT') : error;
  }
  const path = error instanceof GraphQLError ? error.path : undefined;
  if (isUnavailable(cause ?? error)) {
    log.error({ err: cause ?? error, requestId, path }, 'the database is not available');
    return located(
      new CodedError('SERVICE_UNAVAILABLE', 'The service is not available at the moment. Try again.', {
        retry_after: 1,
      }),
      path,
    );
  }
  log.error({ err: cause ?? error, requestId, path }, 'an operation failed');
  return located(
    new CodedError('INTERNAL_ERROR', 'Something went wrong on our side.', { request_id: requestId }),
    path,
  );
}

/** The innermost error that was thrown; undefined when the executor itself found the fault. */
function causeOf(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  if (!(error instanceof GraphQLError)) return error;
  const { originalError } = error;
  return originalError instanceof GraphQLError ? causeOf(originalError) : originalError;
}

export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  return (
    (typeof code === 'string' && UNAVAILABLE.test(code)) ||
    /^(timeout exceeded when trying to connect|Connection terminated|Client (has encountered a connection error|was closed))/.test(
      error.message,
    )
  );
}

const withPath = (cause: CodedError, at: GraphQLError): GraphQLError =>
  at === cause || !at.path ? cause : located(cause, at.path, at);

function located(error: CodedError, path: GraphQLError['path'], at?: GraphQLError): GraphQLError {
  const moved = new GraphQLError(error.message, {
    path: path ?? null,
    nodes: at?.nodes ?? null,
    extensions: error.extensions,
    originalError: error,
  });
  // Errors of compiled operations know their places, but not the nodes that stand there.
  if (at?.locations && !at.nodes) Object.defineProperty(moved, 'locations', { value: at.locations, enumerable: true });
  return moved;
}

const withCode = (error: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...error.extensions, code },
  });

export const codeOf = (error: GraphQLFormattedError | GraphQLError): string | undefined => {
  const code = error.extensions?.['code'];
  return typeof code === 'string' ? code : undefined;
};
