import type { LogReader } from '../events/read.ts';
import { takeReceived } from './inbox-store.ts';
import { BOTS } from './lane.ts';

/** Follows the log for bots: each inbound message is put before them once. */
export const botReader: LogReader = {
  name: 'bots',
  types: new Set(['message.received']),
  async take(_resources, trx, stretch) {
    const tenantIds = await takeReceived(trx, stretch);
    return tenantIds.map(tenantId => ({ queue: BOTS, key: String(tenantId) }));
  },
};
