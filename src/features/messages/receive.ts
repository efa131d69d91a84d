import { append, type NewEvent } from '../../events.ts';
import type { NetworkUpdate } from '../../network/network.ts';
import type { Db } from '../../platform/database.ts';
import { idFor } from '../../platform/ids.ts';
import { phoneKey } from '../../platform/phone.ts';
import { optContact } from '../contacts/opt.ts';
import type { Sender } from '../contacts/recognise.ts';
import { recogniseContacts } from '../contacts/recognise.ts';
import { countConversations } from '../usage/count-conversations.ts';
import { monthOf } from '../usage/month.ts';
import { insertInbound, type NewWindow, openWindows, setCounted } from './inbound-store.ts';
import { type MessageRow, publicMessage } from './message.ts';
import { isOptType, readOptWords } from './read-opt-words.ts';
import { windowAfter } from './window.ts';

export type InboundMessage = Extract<NetworkUpdate, { kind: 'message' }>;

/** An inbound message of a person whom we know by now. */
interface Addressed {
  readonly channelId: number;
  readonly contactId: number;
  readonly message: InboundMessage;
}

/**
 * Takes in what people wrote: finds or makes the contact, opens the service window, stores the message once however often
 * the network delivers it, and obeys opt-out words. Set-based: the same few statements for one message or a thousand.
 *
 * Nothing is turned away: a type that we do not know is stored as what the network sent.
 * @param received by channel. All of them at once, because locks have an order: the tenant's counters, contacts, conversations, the
 *   month's counters. Channel by channel the last of one would be held while the first of the next is waited for.
 */
export async function receiveMessages(
  trx: Db,
  tenantId: number,
  received: ReadonlyMap<number, readonly InboundMessage[]>,
  nowMs: number,
): Promise<void> {
  const messages = [...received].flatMap(([channelId, updates]) =>
    updates
      .filter(update => update.from !== undefined || update.userId !== undefined)
      .map(message => ({ channelId, message })),
  );
  if (messages.length === 0) return;
  const senders = messages.map(({ message }) => senderOf(message));
  const contactIds = await recogniseContacts(trx, tenantId, senders);
  const addressed = messages.flatMap((entry, index): Addressed[] => {
    const contactId = contactIds[index];
    return contactId === undefined ? [] : [{ ...entry, contactId }];
  });
  const month = monthOf(nowMs);
  const opened = await openWindows(trx, tenantId, windowsOf(addressed, nowMs), month);
  const conversations = new Map(opened.map(row => [placeOf(row.channel_id, row.contact_id), row.id]));
  const rows = addressed.map(entry =>
    toRow(entry, conversations.get(placeOf(entry.channelId, entry.contactId)) ?? 0, nowMs),
  );
  // In the network's order: its seconds are too coarse for the ids to keep it, and START after STOP is not STOP after START.
  const place = new Map(rows.map((row, index) => [row.id, index]));
  const stored = (await insertInbound(trx, tenantId, rows)).sort(
    (a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0),
  );
  await append(
    trx,
    tenantId,
    stored.map((message): NewEvent => ({ type: 'message.received', payload: { message: publicMessage(message) } })),
  );
  await obeyOptWords(trx, tenantId, stored, nowMs);
  // Last, because the month's counters are what all of a tenant's sends wait for.
  const told = new Set(stored.map(message => message.conversation_id));
  const begun = opened.filter(({ id, is_counted }) => !is_counted && told.has(id)).map(({ id }) => id);
  if (begun.length === 0) return;
  await setCounted(trx, tenantId, begun, month);
  await countConversations(trx, tenantId, month, begun.length);
}

/** What has one conversation. */
const placeOf = (channelId: number, contactId: number): string => `${channelId} ${contactId}`;

/** One window for each conversation: that of its latest message. */
function windowsOf(addressed: readonly Addressed[], nowMs: number): NewWindow[] {
  const latest = new Map<string, Addressed & { readonly atMs: number }>();
  for (const entry of addressed) {
    const key = placeOf(entry.channelId, entry.contactId);
    const atMs = Math.max(0, Math.min(entry.message.at.getTime(), nowMs));
    if (atMs >= (latest.get(key)?.atMs ?? 0)) latest.set(key, { ...entry, atMs });
  }
  return [...latest.values()].map(({ channelId, contactId, atMs }) => ({
    channelId,
    contactId,
    expiresAt: windowAfter(atMs),
  }));
}

const senderOf = (message: InboundMessage): Sender => ({
  userId: message.userId,
  waId: message.from,
  phoneKey: message.from === undefined ? undefined : phoneKey(message.from),
  profileName: message.profileName,
});

/** The network's timestamp may lie, ours may not: an id in the future would stand at the top of every list until then. */
function toRow({ message, contactId, channelId }: Addressed, conversationId: number, nowMs: number): MessageRow {
  const atMs = Math.min(message.at.getTime(), nowMs);
  const nowIso = new Date(nowMs).toISOString();
  const { error } = message;
  return {
    id: idFor(message.at.getTime(), `${channelId} ${message.wamid}`),
    conversation_id: conversationId,
    contact_id: contactId,
    channel_id: channelId,
    direction: 'inbound',
    type: message.type,
    body: message.text ?? null,
    content: asObject(message.content),
    status: 'received',
    error: error ? { code: error.code, title: error.title, details: error.details } : null,
    wamid: message.wamid,
    reply_to_wamid: message.replyTo ?? null,
    sent_at: new Date(atMs).toISOString(),
    delivered_at: null,
    read_at: null,
    failed_at: null,
    created_at: nowIso,
    updated_at: nowIso,
  };
}

const asObject = (content: unknown): Record<string, unknown> =>
  content !== null && typeof content === 'object' && !Array.isArray(content)
    ? (content as Record<string, unknown>)
    : content === undefined
      ? {}
      : { value: content };

async function obeyOptWords(trx: Db, tenantId: number, stored: readonly MessageRow[], nowMs: number): Promise<void> {
  const written = stored.filter(message => message.body !== null && isOptType(message.type));
  if (written.length === 0) return;
  const wordOf = await readOptWords(trx, tenantId);
  for (const message of written) {
    const word = wordOf(message);
    if (word) await optContact(trx, tenantId, message.contact_id, word === 'out', nowMs);
  }
}
