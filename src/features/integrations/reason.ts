import { CodedError, type FieldErrors } from '../../errors.ts';

/** Why nothing, or not all, was done with a payload. */
export interface Reason {
  /** For programs: one of `CODES`, or the code of a coded error (CONTACT_OPTED_OUT, FEATURE_LIMIT_EXCEEDED, …). */
  readonly code: string;
  /** For people. */
  readonly message: string;
  /** What of the mapping it is about, such as `body.1`. */
  readonly field: string | null;
  /** The path of the payload that fills it. */
  readonly path: string | null;
}

/** Our own words, beside the codes of coded errors. */
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

/** A refusal that stays one however often it is tried: it is what became of the payload. */
export class Refusal extends Error {
  readonly reason: Reason;

  constructor(code: string, message: string, field: string | null = null, path: string | null = null) {
    super(message);
    this.reason = { code, message, field, path };
  }
}

/** Coded errors that may be over in a moment; everything that is no coded error may be as well. */
const PASSING: ReadonlySet<string> = new Set([
  'SERVICE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'CONFLICT',
  'INTERNAL_ERROR',
]);

/**
 * The reason of a refusal; undefined for a fault that may pass, which is worth another try.
 * @param sources the path that filled each field
 */
export function reasonOf(error: unknown, sources: Readonly<Record<string, string>> = {}): Reason | undefined {
  if (error instanceof Refusal) return error.reason;
  if (!(error instanceof CodedError) || PASSING.has(error.code)) return undefined;
  if (error.code !== 'VALIDATION_ERROR') return { code: error.code, message: error.message, field: null, path: null };
  const [[field, messages] = ['', []]] = Object.entries((error.details ?? {}) as FieldErrors);
  const path = sources[field] ?? null;
  const filled = path === null ? '' : `, filled from ${path}`;
  return { code: error.code, message: `${field}${filled}: ${messages[0] ?? error.message}`, field, path };
}
