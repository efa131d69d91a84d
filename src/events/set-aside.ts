import pg from 'pg';
import type { Database, Db } from '../database/database.ts';
import { withSavepoint } from '../database/savepoint.ts';
import { type Cursor, isSame, positionBefore } from './cursor.ts';
import type { LogRange } from './log.sql.ts';
import { findNextRange, lockReader, saveReaderPosition } from './readers.sql.ts';
import { findOtherEvent, type SetAsideKey, storeSetAside } from './set-aside.sql.ts';

/**
 * Errors that the values of an event can cause: cardinality (21), data (22), a constraint (23), a limit of the server (54), a raised
 * exception (P0). Any other is of the database, of its schema or of this version: no event is set aside for it, however often it comes.
 * PostgreSQL, appendix A: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const OF_THE_EVENT = /^(21|22|23|54|P0)\w{3}$/;

/** Whether an error is of the event that a reader consumes, so that each attempt ends with it. */
export const isOfTheEvent = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && OF_THE_EVENT.test(error.code ?? '');

/** A statement timeout: of the event (too many rows, a lock that one tenant holds) or of the whole database. */
export const isStatementTimeout = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '57014';

/** Whether an event may be set aside for an error. */
export const maySetAside = (error: unknown): boolean => isOfTheEvent(error) || isStatementTimeout(error);

/**
 * Moves a reader past the next event, which it cannot consume, and keeps that for an operator.
 * @param after the position at which it failed
 * @param test consumption of another event, which is undone: for an error that may be of the whole database
 * @returns the event; undefined if another process has moved the reader
 * @throws the error of the test, or one that no other event is waiting
 */
export function setAsideNext(
  db: Database,
  reader: string,
  after: Cursor,
  horizon: Cursor,
  error: string,
  test?: (trx: Db, range: LogRange) => Promise<unknown>,
): Promise<SetAsideKey | undefined> {
  return db.transaction(async trx => {
    const current = await lockReader(trx, reader);
    if (!current || !isSame(current, after)) return undefined;
    const range = await findNextRange(trx, after, horizon, 1);
    if (!range) return undefined;
    const [event] = await storeSetAside(trx, reader, range, error);
    if (test && event) {
      const other = await findOtherEvent(trx, range.until, event.tenant_id);
      if (!other) throw new Error('It is the last event, so no other one can be tested.');
      await undone(trx, () => test(trx, { after: positionBefore(other), until: other }));
    }
    await saveReaderPosition(trx, reader, range.until);
    return event;
  });
}

async function undone(trx: Db, part: () => Promise<unknown>): Promise<void> {
  const undo = new Error('undo');
  const done = withSavepoint(trx, async () => {
    await part();
    throw undo;
  });
  await done.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
}
