import type { Lanes } from '../../../lanes/runtime.ts';
import type { Signals } from '../../../platform/signals.ts';

/** The queue of shards with deliveries. */
export const WEBHOOKS = 'webhooks';

/** Topic prefix of the signal that an endpoint was changed. */
export const ENDPOINT_TOPIC = 'webhook-endpoints';

/**
 * Number of lanes that endpoints are distributed over. With one lane per endpoint, slow endpoints would occupy the places of the
 * process. Within a shard endpoints proceed independently, and the database is queried for all of them together.
 */
export const SHARDS = 4;

export const shardOf = (endpointId: number): number => endpointId % SHARDS;

export const endpointKey = (tenantId: number, endpointId: number): string => `${tenantId}:${endpointId}`;

export const endpointTopic = (tenantId: number, endpointId: number): string =>
  `${ENDPOINT_TOPIC}:${endpointKey(tenantId, endpointId)}`;

/** Signals to all processes that an endpoint was changed, and wakes its shard: queued deliveries may have to be ended. */
export function signalChange(
  { signals, lanes }: { readonly signals: Pick<Signals, 'send'>; readonly lanes: Pick<Lanes, 'wake'> },
  tenantId: number,
  endpointId: number,
): void {
  signals.send(endpointTopic(tenantId, endpointId));
  lanes.wake(WEBHOOKS, String(shardOf(endpointId)));
}
