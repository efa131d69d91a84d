import { EVENT_TYPES } from '../../core/events.ts';
import type { LogReader } from '../../events/readers.ts';
import { DAY } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { WEBHOOKS } from './delivery/lane.ts';
import { enqueueEvents, hasEnabledEndpoints } from './delivery/queue.sql.ts';
import { UNDELIVERABLE } from './endpoints/endpoint.ts';
import { dropMonths } from './log/store.ts';

/** Queues events for the endpoints that subscribe to them. Payloads do not pass through this process. */
export const webhookReader: LogReader = {
  name: WEBHOOKS,
  types: new Set(EVENT_TYPES.filter(type => !Object.hasOwn(UNDELIVERABLE, type))),
  pauseMs: 50,
  isNeeded: hasEnabledEndpoints,
  async consume(trx, range) {
    const shards = await enqueueEvents(trx, range, Object.keys(UNDELIVERABLE));
    return shards.map(shard => ({ queue: WEBHOOKS, key: String(shard) }));
  },
};

/**
 * Removes the log of deliveries by whole months: with a retention of 30 days, a delivery is gone after at most 61. A month with a
 * queued delivery (replayed on its last day) stays until that has ended.
 */
export async function cleanDeliveryLog({ db, clock, config }: Resources): Promise<void> {
  const before = new Date(clock.now() - config.retention.logsDays * DAY).toISOString();
  await dropMonths(db.write, before);
}
