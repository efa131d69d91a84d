import type { GraphQLError } from 'graphql';
import type { Context } from '../context.ts';
import { CodedError, ERROR_STATUS, type ErrorCode } from '../errors.ts';
import { wireDetails } from './wire-names.ts';

/** Why a request was not done, as every dialect of REST tells it. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

const refusal = (code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): Refusal => ({
  code,
  status: ERROR_STATUS[code],
  message: code === 'VALIDATION_ERROR' ? named(message, details) : message,
  details,
});

/** "phone: Is required. (and 2 more)": people read the message alone, where a field's own words say too little. */
function named(message: string, details: Readonly<Record<string, unknown>> = {}): string {
  const [[field, messages] = [], ...others] = Object.entries(details);
  if (field === undefined || !Array.isArray(messages) || messages[0] !== message) return message;
  return `${field}: ${message}${others.length > 0 ? ` (and ${others.length} more)` : ''}`;
}

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERROR_STATUS, code);

const isDetails = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Of several errors the one that tells the caller most: who may not, what is missing, what is wrong; faults of ours last. */
const rank = (error: GraphQLError): number => {
  const code = error.extensions['code'];
  if (!isCode(code)) return 422;
  return code === 'INTERNAL_ERROR' ? 999 : ERROR_STATUS[code];
};

/**
 * What GraphQL's errors are in REST.
 * @param names of fields that this route calls otherwise than all others
 */
export function refusalOfErrors(
  errors: readonly GraphQLError[],
  names: Readonly<Record<string, string>> | undefined,
): Refusal {
  const [first] = [...errors].sort((a, b) => rank(a) - rank(b));
  const { code, details } = first?.extensions ?? {};
  const message = first?.message ?? 'Something went wrong on our side.';
  if (isCode(code)) return refusal(code, message, isDetails(details) ? wireDetails(code, details, names) : undefined);
  // A variable that its type refuses. Routes check what they pass on, so this is a gap of ours, but the caller can act on it.
  if (code === 'BAD_USER_INPUT') return refusal('VALIDATION_ERROR', 'The input is not valid.', { input: [message] });
  return refusal('INTERNAL_ERROR', 'Something went wrong on our side.');
}

const FRAMEWORK_CODES: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

const FRAMEWORK_MESSAGES: Readonly<Record<number, string>> = {
  413: 'The body is too large.',
  415: 'The body must be JSON: send it with Content-Type: application/json.',
};

/** What was thrown before or beside GraphQL: by authentication, by reading the request, by a fault of ours. */
export function refusalOfThrown(error: unknown, requestId: string, log: Context['log']): Refusal {
  if (error instanceof CodedError) return refusal(error.code, error.message, error.details);
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (error instanceof Error && status >= 400 && status < 500) {
    return refusal(FRAMEWORK_CODES[status] ?? 'BAD_REQUEST', FRAMEWORK_MESSAGES[status] ?? error.message);
  }
  log.error({ err: error, requestId }, 'a REST request failed');
  if (status === 503)
    return refusal('SERVICE_UNAVAILABLE', 'The service is not available at the moment. Try again.', { retry_after: 1 });
  return refusal('INTERNAL_ERROR', 'Something went wrong on our side.', { request_id: requestId });
}
