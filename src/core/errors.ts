import { GraphQLError } from 'graphql';

/**
 * Error codes shared by GraphQL (`extensions.code`) and REST, with the HTTP status of REST. A new code does not compile until
 * every table over the codes has an entry for it.
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
  MESSAGE_SEND_FAILED: 422,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Error messages by input field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** An error whose code, message and details are shown to the caller. Any other error is reported as INTERNAL_ERROR. */
export class CodedError extends GraphQLError {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message, { extensions: details ? { code, details } : { code } });
    this.code = code;
    this.details = details;
  }
}

/** Uses the same message whether the row does not exist or belongs to another tenant. */
export const notFound = (what: string): CodedError => new CodedError('NOT_FOUND', `${what} not found.`);

export const invalid = (fields: FieldErrors): CodedError => {
  const [first] = Object.values(fields).flat();
  return new CodedError('VALIDATION_ERROR', first ?? 'The input is not valid.', fields);
};

export const conflict = (message: string, details?: Readonly<Record<string, unknown>>): CodedError =>
  new CodedError('CONFLICT', message, details);

export const unauthorized = (): CodedError =>
  new CodedError('UNAUTHORIZED', 'A valid bearer token is required: it is missing, unknown, revoked or expired.');

/**
 * @param required every scope that the request needs, granted or not
 * @param granted the scopes of the token
 */
export function insufficientScope(required: readonly string[], granted: ReadonlySet<string>): CodedError {
  const missing = required.filter(scope => !granted.has(scope));
  return new CodedError('INSUFFICIENT_SCOPE', `This token lacks the scope ${missing.join(', ') || 'for this field'}.`, {
    required,
    granted: [...granted],
  });
}

/** Collects messages by field and throws them as one VALIDATION_ERROR. */
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
