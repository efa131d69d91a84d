import { sql } from 'kysely';
import type { Db } from './database.ts';

/**
 * The timeline of the server's WAL: the promotion of a standby starts a new one, at once. Not read from the control file, which records
 * it only at the next checkpoint. Rejected on a standby.
 */
export const TIMELINE = sql.raw("('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int");

/**
 * SQLSTATEs insufficient_privilege, feature_not_supported and undefined_function: the role or the service does not permit the query.
 */
const NOT_PERMITTED = new Set(['42501', '0A000', '42883']);

/** Runs outside of a transaction, which an error would abort. @returns undefined if the role or the service does not permit the query */
export const ifPermitted = <T>(work: Promise<{ readonly rows: readonly T[] }>): Promise<T | undefined> =>
  work.then(
    ({ rows }) => rows[0],
    (error: { readonly code?: string }) => {
      if (NOT_PERMITTED.has(error.code ?? '')) return undefined;
      throw error;
    },
  );

/** @returns null if the server does not show it */
export async function readTimeline(db: Db): Promise<number | null> {
  const row = await ifPermitted(sql<{ id: number }>`select ${TIMELINE} as id`.execute(db));
  return row?.id ?? null;
}
