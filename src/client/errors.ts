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
 * The gateway answered with errors of the request: authentication, scopes, limits, invalid arguments, faults of the server. What a
 * user can mend is in `userErrors` of the mutation's payload instead, and rejects nothing.
 */
export class ParleyError extends Error {
  readonly errors: readonly ResponseError[];
  /** The fields that succeeded beside the refused ones. */
  readonly data: unknown;

  constructor(errors: readonly ResponseError[], data?: unknown) {
    super(errors[0]?.message ?? 'The gateway answered with an error.');
    this.name = 'ParleyError';
    this.errors = errors;
    this.data = data;
  }

  /** Code of the first error, such as `INSUFFICIENT_SCOPE`. */
  get code(): string | undefined {
    return this.errors[0]?.extensions?.code;
  }
}

/** The gateway could not be reached, or something before it answered (a proxy, a load balancer). */
export class TransportError extends Error {
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'TransportError';
    this.status = status;
  }
}
