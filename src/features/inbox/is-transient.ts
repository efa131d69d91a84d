import { isUnavailable } from '../../database/unavailable.ts';

/**
 * Transient errors, for which the whole webhook is retried: connection (08), a transaction that the server has ended or that is
 * read-only after a failover (25), transaction rollback such as a deadlock (40), resources (53), a lock that is not available (55),
 * operator intervention such as a time-out or shutdown (57), system (58), internal (XX).
 * PostgreSQL, appendix A: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const TRANSIENT = /^(08|25|40|53|55|57|58|XX)\w{3}$/;

/** Whether an error says nothing about the webhook. Any other repeats on every attempt: bugs, values that a table refuses. */
export function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && TRANSIENT.test(code)) return true;
  return (
    isUnavailable(error) || (error instanceof Error && /Connection terminated|connection timeout/i.test(error.message))
  );
}
