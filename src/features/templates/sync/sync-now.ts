import { setTimeout as sleep } from 'node:timers/promises';
import { conflict } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { Context } from '../../../schema/context.ts';
import { onceAfter } from '../../tenancy/idempotency/once.ts';
import { requireAccounts } from '../accounts.ts';
import type { Account } from '../store.ts';
import { networkRefusal } from './network-refusal.ts';
import { type SyncCounts, sync } from './sync.ts';

/** Maximum wait for a running sync, which may have started before the change that the caller wants to see. */
const MAX_WAIT_MS = 10 * SECOND;
const POLL_INTERVAL_MS = 200;

const NOTHING: SyncCounts = { created: 0, updated: 0, removed: 0, unchanged: 0, total: 0 };

/**
 * Syncs the business account of a channel, or all accounts, and waits for the result.
 * @throws NOT_FOUND (channel), MESSAGING_NOT_CONFIGURED, CONFLICT (another sync takes long), SERVICE_UNAVAILABLE
 */
export const syncNow = (
  context: Context,
  channelId: number | undefined,
  idempotencyKey: string | null | undefined,
): Promise<SyncCounts> =>
  onceAfter(
    context,
    { operation: 'syncTemplates', key: idempotencyKey, input: { channelId } },
    () => syncAll(context, channelId),
    { run: async (_trx, counts) => counts, store: counts => counts, rebuild: async stored => stored as SyncCounts },
  );

async function syncAll(context: Context, channelId: number | undefined): Promise<SyncCounts> {
  const tenantId = tenantOf(context);
  let sum = NOTHING;
  // Sequential: a tenant with many accounts must not use all connections.
  for (const account of await requireAccounts(context.db.write, tenantId, channelId ?? 'all'))
    sum = add(sum, await syncAccount(context, tenantId, account));
  return sum;
}

async function syncAccount(context: Context, tenantId: number, account: Account): Promise<SyncCounts> {
  for (const deadline = performance.now() + MAX_WAIT_MS; performance.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
    const counts = await sync(context, tenantId, account).catch((error: unknown) => {
      throw networkRefusal(error);
    });
    if (counts) return counts;
  }
  throw conflict('A sync of these templates is running. Try again when it has finished.');
}

const add = (one: SyncCounts, other: SyncCounts): SyncCounts => ({
  created: one.created + other.created,
  updated: one.updated + other.updated,
  removed: one.removed + other.removed,
  unchanged: one.unchanged + other.unchanged,
  total: one.total + other.total,
});
