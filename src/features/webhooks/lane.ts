import type { Jobs } from '../../platform/jobs.ts';
import type { Signals } from '../../platform/signals.ts';

/** The queue of shards that have something to deliver. */
export const WEBHOOKS = 'webhooks';

/** A signal with this name and an endpoint's says that the endpoint was changed. */
export const ENDPOINTS = 'webhook-endpoints';

/**
 * Endpoints are worked on in so many lanes. Not in one lane each: a lane takes a place of its process for as long as an
 * endpoint takes to answer, so that thousands of endpoints would wait for the slow ones, and each of them would be a job of
 * the job queue for every event. Inside a shard every endpoint goes on by itself, and the database is asked for all together.
 */
export const SHARDS = 4;

export const shardOf = (endpointId: number): number => endpointId % SHARDS;

export const endpointKey = (tenantId: number, endpointId: number): string => `${tenantId}:${endpointId}`;

export const endpointTopic = (tenantId: number, endpointId: number): string =>
  `${ENDPOINTS}:${endpointKey(tenantId, endpointId)}`;

/** Tells all processes that an endpoint was changed, and has its shard looked at: what waits may have to be ended. */
export function tellOfChange(
  { signals, jobs }: { readonly signals: Pick<Signals, 'send'>; readonly jobs: Pick<Jobs, 'wake'> },
  tenantId: number,
  endpointId: number,
): void {
  signals.send(endpointTopic(tenantId, endpointId));
  jobs.wake(WEBHOOKS, String(shardOf(endpointId)));
}
