import type { GraphQLError } from 'graphql';
import { ERROR_STATUS, type ErrorCode, FieldErrorList, isFieldCode } from '../../core/errors.ts';
import { decodeGlobalId } from '../../core/global-ids.ts';
import { asCoded } from '../../http/request-errors.ts';
import type { PayloadFragment } from '../wire/documents.generated.ts';
import { wireDetails } from '../wire/names.ts';
import { rowKey } from '../wire/values.ts';
import type { RestLog } from './host.ts';
import type { Names } from './route.ts';

/** An error, before the envelope of its version. */
export interface RestError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

const restError = (code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): RestError => ({
  code,
  status: ERROR_STATUS[code],
  message: code === 'VALIDATION_ERROR' ? withField(message, details) : message,
  details,
});

/** Names the first field: "phone: Is required. (and 2 more)". People often read the message alone. */
function withField(message: string, details: Readonly<Record<string, unknown>> = {}): string {
  const [[field, messages] = [], ...others] = Object.entries(details);
  if (field === undefined || !Array.isArray(messages) || messages[0] !== message) return message;
  return `${field}: ${message}${others.length > 0 ? ` (and ${others.length} more)` : ''}`;
}

/** The title of a code: `Contact opted out`. Clients of version 1 compare it, so it is part of the contract. */
export const titleOf = (code: string): string => code.charAt(0) + code.slice(1).toLowerCase().replaceAll('_', ' ');

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERROR_STATUS, code);

const isDetails = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Precedence among several errors: authorization, missing objects, invalid input, internal errors last. */
const rank = (error: GraphQLError): number => {
  const code = error.extensions['code'];
  if (!isCode(code)) return 422;
  return code === 'INTERNAL_ERROR' ? 999 : ERROR_STATUS[code];
};

/** Maps GraphQL's errors to one REST error. @param names the route's names of fields, if they differ */
export function restErrorOf(errors: readonly GraphQLError[], names: Names | undefined): RestError {
  const [first] = [...errors].sort((a, b) => rank(a) - rank(b));
  const { code, details } = first?.extensions ?? {};
  const message = first?.message ?? 'Something went wrong on our side.';
  if (isCode(code)) return restError(code, message, isDetails(details) ? wireDetails(code, details, names) : undefined);
  // A variable that does not fit its type. Routes should have checked it, but the caller can act on the message.
  if (code === 'BAD_USER_INPUT') return restError('VALIDATION_ERROR', 'The input is not valid.', { input: [message] });
  return restError('INTERNAL_ERROR', 'Something went wrong on our side.');
}

/** One of a payload's `userErrors`, as the fragment `Payload` selects it. */
type UserError = PayloadFragment['userErrors'][number];

/** The user errors of a mutation's result. */
export function userErrorsOf(data: unknown): readonly UserError[] {
  if (!isDetails(data)) return [];
  return Object.values(data).flatMap(result =>
    isDetails(result) && Array.isArray(result['userErrors']) ? (result['userErrors'] as readonly UserError[]) : [],
  );
}

/** Maps user errors to one REST error: faults of fields to VALIDATION_ERROR, any other to itself. */
export function restErrorOfUserErrors(
  [first, ...others]: readonly [UserError, ...UserError[]],
  names: Names | undefined,
): RestError {
  if (isFieldCode(first.code)) {
    const errors = new FieldErrorList();
    for (const { path, message } of [first, ...others]) errors.add(path.join('.'), message);
    return restError('VALIDATION_ERROR', first.message, wireDetails('VALIDATION_ERROR', errors.fields, names));
  }
  const code = first.code as ErrorCode;
  return restError(code, first.message, detailsOf(first, names));
}

/** Details of a user error, in REST's names; undefined: none. */
export function detailsOf(error: UserError, names?: Names): Readonly<Record<string, unknown>> | undefined {
  const details = ownDetails(error);
  return details && wireDetails(error.code as ErrorCode, details, names);
}

function ownDetails(error: UserError): Readonly<Record<string, unknown>> | undefined {
  if ('retryAfterSeconds' in error)
    return { retry_after: error.retryAfterSeconds, ...(error.limit !== null && { limit: error.limit }) };
  if ('windowExpiredAt' in error) return { windowExpiredAt: error.windowExpiredAt };
  if ('optedOutAt' in error)
    return {
      ...(error.optedOutAt !== null && { opted_out_at: error.optedOutAt }),
      ...(error.category !== null && { category: error.category.toLowerCase() }),
      ...(error.entryId !== null && { consent_entry_id: rowKey(error.entryId) }),
      ...messageOf(error.messageId),
    };
  if ('provider' in error) return { provider: error.provider, ...messageOf(error.messageId) };
  if ('feature' in error) return { feature: error.feature, current: error.used, maximum: error.maximum };
  return undefined;
}

const messageOf = (globalId: string | null) => (globalId === null ? {} : { message_id: decodeGlobalId(globalId)?.id });

const FRAMEWORK_MESSAGES: Readonly<Record<number, string>> = {
  413: 'The body is too large.',
  415: 'The body must be JSON: send it with Content-Type: application/json.',
};

/** Maps an error thrown outside of GraphQL: by authentication, by reading the request, or unexpectedly. */
export function restErrorOfThrown(error: unknown, requestId: string, log: RestLog): RestError {
  const { code, message, details } = asCoded(error, requestId, log, FRAMEWORK_MESSAGES);
  return restError(code, message, details);
}
