import type { Fault } from '../core/errors.ts';

/** Validates a client's idempotency key. */
export const keyFaults = (key: string | null | undefined): readonly Fault[] =>
  key != null && key.length > 255
    ? [{ field: 'idempotencyKey', message: 'May have at most 255 characters.', code: 'TOO_LONG' }]
    : [];
