import { EVENT_TYPES } from '../../events.ts';
import type { LogReader } from '../events/read.ts';
import { UNDELIVERABLE } from './endpoint.ts';
import { WEBHOOKS } from './lane.ts';
import { enqueueEvents } from './queue-store.ts';

/** Puts what happens into the queues of the endpoints that asked for it. Payloads do not pass through the process. */
export const webhookReader: LogReader = {
  name: WEBHOOKS,
  types: new Set(EVENT_TYPES.filter(type => !Object.hasOwn(UNDELIVERABLE, type))),
  async take({ clock }, trx, stretch) {
    const shards = await enqueueEvents(trx, stretch, Object.keys(UNDELIVERABLE), new Date(clock.now()).toISOString());
    return shards.map(shard => ({ queue: WEBHOOKS, key: String(shard) }));
  },
};
