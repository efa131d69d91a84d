import type { Resources } from '../../context.ts';
import { dueIntegrations } from './deliveries-store.ts';
import { laneOf } from './lane.ts';

/** Lanes of integrations that have something to do. */
export const integrationsToWake = async ({ db, clock }: Resources): Promise<string[]> =>
  (await dueIntegrations(db.write, new Date(clock.now()).toISOString())).map(row =>
    laneOf(row.tenant_id, row.integration_id),
  );
