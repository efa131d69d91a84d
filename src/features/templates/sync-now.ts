import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { conflict } from '../../errors.ts';
import { SECOND } from '../../platform/clock.ts';
import { tenantOf } from '../caller.ts';
import { networkRefusal } from './network-refusal.ts';
import { sourcesOf } from './source-of.ts';
import { type SyncCounts, sync } from './sync.ts';
import type { Account } from './syncs-store.ts';

/** How long a caller waits for a sync that is under way: what he wants to see may be too new for it. */
const PATIENCE_MS = 10 * SECOND;
const LOOK_MS = 200;

const NOTHING: SyncCounts = { created: 0, updated: 0, removed: 0, unchanged: 0, total: 0 };

/**
 * Reads the templates from the network now: those of the channel's business account, or of all accounts.
 * @throws NOT_FOUND (channel), MESSAGING_NOT_CONFIGURED, CONFLICT (another sync takes long), SERVICE_UNAVAILABLE
 */
export async function syncNow(context: Context, channelId: number | undefined): Promise<SyncCounts> {
  const tenantId = tenantOf(context);
  let sum = NOTHING;
  // One after the other: the network counts calls per account, and a tenant with many numbers must not take all our connections.
  for (const account of await sourcesOf(context.db.write, tenantId, channelId ?? 'all'))
    sum = plus(sum, await syncAccount(context, tenantId, account));
  return sum;
}

async function syncAccount(context: Context, tenantId: number, account: Account): Promise<SyncCounts> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await sleep(LOOK_MS)) {
    const counts = await sync(context, tenantId, account, false).catch((error: unknown) => {
      throw networkRefusal(error);
    });
    if (counts) return counts;
  }
  throw conflict('A sync of these templates is under way. Try again when it has ended.');
}

const plus = (one: SyncCounts, other: SyncCounts): SyncCounts => ({
  created: one.created + other.created,
  updated: one.updated + other.updated,
  removed: one.removed + other.removed,
  unchanged: one.unchanged + other.unchanged,
  total: one.total + other.total,
});
