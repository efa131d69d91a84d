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
  TOO_OLD: 409,
  DISABLED: 409,
  CURSOR_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
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

/** Codes that only GraphQL has, as top-level errors: faults of the request, its document or its variables. */
const GRAPHQL_CODES = [
  'BAD_USER_INPUT',
  'DOCUMENT_NOT_FOUND',
  'DOCUMENT_REQUIRED',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
] as const;

export type GraphQLCode = (typeof GRAPHQL_CODES)[number];

/** An error with a code that only GraphQL has. */
export const requestError = (code: GraphQLCode, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

/** Error messages by input field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Codes of faults of single input fields. In REST each of them is a VALIDATION_ERROR. */
export const FIELD_CODES = [
  'REQUIRED',
  'INVALID',
  'TOO_SHORT',
  'TOO_LONG',
  'TOO_MANY',
  'OUT_OF_RANGE',
  'TAKEN',
  'SURPLUS',
  'REFERENCE_NOT_FOUND',
  'UNKNOWN_MERGE_FIELD',
  'NOT_APPROVED',
  'NETWORK_REFUSED',
  'ROLLED_BACK',
] as const;

export type FieldCode = (typeof FIELD_CODES)[number];

/** Whether the code of a user error is that of a field's fault. */
export const isFieldCode = (code: string): boolean => (FIELD_CODES as readonly string[]).includes(code);

/** Validation fault of one input field. */
export interface Fault {
  /** Path of the field below the input, separated by dots: `contacts.3.phone`. */
  readonly field: string;
  readonly message: string;
  readonly code: FieldCode;
}

/**
 * Stands for a faulty required text while the other fields of an input are checked. A fault whose message contains it is about this value,
 * and not about the input.
 */
export const STAND_IN = '¤';

/** Whether two paths of fields are equal, or one contains the other. */
export const fieldsOverlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

/** What an error says besides its code and message. */
interface CodedErrorOptions {
  /** Facts for programs, which REST shows as they are. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Of a VALIDATION_ERROR: each fault with its code. `details` has the same messages by field. */
  readonly faults?: readonly Fault[] | undefined;
  /** Of a NOT_FOUND: the field that names the object, if it is not `id`. */
  readonly field?: string | undefined;
}

/** An error whose code, message and details are shown to the caller. Any other error is reported as INTERNAL_ERROR. */
export class CodedError extends GraphQLError {
  readonly code: ErrorCode;
  readonly details: CodedErrorOptions['details'];
  readonly faults: readonly Fault[];
  readonly field: CodedErrorOptions['field'];

  constructor(code: ErrorCode, message: string, { details, faults = [], field }: CodedErrorOptions = {}) {
    super(message, { extensions: details ? { code, details } : { code } });
    this.code = code;
    this.details = details;
    this.faults = faults;
    this.field = field;
  }
}

/** Uses the same message whether the row does not exist or belongs to another tenant. */
export const notFound = (what: string, field?: string): CodedError =>
  new CodedError('NOT_FOUND', `${what} not found.`, { field });

/** A VALIDATION_ERROR. @param code the code of each message */
export function invalid(fields: FieldErrors, code: FieldCode = 'INVALID'): CodedError {
  const errors = new FieldErrorList();
  for (const [field, messages] of Object.entries(fields))
    for (const message of messages) errors.add(field, message, code);
  return errors.toError();
}

export const conflict = (message: string, details?: Readonly<Record<string, unknown>>): CodedError =>
  new CodedError('CONFLICT', message, { details });

export const unauthorized = (): CodedError =>
  new CodedError('UNAUTHORIZED', 'A valid bearer token is required: it is missing, unknown, revoked or expired.');

/**
 * @param required every scope that the request needs, granted or not
 * @param granted the scopes of the token
 */
export function insufficientScope(required: readonly string[], granted: ReadonlySet<string>): CodedError {
  const missing = required.filter(scope => !granted.has(scope));
  return new CodedError('INSUFFICIENT_SCOPE', `This token lacks the scope ${missing.join(', ') || 'for this field'}.`, {
    details: { required, granted: [...granted] },
  });
}

/** Collects faults by field and throws them as one VALIDATION_ERROR. */
export class FieldErrorList {
  readonly #faults: Fault[] = [];

  add(field: string, message: string, code: FieldCode = 'INVALID'): void {
    this.#faults.push({ field, message, code });
  }

  /** Runs a check or a change, and adds the faults that it throws. @returns undefined if there are some @throws any other error */
  async collect<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CodedError) || error.faults.length === 0) throw error;
      this.#faults.push(...error.faults);
      return undefined;
    }
  }

  /** Adds the faults of another check, without those that the list has already. */
  include(faults: readonly Fault[]): void {
    for (const fault of faults)
      if (!this.#faults.some(({ field, message }) => field === fault.field && message === fault.message))
        this.#faults.push(fault);
  }

  /** Adds a fault for each of these fields of a change that is null: they keep their values if omitted, but cannot be cleared. */
  refuseNull<Input extends object>(input: Input, fields: readonly (keyof Input & string)[], prefix = ''): void {
    for (const field of fields)
      if (input[field] === null)
        this.add(prefix + field, 'May not be null: omit the field to keep its value.', 'REQUIRED');
  }

  get isEmpty(): boolean {
    return this.#faults.length === 0;
  }

  get faults(): readonly Fault[] {
    return this.#faults;
  }

  get fields(): FieldErrors {
    const fields: Record<string, string[]> = {};
    for (const { field, message } of this.#faults) {
      const messages = fields[field] ?? [];
      messages.push(message);
      fields[field] = messages;
    }
    return fields;
  }

  /** @param message of the error as a whole; by default that of the first fault */
  toError(message = this.#faults[0]?.message ?? 'The input is not valid.'): CodedError {
    return new CodedError('VALIDATION_ERROR', message, { details: this.fields, faults: this.#faults });
  }

  throwIfAny(): void {
    if (!this.isEmpty) throw this.toError();
  }
}

/** Adds the faults that another check finds to a validation error, so that one faulty field does not hide other faults. */
export function withFaultsOf(error: unknown, check: () => void): unknown {
  if (!(error instanceof CodedError) || error.faults.length === 0) return error;
  try {
    check();
    return error;
  } catch (other) {
    if (!(other instanceof CodedError) || other.faults.length === 0) return error;
    const errors = new FieldErrorList();
    errors.include([...error.faults, ...other.faults]);
    return errors.toError(error.message);
  }
}
