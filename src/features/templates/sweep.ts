import type { Resources } from '../../context.ts';
import { laneOf } from './lane.ts';
import { dueSyncs } from './syncs-store.ts';

/** Lanes of business accounts whose templates are due to be read. */
export const templateSyncsToWake = async ({ db }: Resources): Promise<string[]> =>
  (await dueSyncs(db.write)).map(row => laneOf(row.tenant_id, row.waba_id));
