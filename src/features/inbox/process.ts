import { setTimeout as sleep } from 'node:timers/promises';
import { type Drain, type Lane, LaneLost, type TurnEnd } from '../../lanes/lane.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { createWebhookRecorder } from '../channels/record-webhooks.ts';
import { storeRecipientIdentities } from '../contacts/resolve-contacts.ts';
import { MEDIA, mediaLane } from '../messages/content/media/keeping/queue.ts';
import { laneOf, OUTBOX } from '../messages/dispatch/lane.ts';
import { syncSoon } from '../templates/sync/request-sync.ts';
import { countConversations, monthOf } from '../tenancy/usage/usage.ts';
import { applyEach, applyUpdates, NOTHING_APPLIED } from './apply.ts';
import { giveUp } from './give-up.ts';
import { isTransient } from './is-transient.ts';
import { indexPeople } from './people.ts';
import { removeErased } from './remove-erased.ts';
import { readWaiting, routeUpdates } from './route-updates.ts';
import { countUnhandled } from './unhandled-changes.ts';
import { type ClaimKind, claimWebhooks, markFailed, removeProcessed, type WaitingWebhook } from './webhooks.sql.ts';

/**
 * Limits of one transaction, by count and by size: a webhook may hold 1,000 updates in 3 MB, or one. A transaction takes some twenty
 * statements however many there are.
 */
const BATCH = 200;
const BATCH_BYTES = 1_000_000;
/**
 * After a batch of at least `SMALL_BATCH` webhooks that was not full, the next one begins no sooner than this after its start, to gather
 * more webhooks: in a transaction of 70, each costs a third less than in one of 35. Single messages of customers do not wait.
 */
const SPACING_MS = 150;
const SMALL_BATCH = 8;
/**
 * A webhook that fails this often for a reason of its own, over some four and a half minutes, is given up: its changes are kept as
 * unhandled. Faults of the database do not count, however long they last.
 */
const MAX_FAILURES = 10;
/** How long an empty lane waits for more webhooks before its turn ends. */
const LINGER_MS = 2 * SECOND;

/** State of a process for its inbox lanes. */
interface Inbox {
  readonly resources: Resources;
  readonly noteWebhooks: ReturnType<typeof createWebhookRecorder>;
}

/** Processes a tenant's webhooks in order of arrival. A failing webhook does not block the others. */
export function processInbox(resources: Resources): Drain {
  const inbox: Inbox = { resources, noteWebhooks: createWebhookRecorder(resources) };
  return lane => processLane(inbox, lane);
}

async function processLane(inbox: Inbox, lane: Lane): Promise<TurnEnd> {
  while (await lane.ready()) {
    if (lane.isTurnOver()) return 'more';
    const beganAtMs = performance.now();
    const processed = await processBatch(inbox, lane, 'fresh', BATCH);
    // Isolates the failing webhook by processing the batch one by one.
    if (processed === 'failed') await processEach(inbox, lane);
    else if (processed >= SMALL_BATCH && processed < BATCH) await pauseUntil(lane, beganAtMs + SPACING_MS);
    if (processed !== 0) continue;
    const retried = await processBatch(inbox, lane, 'failed', 1);
    if (retried === 0 && !(await lane.linger(LINGER_MS))) return undefined;
  }
  return undefined;
}

/** Unlike a wait of the lane, a wake-up does not end it. @param atMs by the monotonic clock */
async function pauseUntil({ signal }: Lane, atMs: number): Promise<void> {
  const ms = atMs - performance.now();
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** @returns the number of webhooks processed */
async function processBatch(
  { resources, noteWebhooks }: Inbox,
  lane: Lane,
  kind: ClaimKind,
  limit: number,
): Promise<number | 'failed'> {
  const { db, metrics, secrets, signals, lanes } = resources;
  const { tenantId } = lane;
  const claimed: WaitingWebhook[] = [];
  let applied = NOTHING_APPLIED;
  let channelIds: readonly number[] = [];
  try {
    await db.transaction(async trx => {
      claimed.push(...(await claimWebhooks(trx, tenantId, kind, limit, BATCH_BYTES)));
      const [first] = claimed;
      if (!first) return;
      const read = claimed.map(readWaiting);
      const { webhooks, erased } = await removeErased(trx, secrets, tenantId, read);
      const updates = await routeUpdates(trx, tenantId, webhooks);
      channelIds = updates.flatMap(({ channels }) => channels.map(({ id }) => id));
      // A retry applies each update in a savepoint, so that only the failing ones are left unhandled.
      const apply = kind === 'failed' ? applyEach : applyUpdates;
      applied = await apply(trx, tenantId, updates, erased, first.now_ms);
      await indexPeople(trx, tenantId, new Map(webhooks.map(({ id, body }) => [id, body])));
      await removeProcessed(
        trx,
        tenantId,
        claimed.map(webhook => webhook.id),
      );
      await countConversations(trx, tenantId, monthOf(first.now_ms), applied.startedConversations);
      await lane.fence(trx);
    });
  } catch (error) {
    if (claimed.length === 0 || error instanceof LaneLost) throw error;
    if (claimed.length > 1) return 'failed';
    const [webhook] = claimed;
    if (webhook) await noteFailure(resources, lane, webhook, error);
    return 'failed';
  }
  if (claimed.length === 0) return 0;
  signals.send('events');
  await storeRecipientIdentities(resources, tenantId, applied.newIdentities);
  countUnhandled(metrics, applied.unhandled);
  for (const channelId of applied.released) lanes.wake(OUTBOX, laneOf(tenantId, channelId));
  for (const channelId of applied.channelsWithFiles) lanes.wake(MEDIA, mediaLane(tenantId, channelId));
  // Not transactional: if the process ends here, the hourly sync covers it.
  await syncSoon(resources, tenantId, applied.accountsToRead);
  await noteWebhooks(tenantId, channelIds, new Date(claimed.at(-1)?.received_at ?? 0));
  return claimed.length;
}

/** Postpones a webhook that failed, or gives it up. */
async function noteFailure(resources: Resources, lane: Lane, webhook: WaitingWebhook, error: unknown): Promise<void> {
  const { db, log } = resources;
  const { id, attempts, failures } = webhook;
  const reason = error instanceof Error ? error.message : String(error);
  const failureCount = isTransient(error) ? 0 : 1;
  const logFields = { tenantId: lane.tenantId, webhookId: id };
  log.error(
    { ...logFields, err: error, attempt: attempts + 1, failures: failures + failureCount },
    'processing a webhook failed',
  );
  if (failures + failureCount >= MAX_FAILURES && failureCount === 1) {
    try {
      await giveUp(resources, lane, id, reason);
      return;
    } catch (fault) {
      if (fault instanceof LaneLost) throw fault;
      // Stays in the queue: nothing else would keep it.
      log.error({ ...logFields, err: fault }, 'giving up a webhook failed');
    }
  }
  await markFailed(db.write, lane, id, reason, failureCount);
}

/** Processes as many webhooks as a batch holds. A failed one is no longer fresh, so the loop does not claim it again. */
async function processEach(inbox: Inbox, lane: Lane): Promise<void> {
  for (let index = 0; index < BATCH && !lane.signal.aborted; index += 1) {
    if ((await processBatch(inbox, lane, 'fresh', 1)) === 0) return;
  }
}
