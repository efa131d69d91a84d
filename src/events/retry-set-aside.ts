import type { Database, Db } from '../database/database.ts';
import { positionBefore } from './cursor.ts';
import { findPosition } from './log.sql.ts';
import type { LogReader } from './readers.ts';
import { listSetAside, removeSetAside, type SetAsideKey, waitForReader } from './set-aside.sql.ts';
import { maySetAside } from './set-aside.ts';

export interface Retried extends SetAsideKey {
  /** `gone`: the event is no longer in the log, or its reader not in this version. */
  readonly outcome: 'consumed' | 'gone' | 'failed';
  readonly error: string | null;
}

/** Has readers consume the events that are set aside, each in a transaction of its own. Those that fail again stay. */
export async function retrySetAside(db: Database, readers: readonly LogReader[]): Promise<Retried[]> {
  const retried: Retried[] = [];
  for (const { tenant_id, event_id, reader: name } of await listSetAside(db.write)) {
    const key = { tenant_id, event_id, reader: name };
    const reader = readers.find(one => one.name === name);
    try {
      const outcome = await db.transaction(trx => retryOne(trx, key, reader));
      if (outcome) retried.push({ ...key, outcome, error: null });
    } catch (error) {
      if (!maySetAside(error)) throw error;
      retried.push({ ...key, outcome: 'failed', error: (error as Error).message });
    }
  }
  return retried;
}

/** @returns undefined if another process has retried it */
async function retryOne(
  trx: Db,
  key: SetAsideKey,
  reader: LogReader | undefined,
): Promise<'consumed' | 'gone' | undefined> {
  await waitForReader(trx, key.reader);
  if (!(await removeSetAside(trx, key))) return undefined;
  const until = await findPosition(trx, key.tenant_id, key.event_id);
  if (!until || !reader) return 'gone';
  // Sweeps find the lanes that have work now.
  await reader.consume(trx, { after: positionBefore(until), until });
  return 'consumed';
}
