import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import { countryOfPerson } from '../../../platform/phone-country.ts';
import type { NewConsentEntry } from '../../contacts/consent/consent.ts';
import { recordConsent } from '../../contacts/consent/record.ts';
import { senderOf } from '../../contacts/recognition/apply-updates.ts';
import { resolveContacts } from '../../contacts/resolve-contacts.ts';
import type { PublicConversation } from '../../conversations/conversation.ts';
import {
  foldInbound,
  type InboundFold,
  idsByThread,
  lockOrCreateConversations,
  threadEvents,
} from '../../conversations/fold.ts';
import { ensureGroupChatsOf, noteParticipants } from '../../conversations/group-chats.ts';
import { threadKey } from '../../conversations/owners.ts';
import { contentObject, type MessagePayload, type MessageRow, wamidKey } from '../message.ts';
import { isOptType, readOptKeywords } from '../opt-keywords.ts';
import { payloadsOf } from '../people.sql.ts';
import { windowAfter } from '../window.ts';
import { detailsOf, type MessageDetails } from './details.ts';
import { insertDetails, insertInbound, type NewInbound } from './inbound.sql.ts';
import { storeReactions } from './reactions.ts';

export type InboundMessage = Extract<NetworkUpdate, { kind: 'message' }> & {
  /** When its webhook arrived, by the database's clock. */
  readonly arrivedMs: number;
};

/** An inbound message with its contact. */
interface Addressed {
  readonly channelId: number;
  readonly contactId: number;
  readonly message: InboundMessage;
  /** Of a message in a group chat. */
  readonly groupChatId: number | undefined;
}

/**
 * Stores inbound messages: finds or creates the contacts, opens service windows, ignores repeated deliveries, and applies opt-out
 * keywords. The number of statements does not depend on the number of messages.
 *
 * No message is rejected: unknown types are stored as the network sent them. Messages in a group chat open no service window, do not
 * opt out their senders and do not count for the plan.
 *
 * Lock order: the tenant's counters, contacts, conversations (each written once, after its messages). Therefore all channels are processed together.
 * @param received by channel
 * @returns the new messages; how many conversations they start, for `countConversations` at the end of the transaction
 */
export async function receiveMessages(
  trx: Db,
  tenantId: number,
  received: ReadonlyMap<number, readonly InboundMessage[]>,
  nowMs: number,
): Promise<{ readonly stored: readonly MessageRow[]; readonly started: number }> {
  const messages = [...received].flatMap(([channelId, updates]) =>
    updates
      .filter(update => update.from !== undefined || update.userId !== undefined)
      .map(message => ({ channelId, message })),
  );
  if (messages.length === 0) return { stored: [], started: 0 };
  let countedTwice = 0;
  const senders = messages.map(({ channelId, message }) => senderOf({ channelId, update: message }));
  const contactIds = await resolveContacts(trx, tenantId, senders, nowMs, count => {
    countedTwice += count;
  });
  const groups = await ensureGroupChatsOf(
    trx,
    tenantId,
    messages.map(({ channelId, message }) => ({ channelId, networkId: message.groupId })),
  );
  const addressed = messages.flatMap((entry, index): Addressed[] => {
    const contactId = contactIds[index];
    return contactId === undefined ? [] : [{ ...entry, contactId, groupChatId: groups[index] }];
  });
  const inPrivate = addressed.filter(({ groupChatId }) => groupChatId === undefined);
  const locked = await lockOrCreateConversations(
    trx,
    tenantId,
    inPrivate.map(({ channelId, contactId }) => ({ channelId, contactId, status: 'open' })),
    nowMs,
  );
  const conversations = idsByThread(locked);
  const rows = addressed.map(entry => toRow(entry, conversations.get(threadKey(entry)) ?? 0, nowMs));
  const stored = await insertInbound(trx, tenantId, rows);
  const byWamid = new Map(addressed.map(entry => [wamidKey(entry.channelId, entry.message.wamid), entry]));
  const fresh = stored.flatMap((row): Stored[] => {
    const entry = byWamid.get(wamidKey(row.channel_id, row.wamid));
    return entry ? [{ row, entry, details: detailsOf(entry.message, groupOf(entry)) }] : [];
  });
  await insertDetails(
    trx,
    tenantId,
    new Map(fresh.flatMap(({ row, details }) => (details ? [[row.id, details]] : []))),
  );
  const folded = await foldInbound(trx, tenantId, locked, fresh.flatMap(inConversation(nowMs)), nowMs);
  const payloadFor = await payloadsOf(trx, tenantId, stored);
  await append(trx, tenantId, [
    ...threadEvents(locked, folded),
    ...fresh.map(one => receivedEvent(one, payloadFor(one.row), folded.get(one.row.conversation_id ?? 0))),
  ]);
  await storeReactions(trx, tenantId, stored);
  await noteParticipants(
    trx,
    tenantId,
    addressed.flatMap(({ groupChatId, contactId, message }) =>
      groupChatId === undefined ? [] : [{ groupChatId, contactId, at: message.at }],
    ),
    nowMs,
  );
  await applyOptKeywords(trx, tenantId, fresh, nowMs);
  const uncounted = locked.filter(({ id, is_counted }) => !is_counted && folded.has(id));
  return { stored, started: uncounted.length - countedTwice };
}

/** A new message with its details. */
interface Stored {
  readonly row: MessageRow;
  readonly entry: Addressed;
  readonly details: MessageDetails | undefined;
}

const groupOf = ({ groupChatId }: Addressed): Pick<MessageDetails, 'group_chat_id'> =>
  groupChatId === undefined ? {} : { group_chat_id: groupChatId };

/** Whether bots read it. */
const isAnswerable = ({ row, entry }: Stored): boolean =>
  entry.groupChatId === undefined && !entry.message.isStandby && row.type !== 'call';

function receivedEvent(
  stored: Stored,
  payload: MessagePayload,
  conversation: PublicConversation | undefined,
): NewEvent {
  const { details } = stored;
  return {
    type: 'message.received',
    payload: {
      ...payload,
      ...(conversation && { conversation }),
      ...(details && { details }),
      ...(!isAnswerable(stored) && { is_answerable: false }),
    },
  };
}

/** A stored message as `foldInbound` takes it. Messages of the type `system` come from the network: they open no window. */
const inConversation =
  (nowMs: number) =>
  (stored: Stored): InboundFold[] => {
    const { row, entry } = stored;
    if (row.conversation_id === null) return [];
    const writtenAtMs = Math.max(0, Math.min(entry.message.at.getTime(), nowMs));
    return [
      {
        ...row,
        conversation_id: row.conversation_id,
        window_expires_at: row.type === 'system' ? null : windowAfter(writtenAtMs),
        isAnswerable: isAnswerable(stored),
      },
    ];
  };

function toRow(
  { message, contactId, channelId, groupChatId }: Addressed,
  conversationId: number,
  nowMs: number,
): NewInbound {
  const { error, arrivedMs } = message;
  return {
    wamid: message.wamid,
    conversation_id: groupChatId === undefined ? conversationId : null,
    group_chat_id: groupChatId ?? null,
    contact_id: contactId,
    channel_id: channelId,
    type: message.type,
    body: message.text ?? null,
    content: contentObject(message.content),
    error: error ? { code: error.code, title: error.title, details: error.details } : null,
    reply_to_wamid: message.replyTo ?? null,
    country: countryOfPerson(message.from, message.userId),
    sent_at: new Date(Math.min(message.at.getTime(), nowMs)).toISOString(),
    created_at: new Date(nowMs).toISOString(),
    network_ms: message.at.getTime(),
    arrived_ms: arrivedMs,
  };
}

/**
 * The latest time at which a message or an edit can have been written: the end of the network's second (a keyword in the second of an earlier
 * opt-in would otherwise precede it), but not after its arrival. Within a second the order of arrival decides.
 */
export const writtenMs = (
  { at, arrivedMs }: { readonly at: Date; readonly arrivedMs: number },
  nowMs: number,
): number => Math.min(at.getTime() + 999, arrivedMs, nowMs);

/** Dates consent by the message, not by its processing: a late keyword does not override a newer one. */
async function applyOptKeywords(trx: Db, tenantId: number, stored: readonly Stored[], nowMs: number): Promise<void> {
  const written = stored.filter(({ row }) => row.conversation_id !== null && row.body !== null && isOptType(row.type));
  if (written.length === 0) return;
  const wordOf = await readOptKeywords(trx, tenantId);
  const entries = written.flatMap(({ row: message, entry }): NewConsentEntry[] => {
    const word = wordOf(message);
    if (!word) return [];
    return [
      {
        contactId: message.contact_id,
        category: 'all',
        state: word === 'out' ? 'opted_out' : 'opted_in',
        source: message.type === 'button' ? 'button' : 'keyword',
        evidence: message.wamid ?? undefined,
        occurredAt: new Date(writtenMs(entry.message, nowMs)).toISOString(),
      },
    ];
  });
  await recordConsent(trx, tenantId, entries);
}
