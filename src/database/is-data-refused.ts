/**
 * SQLSTATEs of a row that the database refuses whenever it is written: 22 (data exception, such as a character that cannot be stored), 23 (constraint
 * violation), 54 (program limit, such as a value too long for its index).
 * PostgreSQL, appendix A: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const REFUSED = /^(22|23|54)\w{3}$/;

/** Whether a statement failed because of the data in it, so that it fails on every attempt, and others may succeed without that data. */
export const isDataRefused = (error: unknown): boolean =>
  REFUSED.test(String((error as { code?: unknown } | null)?.code));
