import type { Resources } from '../../context.ts';
import { tenantsWithWork } from './replies-store.ts';

/** Lanes of bots that have something to do. */
export const botsToWake = async ({ db, clock }: Resources): Promise<string[]> =>
  (await tenantsWithWork(db.write, new Date(clock.now()).toISOString())).map(String);
