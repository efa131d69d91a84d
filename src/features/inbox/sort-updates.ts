import type { NetworkPerson } from '../../network/network.ts';
import type { NetworkUpdate } from '../../network/updates.ts';
import type { ChannelHealthUpdate } from '../channels/apply-health.ts';
import type { GroupUpdate } from '../conversations/group-chats.ts';
import type { Handover } from '../conversations/owners.ts';
import { type CallUpdate, callAsMessage } from '../messages/inbound/calls.ts';
import type { CorrectionUpdate } from '../messages/inbound/corrections.ts';
import type { ExternalUpdate } from '../messages/inbound/external-messages.ts';
import type { InboundMessage } from '../messages/inbound/receive.ts';
import type { PricedMessage } from '../messages/pricing/store-prices.ts';
import type { AddressedStatus } from '../messages/statuses/apply-statuses.ts';
import type { ContactOf } from './apply-people.ts';
import { type RoutedUpdate, unhandledOf } from './route-updates.ts';
import type { UnhandledChange } from './unhandled-changes.ts';

type Status = Extract<NetworkUpdate, { kind: 'status' }>;
type Template = Extract<NetworkUpdate, { kind: 'template' }>;

/** Updates grouped by the function that applies them. */
export interface SortedUpdates {
  readonly received: Map<number, InboundMessage[]>;
  readonly elsewhere: ExternalUpdate[];
  readonly calls: CallUpdate[];
  readonly handovers: Handover[];
  readonly groups: GroupUpdate[];
  readonly corrections: CorrectionUpdate[];
  readonly statuses: AddressedStatus[];
  readonly priced: PricedMessage[];
  readonly templates: Template[];
  readonly health: ChannelHealthUpdate[];
  readonly unhandled: UnhandledChange[];
}

/**
 * Groups updates by the function that applies them: an echo of another app is in two groups, an update that cannot be applied in
 * `unhandled`, and one that `applyPeople` or `applyPortfolios` has already applied in none.
 */
export function sortUpdates(routed: readonly RoutedUpdate[], contactOf: ContactOf): SortedUpdates {
  const sorted: SortedUpdates = {
    received: new Map(),
    elsewhere: [],
    calls: [],
    handovers: [],
    groups: [],
    corrections: [],
    statuses: [],
    priced: [],
    templates: [],
    health: [],
    unhandled: [],
  };
  for (const entry of routed) if (!addTo(sorted, entry, contactOf)) addUnhandled(sorted, entry);
  return sorted;
}

function addUnhandled(sorted: SortedUpdates, entry: RoutedUpdate): void {
  const { update, raw } = entry;
  if (update.kind === 'unhandled') sorted.unhandled.push(unhandledOf(entry, update.reason, null, update.raw));
  // A change with several updates is stored once.
  else if (!sorted.unhandled.some(unhandled => unhandled.raw === raw))
    sorted.unhandled.push(unhandledOf(entry, 'unreadable', null, raw));
}

/** @returns false if the update cannot be applied */
function addTo(sorted: SortedUpdates, { update, channels, webhook }: RoutedUpdate, contactOf: ContactOf): boolean {
  const [channel] = channels;
  if (!channel) return false;
  const channelId = channel.id;
  const arrivedMs = webhook.receivedAt.getTime();
  switch (update.kind) {
    case 'message': {
      const list = sorted.received.get(channelId);
      const message = { ...update, arrivedMs };
      if (list) list.push(message);
      else sorted.received.set(channelId, [message]);
      return true;
    }
    case 'echo':
    case 'past_message': {
      // A message from the business to a group chat has no contact.
      const contactId =
        update.groupId === undefined
          ? contactOf(update, update.kind === 'echo' ? update.to : update.person)
          : undefined;
      if (contactId === undefined) return false;
      sorted.elsewhere.push({ channelId, contactId, arrivedMs, update });
      if (update.kind === 'echo' && update.origin === 'other_app')
        sorted.handovers.push({ channelId, contactId, update });
      return true;
    }
    case 'call': {
      const contactId = contactOf(update, update.person);
      if (contactId === undefined) return false;
      const call = { channelId, contactId, arrivedMs, update };
      sorted.calls.push(call);
      if (update.direction === 'inbound')
        addTo(sorted, { update: callAsMessage(call), channels, webhook, field: '', raw: null }, contactOf);
      return true;
    }
    case 'handover': {
      const contactId = contactOf(update, update.person);
      if (contactId === undefined) return false;
      sorted.handovers.push({ channelId, contactId, update });
      return true;
    }
    case 'group': {
      const contactIds = (people: typeof update.added): number[] =>
        people.flatMap(person => contactOf(update, person) ?? []);
      sorted.groups.push({
        channelId,
        update,
        addedIds: contactIds(update.added),
        removedIds: contactIds(update.removed),
      });
      return true;
    }
    case 'edit':
    case 'revoke':
      sorted.corrections.push({ channelId, contactId: contactOf(update, update.person), arrivedMs, update });
      return true;
    case 'status':
      return addStatus(sorted, channelId, update);
    case 'template':
      // A change that names a number is routed by it, whatever account it is about.
      if (!channels.some(one => [one.waba_id, one.portfolio_id].includes(update.wabaId))) return false;
      sorted.templates.push(update);
      return true;
    case 'health':
      sorted.health.push({ update, channels });
      return true;
    case 'history_progress':
      sorted.health.push({ update: progressOf(update, webhook.receivedAt), channels });
      return true;
    // Applied before sorting: `applyPeople`, `applyPortfolios`.
    case 'identity_change':
    case 'portfolio':
    case 'preference':
      return true;
    case 'unhandled':
      return false;
    default:
      return update satisfies never;
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function addStatus(sorted: SortedUpdates, channelId: number, update: Status): boolean {
  const { callbackData, wamid, status, error, pricing } = update;
  // A group message that did not reach one participant has not failed.
  if (update.groupId !== undefined && status === 'failed' && (update.recipientId ?? update.userId) !== undefined)
    return false;
  // Other systems that send from the same number may set callback data that is not a message id.
  const messageId = callbackData !== undefined && UUID.test(callbackData) ? callbackData : undefined;
  sorted.statuses.push({
    messageId,
    channelId,
    wamid,
    status,
    at: update.at.toISOString(),
    error: error && { code: error.code, title: error.title, details: error.details },
    person: personIn(update),
  });
  if (pricing) sorted.priced.push({ messageId, wamid, channelId, status, pricing });
  return true;
}

/** The recipient of a message, or undefined for a group: a participant is not its recipient. */
function personIn({ recipientId, userId, parentUserId, groupId }: Status): NetworkPerson | undefined {
  if (groupId !== undefined || (recipientId ?? userId ?? parentUserId) === undefined) return undefined;
  return { waId: recipientId, userId, parentUserId };
}

/** Reports the progress of a number's history import as channel health. */
function progressOf(
  { phase, progress, error }: Extract<NetworkUpdate, { kind: 'history_progress' }>,
  at: Date,
): ChannelHealthUpdate['update'] {
  const lastError = error && { code: error.code, title: error.title, details: error.details };
  return {
    kind: 'health',
    field: 'history',
    event: error ? 'failed' : 'progress',
    at,
    isTimeEstimated: true,
    patch: lastError ? { lastError } : {},
    details: { phase: phase ?? null, progress: progress ?? null, error: lastError ?? null },
  };
}
