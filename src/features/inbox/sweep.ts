import type { Resources } from '../../context.ts';
import { waitingTenants } from './store.ts';

/** Lanes of the inbox that have something to do. */
export const inboxesToWake = async ({ db }: Resources): Promise<string[]> =>
  (await waitingTenants(db.write)).map(String);
