import type { Resources } from '../../context.ts';
import { parseWebhook } from '../../network/cloud-api/webhook.ts';
import type { NetworkUpdate } from '../../network/network.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import type { Lane } from '../../platform/jobs.ts';
import { channelsByNumber } from '../channels/by-number.ts';
import { type AddressedStatus, applyStatuses } from '../messages/apply-statuses.ts';
import { type InboundMessage, receiveMessages } from '../messages/receive.ts';
import { claimWebhooks, markFailed, markProcessed, type WaitingWebhook } from './store.ts';

/** Webhooks worked on in one transaction. Each may hold 1,000 updates. */
const BATCH = 50;
/** A webhook that fails this often is put aside with its error, and the log says so. */
const MAX_ATTEMPTS = 10;
const LINGER_MS = 2 * SECOND;

/** Works through the webhooks of one tenant in the order in which they came. */
export async function processInbox(resources: Resources, lane: Lane): Promise<void> {
  const tenantId = Number(lane.key);
  while (!lane.signal.aborted) {
    const outcome = await processBatch(resources, tenantId, BATCH);
    if (outcome === 'empty' && !(await lane.wait(LINGER_MS))) return;
    // One of them cannot be worked on: go through them one by one, so that it alone is held back.
    if (outcome === 'failed') await processSingly(resources, tenantId, lane);
  }
}

async function processBatch(resources: Resources, tenantId: number, limit: number): Promise<'done' | 'empty' | 'failed'> {
  const { db, clock, log, signals } = resources;
  const claimed: WaitingWebhook[] = [];
  try {
    await db.transaction(async trx => {
      claimed.push(...(await claimWebhooks(trx, tenantId, limit)));
      if (claimed.length === 0) return;
      const updates = claimed.flatMap(webhook => parseWebhook(JSON.parse(webhook.body.toString('utf8'))));
      await applyUpdates(trx, tenantId, updates, clock.now());
      await markProcessed(trx, tenantId, claimed.map(webhook => webhook.id));
    });
  } catch (error) {
    if (claimed.length === 0) throw error;
    if (claimed.length > 1) return 'failed';
    const [webhook] = claimed;
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ err: error, tenantId, webhookId: webhook?.id, attempt: (webhook?.attempts ?? 0) + 1 }, 'a webhook of the network could not be worked on');
    if (webhook) await markFailed(db.write, tenantId, webhook.id, reason, MAX_ATTEMPTS);
    return 'failed';
  }
  if (claimed.length === 0) return 'empty';
  signals.send('events');
  return 'done';
}

async function processSingly(resources: Resources, tenantId: number, lane: Lane): Promise<void> {
  for (let index = 0; index < BATCH && !lane.signal.aborted; index += 1) {
    const outcome = await processBatch(resources, tenantId, 1);
    if (outcome === 'empty') return;
    // The oldest is tried again first: give what it stumbled over a moment to pass.
    if (outcome === 'failed') await lane.wait(SECOND);
  }
}

async function applyUpdates(trx: Db, tenantId: number, updates: readonly NetworkUpdate[], nowMs: number): Promise<void> {
  const messages = new Map<string, InboundMessage[]>();
  const statuses: AddressedStatus[] = [];
  for (const update of updates) {
    if (update.kind === 'message') messages.set(update.phoneNumberId, [...(messages.get(update.phoneNumberId) ?? []), update]);
    else if (update.kind === 'status') statuses.push(addressed(update));
  }
  // A webhook may name numbers of other tenants: only those of this one are its own.
  const channels = await channelsByNumber(trx, tenantId, [...messages.keys()]);
  for (const [phoneNumberId, received] of messages) {
    const channelId = channels.get(phoneNumberId);
    if (channelId !== undefined) await receiveMessages(trx, tenantId, channelId, received, nowMs);
  }
  if (statuses.length > 0) await applyStatuses(trx, tenantId, statuses, nowMs);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const addressed = (update: Extract<NetworkUpdate, { kind: 'status' }>): AddressedStatus => ({
  // Other systems that send from the same number put their own data there.
  messageId: update.callbackData !== undefined && UUID.test(update.callbackData) ? update.callbackData : undefined,
  wamid: update.wamid,
  status: update.status,
  at: update.at.toISOString(),
  error: update.error && { code: update.error.code, title: update.error.title, details: update.error.details },
});
