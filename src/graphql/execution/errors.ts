import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CodedError, type GraphQLCode } from '../../core/errors.ts';
import { isUnavailable } from '../../database/unavailable.ts';
import { serviceUnavailable } from '../../http/request-errors.ts';
import type { Log } from '../../platform/log.ts';

/**
 * Returns the error that clients may see: coded errors and errors of the document or its variables unchanged, everything else
 * as INTERNAL_ERROR with the request id, under which the cause is logged.
 */
export function maskError(error: unknown, requestId: string, log: Log): GraphQLError {
  const cause = causeOf(error);
  if (cause instanceof CodedError) return error instanceof GraphQLError ? withPath(cause, error) : cause;
  if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) {
    return codeOf(error) === undefined
      ? withExtensions(error, { code: 'BAD_USER_INPUT' satisfies GraphQLCode })
      : error;
  }
  const path = error instanceof GraphQLError ? error.path : undefined;
  if (isUnavailable(cause ?? error)) {
    log.error({ err: cause ?? error, requestId, path }, 'the database is not available');
    return located(serviceUnavailable(), path);
  }
  log.error({ err: cause ?? error, requestId, path }, 'operation failed');
  return located(
    new CodedError('INTERNAL_ERROR', 'Something went wrong on our side.', { details: { request_id: requestId } }),
    path,
  );
}

/** The innermost error that was thrown; undefined if the executor raised it. */
function causeOf(error: unknown): unknown {
  if (error instanceof CodedError) return error;
  if (!(error instanceof GraphQLError)) return error;
  const { originalError } = error;
  return originalError instanceof GraphQLError ? causeOf(originalError) : originalError;
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
  // Errors of compiled operations have locations but no nodes.
  if (at?.locations && !at.nodes) Object.defineProperty(moved, 'locations', { value: at.locations, enumerable: true });
  return moved;
}

/** Returns a copy with further extensions: errors of a document are cached and shared by all its callers. */
export const withExtensions = (error: GraphQLError, extensions: Readonly<Record<string, unknown>>): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { ...error.extensions, ...extensions },
  });

export const codeOf = (error: GraphQLFormattedError | GraphQLError): string | undefined => {
  const code = error.extensions?.['code'];
  return typeof code === 'string' ? code : undefined;
};
