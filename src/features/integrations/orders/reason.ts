import { CodedError, type FieldErrors } from '../../../core/errors.ts';

/** Why a payload was not processed, or not completely. */
export interface Reason {
  /** For programs: one of `CODES`, or the code of a coded error (CONTACT_OPTED_OUT, FEATURE_LIMIT_EXCEEDED, …). */
  readonly code: string;
  /** For people. */
  readonly message: string;
  /** The affected field of the mapping, for example `body.1`. */
  readonly field: string | null;
  /** The path of the payload that fills it. */
  readonly path: string | null;
}

/** Codes in addition to those of coded errors. */
export const CODES = {
  payloadUnreadable: 'PAYLOAD_UNREADABLE',
  payloadErased: 'PAYLOAD_ERASED',
  orderIdMissing: 'ORDER_ID_MISSING',
  phoneMissing: 'PHONE_MISSING',
  phoneInvalid: 'PHONE_INVALID',
  parameterMissing: 'PARAMETER_MISSING',
  outcomeUnknown: 'OUTCOME_UNKNOWN',
  tenantInactive: 'TENANT_INACTIVE',
  fault: 'FAULT',
} as const;

/** A permanent refusal, which is the result of a payload. */
export class Refusal extends Error {
  readonly reason: Reason;

  constructor(code: string, message: string, field: string | null = null, path: string | null = null) {
    super(message);
    this.reason = { code, message, field, path };
  }
}

/** Transient coded errors. Errors without a code count as transient too. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'SERVICE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'CONFLICT',
  'INTERNAL_ERROR',
]);

/**
 * Returns the reason of a refusal; undefined for a transient fault, which is retried.
 * @param sources the path that filled each field
 */
export function reasonOf(error: unknown, sources: Readonly<Record<string, string>> = {}): Reason | undefined {
  if (error instanceof Refusal) return error.reason;
  if (!(error instanceof CodedError) || TRANSIENT.has(error.code)) return undefined;
  if (error.code !== 'VALIDATION_ERROR') return { code: error.code, message: error.message, field: null, path: null };
  const [[field, messages] = ['', []]] = Object.entries((error.details ?? {}) as FieldErrors);
  const path = sources[field] ?? null;
  const filled = path === null ? '' : `, filled from ${path}`;
  return { code: error.code, message: `${field}${filled}: ${messages[0] ?? error.message}`, field, path };
}
