import DataLoader from 'dataloader';
import { SECOND } from '../../../platform/clock.ts';

/** Look-ups that share one statement per second, so that a flood of unknown keys costs the database next to nothing. */
export interface BatchedLookup<T> {
  /** @returns undefined also when too many look-ups are waiting */
  find(key: string): Promise<T | undefined>;
}

const BATCH_INTERVAL_MS = SECOND;
/** Further look-ups are rejected until the next statement, valid keys included. */
const MAX_WAITING = 1_000;

/** @param findAll returns one result per key, in the order of the keys */
export function createBatchedLookup<T>(
  findAll: (keys: readonly string[]) => Promise<(T | undefined)[]>,
): BatchedLookup<T> {
  const waiting = new Map<string, Promise<T | undefined>>();
  const loader = new DataLoader<string, T | undefined>(
    keys => {
      waiting.clear();
      return findAll(keys);
    },
    { cacheMap: waiting, batchScheduleFn: dispatch => void setTimeout(dispatch, BATCH_INTERVAL_MS) },
  );
  return {
    find: async key => (waiting.size < MAX_WAITING || waiting.has(key) ? loader.load(key) : undefined),
  };
}
