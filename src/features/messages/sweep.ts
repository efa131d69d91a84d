import type { Resources } from '../../context.ts';
import { laneOf } from './lane.ts';
import { dueLanes } from './outbox.ts';

/** Lanes of the outbox that have something due. */
export async function outboxesToWake({ db, clock }: Resources): Promise<string[]> {
  const lanes = await dueLanes(db.write, new Date(clock.now()).toISOString());
  return lanes.map(lane => laneOf(lane.tenant_id, lane.channel_id));
}
