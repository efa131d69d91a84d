import pg from 'pg';
import { type FieldErrors, invalid } from '../core/errors.ts';

/** PostgreSQL's constraint violations (appendix A, class 23). */
const KINDS: Readonly<Record<string, 'unique' | 'foreign_key' | 'check'>> = {
  '23505': 'unique',
  '23503': 'foreign_key',
  '23514': 'check',
};

/** Whether PostgreSQL aborted this transaction to resolve a deadlock; it may be retried. */
export const isDeadlock = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '40P01';

/** A transaction could not take the locks that it turned out to need. As after PostgreSQL's own 40001, it may be retried. */
export class TransactionConflict extends Error {
  readonly code = '40001';
}

/** Returns the violated constraint; undefined for any other error. */
export function violationOf(
  error: unknown,
): { kind: 'unique' | 'foreign_key' | 'check'; constraint: string } | undefined {
  if (!(error instanceof pg.DatabaseError) || !error.code || !error.constraint) return undefined;
  const kind = KINDS[error.code];
  return kind && { kind, constraint: error.constraint };
}

/** Does work that may violate a unique key. @throws VALIDATION_ERROR with these messages, each TAKEN, if it does */
export async function refuseTaken<Result>(
  constraint: string,
  messages: FieldErrors,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw violationOf(error)?.constraint === constraint ? invalid(messages, 'TAKEN') : error;
  }
}
