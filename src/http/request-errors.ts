import { CodedError, type ErrorCode } from '../core/errors.ts';
import { isUnavailable } from '../database/unavailable.ts';

const FRAMEWORK_CODES: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

/** The error while the database is unavailable; clients may retry after `retry_after` seconds. */
export const serviceUnavailable = (): CodedError =>
  new CodedError('SERVICE_UNAVAILABLE', 'The service is not available at the moment. Try again.', {
    details: { retry_after: 1 },
  });

/**
 * Maps an error thrown outside a route to one that clients may see: client errors keep their message, everything else becomes
 * a code and is logged under the request id.
 * @param messages replacements for Fastify's own messages, by status
 */
export function asCoded(
  error: unknown,
  requestId: string,
  log: { error(fields: object, message: string): void },
  messages: Readonly<Record<number, string>> = {},
): CodedError {
  if (error instanceof CodedError) return error;
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500 && error instanceof Error)
    return new CodedError(FRAMEWORK_CODES[status] ?? 'BAD_REQUEST', messages[status] ?? error.message);
  log.error({ err: error, requestId }, 'request failed');
  if (isUnavailable(error) || status === 503) return serviceUnavailable();
  return new CodedError('INTERNAL_ERROR', 'Something went wrong on our side.', { details: { request_id: requestId } });
}
