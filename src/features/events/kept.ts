import { CodedError } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { timeOfId } from '../../platform/ids.ts';
import { type Cursor, isAfter } from './cursor.ts';
import { readHorizon } from './retention-store.ts';

export const expired = (): CodedError =>
  new CodedError(
    'CURSOR_EXPIRED',
    'This cursor is older than the events that are kept: what followed it is gone. Read the present state anew, and subscribe without it.',
  );

/** @throws CURSOR_EXPIRED for a place behind which events have been removed, or one in the log of another cluster */
export async function requireKept(db: Db, place: Cursor): Promise<void> {
  const horizon = await readHorizon(db);
  if (isAfter(horizon, place) || place.xid > horizon.endXid) throw expired();
}

/** Whether an event with this id (a UUIDv7) would have been removed by now. */
export async function isForgotten(db: Db, id: string): Promise<boolean> {
  return timeOfId(id) < (await readHorizon(db)).instantMs;
}
