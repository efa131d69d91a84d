import type { Db } from '../../database/database.ts';
import { withSavepoint } from '../../database/savepoint.ts';
import { lockTenantUsage } from '../../database/tenant-lock.ts';
import { applyHealth } from '../channels/apply-health.ts';
import { applyPortfolios, type PortfolioUpdate } from '../channels/set-portfolio.ts';
import { type ErasedPerson, restoreOptOuts } from '../contacts/erasure/erased-people.ts';
import type { SeenRecipient } from '../contacts/resolve-contacts.ts';
import { applyGroups } from '../conversations/group-chats.ts';
import { applyHandovers, returnThreads } from '../conversations/owners.ts';
import { channelsWithFiles, queueReceived } from '../messages/content/media/keeping/queue.ts';
import { applyCalls } from '../messages/inbound/calls.ts';
import { applyCorrections, type CorrectionUpdate, judgeCorrections } from '../messages/inbound/corrections.ts';
import { isPrivateEdit, recordEditedOptOuts } from '../messages/inbound/edited-opt-outs.ts';
import { storeExternalMessages } from '../messages/inbound/external-messages.ts';
import { receiveMessages } from '../messages/inbound/receive.ts';
import { wamidKey } from '../messages/message.ts';
import { storePrices } from '../messages/pricing/store-prices.ts';
import { applyStatuses } from '../messages/statuses/apply-statuses.ts';
import { isMarketingStopped, recordMarketingOptOuts } from '../messages/statuses/marketing-opt-outs.ts';
import { applyTemplateUpdates } from '../templates/sync/apply-updates.ts';
import { applyPeople } from './apply-people.ts';
import { isTransient } from './is-transient.ts';
import { failedChanges, type RoutedUpdate, unhandledOf } from './route-updates.ts';
import { sortUpdates } from './sort-updates.ts';
import { storeUnhandled, type UnhandledChange } from './unhandled-changes.ts';

/** Follow-up work of applied updates, to do after the commit unless a field says otherwise. */
export interface Applied {
  /** Channels with messages that were blocked by a message settled here. */
  readonly released: readonly number[];
  /** People about whom statuses carried new identities. */
  readonly newIdentities: readonly SeenRecipient[];
  /** Business accounts whose templates must be synced. */
  readonly accountsToRead: readonly string[];
  /** Channels with files to be fetched from the network. */
  readonly channelsWithFiles: readonly number[];
  readonly unhandled: readonly UnhandledChange[];
  /** For `countConversations`, before the commit: conversations that people started, less those that a merge found counted twice. */
  readonly startedConversations: number;
}

const NOT_THE_AUTHOR = 'Only the author of a message can edit or revoke it.';

export const NOTHING_APPLIED: Applied = {
  released: [],
  newIdentities: [],
  accountsToRead: [],
  channelsWithFiles: [],
  unhandled: [],
  startedConversations: 0,
};

/** The portfolio of a business account, if it differs from the stored one. */
const portfolioUpdateOf = ({ update, channels }: RoutedUpdate): PortfolioUpdate[] =>
  update.kind === 'portfolio' && channels.some(channel => channel.portfolio_id !== update.portfolioId)
    ? [{ update, channels }]
    : [];

/**
 * Whether consent will be recorded for contacts that recognition may not have locked: recipients, people who edit a message, and holders of
 * erased identities.
 */
const locksOtherContacts = (routed: readonly RoutedUpdate[], erased: readonly ErasedPerson[]): boolean =>
  routed.some(
    ({ update }) => (update.kind === 'status' && isMarketingStopped(update.error)) || isPrivateEdit(update),
  ) || erased.some(({ optedOut }) => optedOut.length > 0);

/**
 * Applies updates in groups, so that the number of statements does not depend on the number of updates. Lock order, to avoid
 * deadlocks: channels, tenant_usage, contacts, conversations, message states, the outbox, and the month's counters by the caller.
 *
 * Recognition locks tenant_usage only if identities change, so that ordinary messages and statuses of a tenant do not wait for each
 * other. What locks contacts apart from it has to lock tenant_usage first.
 * @param erased people named by the updates who were erased before; their opt-outs are restored
 */
export async function applyUpdates(
  trx: Db,
  tenantId: number,
  routed: readonly RoutedUpdate[],
  erased: readonly ErasedPerson[],
  nowMs: number,
): Promise<Applied> {
  let countedTwice = 0;
  const onCountedTwice = (count: number): void => {
    countedTwice += count;
  };
  await applyPortfolios(trx, tenantId, routed.flatMap(portfolioUpdateOf), nowMs, onCountedTwice);
  if (locksOtherContacts(routed, erased)) await lockTenantUsage(trx, tenantId);
  const contactOf = await applyPeople(trx, tenantId, routed, nowMs, onCountedTwice);
  const sorted = sortUpdates(routed, contactOf);
  await recordMarketingOptOuts(trx, tenantId, sorted.statuses);
  await recordEditedOptOuts(trx, tenantId, sorted.corrections, nowMs);
  const stored = await storeExternalMessages(trx, tenantId, sorted.elsewhere, nowMs);
  const { stored: received, started } = await receiveMessages(trx, tenantId, sorted.received, nowMs);
  const arrived = [...stored, ...received];
  await queueReceived(trx, tenantId, arrived);
  await applyCalls(trx, tenantId, sorted.calls, nowMs);
  await applyHandovers(trx, tenantId, sorted.handovers, nowMs);
  const standby = new Set(
    [...sorted.received].flatMap(([channelId, messages]) =>
      messages.flatMap(({ isStandby, wamid }) => (isStandby ? [wamidKey(channelId, wamid)] : [])),
    ),
  );
  // After the handovers of the same batch: what a person writes later than those returns the conversation.
  await returnThreads(
    trx,
    tenantId,
    received.filter(row => !standby.has(wamidKey(row.channel_id, row.wamid))),
  );
  await applyGroups(trx, tenantId, sorted.groups, nowMs);
  const originals = arrived.flatMap(({ channel_id, wamid }) =>
    wamid === null ? [] : [{ channelId: channel_id, wamid }],
  );
  const { accepted, rejected } = await judgeCorrections(trx, tenantId, sorted.corrections);
  await applyCorrections(trx, tenantId, accepted, originals, nowMs);
  const { released, newIdentities } = await applyStatuses(trx, tenantId, sorted.statuses, nowMs);
  await storePrices(trx, tenantId, sorted.priced, nowMs);
  const accountsToRead = await applyTemplateUpdates(trx, tenantId, sorted.templates);
  await applyHealth(trx, tenantId, sorted.health, nowMs);
  const unhandled = [...sorted.unhandled, ...rejectedCorrections(routed, rejected)];
  await storeUnhandled(trx, tenantId, unhandled);
  await restoreOptOuts(trx, tenantId, erased);
  return {
    released,
    newIdentities,
    accountsToRead,
    channelsWithFiles: channelsWithFiles(arrived),
    unhandled,
    startedConversations: started - countedTwice,
  };
}

function rejectedCorrections(
  routed: readonly RoutedUpdate[],
  rejected: readonly CorrectionUpdate[],
): readonly UnhandledChange[] {
  const updates = new Set<RoutedUpdate['update']>(rejected.map(({ update }) => update));
  return failedChanges(
    routed.filter(({ update }) => updates.has(update)),
    NOT_THE_AUTHOR,
  );
}

/**
 * Applies updates one by one, each in a savepoint. A failing update is stored as unhandled. Each locks contacts that later ones do not
 * know of, so tenant_usage is locked before the first.
 */
export async function applyEach(
  trx: Db,
  tenantId: number,
  routed: readonly RoutedUpdate[],
  erased: readonly ErasedPerson[],
  nowMs: number,
): Promise<Applied> {
  await lockTenantUsage(trx, tenantId);
  const parts: Applied[] = [];
  const failed: UnhandledChange[] = [];
  for (const entry of routed) {
    try {
      parts.push(await withSavepoint(trx, () => applyUpdates(trx, tenantId, [entry], [], nowMs)));
    } catch (error) {
      if (isTransient(error)) throw error;
      failed.push(unhandledOf(entry, 'failed', error instanceof Error ? error.message : String(error), entry.raw));
    }
  }
  await storeUnhandled(trx, tenantId, failed);
  await restoreOptOuts(trx, tenantId, erased);
  return {
    released: [...new Set(parts.flatMap(({ released }) => released))],
    newIdentities: parts.flatMap(({ newIdentities }) => newIdentities),
    accountsToRead: [...new Set(parts.flatMap(({ accountsToRead }) => accountsToRead))],
    channelsWithFiles: [...new Set(parts.flatMap(part => part.channelsWithFiles))],
    unhandled: [...parts.flatMap(({ unhandled }) => unhandled), ...failed],
    startedConversations: parts.reduce((sum, { startedConversations }) => sum + startedConversations, 0),
  };
}
