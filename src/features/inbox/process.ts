import type { Resources } from '../../context.ts';
import { parseWebhook } from '../../network/cloud-api/webhook.ts';
import type { NetworkUpdate } from '../../network/network.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import type { Lane } from '../../platform/jobs.ts';
import { channelsByNumber } from '../channels/by-number.ts';
import { type AddressedStatus, applyStatuses } from '../messages/apply-statuses.ts';
import { laneOf, OUTBOX } from '../messages/lane.ts';
import { type InboundMessage, receiveMessages } from '../messages/receive.ts';
import { applyTemplateUpdates } from '../templates/apply-updates.ts';
import { syncSoon } from '../templates/request-sync.ts';
import { claimWebhooks, markFailed, markProcessed, type WaitingWebhook, type Which } from './store.ts';

/** Webhooks worked on in one transaction: so many, and so many bytes (each may hold 1,000 updates in 3 MB). */
const BATCH = 50;
const BATCH_BYTES = 1_000_000;
/** A webhook that fails this often is put aside with its error, and the log says so: after some 80 seconds. */
const MAX_ATTEMPTS = 10;
const LINGER_MS = 2 * SECOND;

/** Works through the webhooks of one tenant in the order in which they came; one that fails lets the others pass. */
export async function processInbox(resources: Resources, lane: Lane): Promise<void> {
  const tenantId = Number(lane.key);
  while (!lane.signal.aborted) {
    const outcome = await processBatch(resources, tenantId, 'fresh', BATCH);
    // One of them cannot be worked on: go through them one by one, so that it alone stays behind.
    if (outcome === 'failed') await processSingly(resources, tenantId, lane);
    if (outcome !== 'empty') continue;
    const again = await processBatch(resources, tenantId, 'failed', 1);
    if (again === 'empty' && !(await lane.linger(LINGER_MS))) return;
  }
}

async function processBatch(
  resources: Resources,
  tenantId: number,
  which: Which,
  limit: number,
): Promise<'done' | 'empty' | 'failed'> {
  const { db, clock, log, signals, jobs } = resources;
  const claimed: WaitingWebhook[] = [];
  let applied: Applied = { released: [], accountsToRead: [] };
  try {
    await db.transaction(async trx => {
      claimed.push(...(await claimWebhooks(trx, tenantId, which, limit, BATCH_BYTES)));
      if (claimed.length === 0) return;
      const updates = claimed.flatMap(webhook => parseWebhook(readJson(webhook.body)));
      const nobodys = updates.filter(isNobodys).length;
      if (nobodys > 0)
        log.warn({ tenantId, count: nobodys }, 'messages that name no sender were left out; their webhooks are kept');
      applied = await applyUpdates(trx, tenantId, updates, clock.now());
      await markProcessed(
        trx,
        tenantId,
        claimed.map(webhook => webhook.id),
      );
    });
  } catch (error) {
    if (claimed.length === 0) throw error;
    if (claimed.length > 1) return 'failed';
    const [webhook] = claimed;
    const reason = error instanceof Error ? error.message : String(error);
    log.error(
      { err: error, tenantId, webhookId: webhook?.id, attempt: (webhook?.attempts ?? 0) + 1 },
      'a webhook of the network could not be worked on',
    );
    if (webhook) await markFailed(db.write, tenantId, webhook.id, reason, MAX_ATTEMPTS);
    return 'failed';
  }
  if (claimed.length === 0) return 'empty';
  signals.send('events');
  for (const channelId of applied.released) jobs.wake(OUTBOX, laneOf(tenantId, channelId));
  // Lost with this process, it is made good by the next hour's sync.
  await syncSoon(resources, tenantId, applied.accountsToRead);
  return 'done';
}

/** As many as a batch may have held; what fails is no longer fresh and so does not come again here. */
async function processSingly(resources: Resources, tenantId: number, lane: Lane): Promise<void> {
  for (let index = 0; index < BATCH && !lane.signal.aborted; index += 1) {
    if ((await processBatch(resources, tenantId, 'fresh', 1)) === 'empty') return;
  }
}

/** What PostgreSQL cannot store in a text: U+0000, and halves of surrogate pairs (a name that was cut within an emoji). */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/** Parses a webhook. Characters that could not be stored are left out rather than the message they stand in. */
function readJson(body: Buffer): unknown {
  const text = body.toString('utf8');
  if (!UNSTORABLE.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}

/** Whose it is, cannot be told: there is no conversation that it could stand in. */
const isNobodys = (update: NetworkUpdate): boolean =>
  update.kind === 'message' && update.from === undefined && update.userId === undefined;

interface Applied {
  /** Channels on which messages that waited behind a settled one may go now. */
  readonly released: number[];
  /** Business accounts whose templates have to be read anew. */
  readonly accountsToRead: string[];
}

async function applyUpdates(
  trx: Db,
  tenantId: number,
  updates: readonly NetworkUpdate[],
  nowMs: number,
): Promise<Applied> {
  const messages = new Map<string, InboundMessage[]>();
  const statuses: AddressedStatus[] = [];
  for (const update of updates) {
    if (update.kind === 'status') statuses.push(addressed(update));
    if (update.kind !== 'message') continue;
    const list = messages.get(update.phoneNumberId);
    if (list) list.push(update);
    else messages.set(update.phoneNumberId, [update]);
  }
  // A webhook may name numbers of other tenants: only those of this one are its own.
  const channels = await channelsByNumber(trx, tenantId, [...messages.keys()]);
  const received = new Map<number, InboundMessage[]>();
  for (const [phoneNumberId, list] of messages) {
    const channelId = channels.get(phoneNumberId);
    if (channelId !== undefined) received.set(channelId, list);
  }
  await receiveMessages(trx, tenantId, received, nowMs);
  const released = statuses.length > 0 ? await applyStatuses(trx, tenantId, statuses, nowMs) : [];
  const templates = updates.filter(update => update.kind === 'template');
  return { released, accountsToRead: await applyTemplateUpdates(trx, tenantId, templates) };
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
