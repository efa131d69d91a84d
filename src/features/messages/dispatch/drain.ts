import { LRUCache } from 'lru-cache';
import type { Drain } from '../../../lanes/lane.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import { clearDisconnected } from './clear-disconnected.ts';
import { createDispatch, type Dispatch, inDoubtMs } from './dispatch.ts';
import { TENANT_SUSPENDED } from './hold-reason.ts';
import { parseLane } from './lane.ts';
import { LaneMemory } from './lane-memory.ts';
import { LaneRun } from './lane-run.ts';
import type { SentMemory } from './sent-memory.ts';

/** Maximum number of lanes whose memory is kept. */
const MAX_MEMORIES = 10_000;
/** Interval at which the lane of a suspended tenant is checked again. */
const SUSPENDED_MS = 10 * SECOND;

/** Sends the queued messages of a channel, in order per contact, within the rate limits of channel and contact. */
export function drain(resources: Resources, lanes: Dispatch['lanes'], sent: SentMemory): Drain {
  const memories = new LRUCache<string, LaneMemory>({ max: MAX_MEMORIES });
  const dispatch = createDispatch(resources, lanes, sent);
  return async lane => {
    const { tenantId, channelId } = parseLane(lane.key);
    const channel = await dispatch.channels.load({ tenantId, channelId });
    if (channel?.status === 'disconnected')
      await clearDisconnected(resources, lane, tenantId, channelId, inDoubtMs(resources.config));
    if (channel?.status !== 'active') return undefined;
    if (channel.isTenantSuspended) return { pauseMs: SUSPENDED_MS, error: TENANT_SUSPENDED };
    const memory = memories.get(lane.key) ?? new LaneMemory();
    memories.set(lane.key, memory);
    const run = new LaneRun(dispatch, lane, channel, memory);
    try {
      return await run.loop();
    } finally {
      await run.finish();
    }
  };
}
