/** One error of a GraphQL response. */
export interface ResponseError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: {
    readonly code?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/**
 * The gateway responded with errors of the request: authentication, scopes, limits, invalid arguments, internal errors. Errors that a
 * user can correct are in `userErrors` of the mutation's payload instead.
 */
export class ParleyError extends Error {
  readonly errors: readonly ResponseError[];
  /** The data of the fields that succeeded. */
  readonly data: unknown;

  constructor(errors: readonly ResponseError[], data?: unknown) {
    super(errors[0]?.message ?? 'The gateway responded with an error.');
    this.name = 'ParleyError';
    this.errors = errors;
    this.data = data;
  }

  /** Code of the first error, such as `INSUFFICIENT_SCOPE`. */
  get code(): string | undefined {
    return this.errors[0]?.extensions?.code;
  }
}

/** The gateway could not be reached, or a proxy or load balancer responded in its place. */
export class TransportError extends Error {
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'TransportError';
    this.status = status;
  }
}
