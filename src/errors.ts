import { GraphQLError } from 'graphql';

/**
 * The closed list of coded refusals, one vocabulary for GraphQL (`extensions.code`) and REST, with the status that REST
 * answers. A new code does not compile until every table over it knows it.
 */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  INSUFFICIENT_SCOPE: 403,
  FEATURE_LIMIT_EXCEEDED: 403,
  FEATURE_NOT_AVAILABLE: 403,
  CONTACT_OPTED_OUT: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  CURSOR_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_ERROR: 422,
  OUTSIDE_SERVICE_WINDOW: 422,
  MESSAGING_NOT_CONFIGURED: 422,
  OTP_NOT_FOUND: 422,
  OTP_EXPIRED: 422,
  INVALID_CODE: 422,
  MAX_ATTEMPTS_EXCEEDED: 422,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMIT_EXCEEDED: 429,
  QUERY_TOO_COMPLEX: 400,
  MESSAGE_SEND_FAILED: 500,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Messages by field: what was wrong with what the caller sent. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** A refusal that the caller may see as it is. Everything else that is thrown leaves the process as INTERNAL_ERROR. */
export class CodedError extends GraphQLError {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message, { extensions: details ? { code, details } : { code } });
    this.code = code;
    this.details = details;
  }
}

/** The same words whether the row does not exist or belongs to another tenant. */
export const notFound = (what: string): CodedError => new CodedError('NOT_FOUND', `${what} not found.`);

export const invalid = (fields: FieldErrors): CodedError => {
  const [first] = Object.values(fields).flat();
  return new CodedError('VALIDATION_ERROR', first ?? 'The input is not valid.', fields);
};

export const conflict = (message: string, details?: Readonly<Record<string, unknown>>): CodedError =>
  new CodedError('CONFLICT', message, details);

export const unauthorized = (): CodedError =>
  new CodedError('UNAUTHORIZED', 'A valid bearer token is required: it is missing, unknown, revoked or expired.');

/** Collects messages by field, and throws them together. */
export class FieldErrorList {
  readonly #fields: Record<string, string[]> = {};

  add(field: string, message: string): void {
    const messages = this.#fields[field] ?? [];
    messages.push(message);
    this.#fields[field] = messages;
  }

  get isEmpty(): boolean {
    return Object.keys(this.#fields).length === 0;
  }

  get fields(): FieldErrors {
    return this.#fields;
  }

  throwIfAny(): void {
    if (!this.isEmpty) throw invalid(this.#fields);
  }
}
