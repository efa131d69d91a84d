import { isDeadlock } from './violations.ts';

const MAX_TRIES = 5;

/**
 * Repeats a transaction that PostgreSQL aborted to resolve a deadlock. Locks have one order, but a batch of webhooks that merges contacts, or
 * that is applied one by one after a failure, learns only later of the locks that it needs.
 * @throws the error of the fifth attempt
 */
export async function retryDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || attempt === MAX_TRIES) throw error;
    }
  }
}
