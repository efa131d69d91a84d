import pg from 'pg';
import type { Database } from '../database/database.ts';
import { type Cursor, isSame } from './cursor.ts';
import { findNextRange, lockReader, saveReaderPosition } from './readers.sql.ts';
import { type SetAsideKey, storeSetAside } from './set-aside.sql.ts';

/**
 * Errors that the values of an event can cause: cardinality (21), data (22), a constraint (23), a limit of the server (54), a raised
 * exception (P0). Any other is of the database, of its schema or of this version: no event is set aside for it, however often it comes.
 * PostgreSQL, appendix A: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const OF_THE_EVENT = /^(21|22|23|54|P0)\w{3}$/;

/** Whether an error is of the event that a reader consumes, so that each attempt ends with it. */
export const isOfTheEvent = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && OF_THE_EVENT.test(error.code ?? '');

/**
 * Moves a reader past the next event, which it cannot consume, and keeps that for an operator.
 * @param after the position at which it failed
 * @returns the event; undefined if another process has moved the reader
 */
export function setAsideNext(
  db: Database,
  reader: string,
  after: Cursor,
  horizon: Cursor,
  error: string,
): Promise<SetAsideKey | undefined> {
  return db.transaction(async trx => {
    const current = await lockReader(trx, reader);
    if (!current || !isSame(current, after)) return undefined;
    const range = await findNextRange(trx, after, horizon, 1);
    if (!range) return undefined;
    const [event] = await storeSetAside(trx, reader, range, error);
    await saveReaderPosition(trx, reader, range.until);
    return event;
  });
}
