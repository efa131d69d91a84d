import type { FastifyRequest } from 'fastify';
import type { Resources } from './context.ts';
import { CodedError, type ErrorCode } from './errors.ts';
import { isUnavailable } from './graphql/errors.ts';

const FRAMEWORK_CODES: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** What of an error that was thrown around a route may leave the process: what is the caller's own, else a code alone. The log has the rest. */
export function asCoded(error: unknown, request: FastifyRequest, log: Resources['log']): CodedError {
  if (error instanceof CodedError) return error;
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500 && error instanceof Error)
    return new CodedError(FRAMEWORK_CODES[status] ?? 'BAD_REQUEST', error.message);
  log.error({ err: error, requestId: request.id }, 'a request failed');
  if (isUnavailable(error) || status === 503) {
    return new CodedError('SERVICE_UNAVAILABLE', 'The service is not available at the moment. Try again.', {
      retry_after: 1,
    });
  }
  return new CodedError('INTERNAL_ERROR', 'Something went wrong on our side.');
}
