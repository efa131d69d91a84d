import type { Resources } from '../../context.ts';
import { dueShards } from './queue-store.ts';

/** Shards in which something is due. */
export const webhooksToWake = async ({ db, clock }: Resources): Promise<string[]> =>
  (await dueShards(db.write, new Date(clock.now()).toISOString())).map(String);
