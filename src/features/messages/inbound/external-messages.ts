import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import { contentObject, type MessageRow, publicMessage } from '../message.ts';
import { detailsOf, type MessageDetails } from './details.ts';
import {
  type ExternalMessage,
  ensureConversations,
  fillPlaceholders,
  insertExternalMessages,
} from './external-messages.sql.ts';
import { insertDetails } from './inbound.sql.ts';
import { storeReactions } from './reactions.ts';

/** An echo or a past message with its thread. */
export interface ExternalUpdate {
  readonly channelId: number;
  readonly contactId: number;
  readonly arrivedMs: number;
  readonly update: Extract<NetworkUpdate, { kind: 'echo' | 'past_message' }>;
}

const PLACEHOLDER = 'media_placeholder';

/**
 * Stores messages that the business sent with its phone app or another system, with `message.sent`, and messages from before the
 * number was connected, without events. They do not count for the plan and do not open a service window.
 * @returns the new messages
 */
export async function storeExternalMessages(
  trx: Db,
  tenantId: number,
  updates: readonly ExternalUpdate[],
  nowMs: number,
): Promise<MessageRow[]> {
  if (updates.length === 0) return [];
  const conversations = await ensureConversations(trx, tenantId, updates);
  const idOf = new Map(conversations.map(row => [`${row.channel_id} ${row.contact_id}`, row.id]));
  const addressed = updates.flatMap(entry => {
    const conversationId = idOf.get(`${entry.channelId} ${entry.contactId}`);
    return conversationId === undefined ? [] : [{ ...entry, conversationId }];
  });
  const stored = await insertExternalMessages(
    trx,
    tenantId,
    addressed.map(entry => toRow(entry, entry.conversationId, nowMs)),
  );
  await fillHistory(trx, tenantId, addressed, stored);
  const detailsByWamid = new Map(addressed.map(({ update }) => [update.wamid, detailsOfElsewhere(update)]));
  const details = new Map<string, MessageDetails>();
  for (const { id, wamid } of stored) {
    const one = detailsByWamid.get(wamid ?? '');
    if (one) details.set(id, one);
  }
  await insertDetails(trx, tenantId, details);
  await append(
    trx,
    tenantId,
    stored.flatMap((row): NewEvent[] => {
      const one = details.get(row.id);
      if (one?.origin === 'history') return [];
      return [{ type: 'message.sent', payload: { message: publicMessage(row), ...(one && { details: one }) } }];
    }),
  );
  await storeReactions(
    trx,
    tenantId,
    stored.filter(({ id }) => details.get(id)?.origin !== 'history'),
  );
  return stored;
}

const detailsOfElsewhere = (update: ExternalUpdate['update']): MessageDetails | undefined =>
  detailsOf(update, { origin: update.kind === 'echo' ? update.origin : 'history' });

/** Adds files to messages of a history import, which come after the messages. */
async function fillHistory(
  trx: Db,
  tenantId: number,
  updates: readonly ExternalUpdate[],
  stored: readonly MessageRow[],
): Promise<void> {
  const fresh = new Set(stored.map(({ wamid }) => wamid));
  const fillings = updates.filter(
    ({ update }) => update.kind === 'past_message' && update.type !== PLACEHOLDER && !fresh.has(update.wamid),
  );
  if (fillings.length === 0) return;
  await fillPlaceholders(
    trx,
    tenantId,
    fillings.map(({ channelId, update }) => ({
      channel_id: channelId,
      wamid: update.wamid,
      type: update.type,
      body: update.text ?? null,
      content: contentObject(update.content),
    })),
  );
}

function toRow(
  { channelId, contactId, arrivedMs, update }: ExternalUpdate,
  conversationId: number,
  nowMs: number,
): ExternalMessage {
  const { error } = update;
  const sentAt = new Date(Math.min(update.at.getTime(), arrivedMs)).toISOString();
  const direction = update.kind === 'echo' ? 'outbound' : update.direction;
  const known = update.kind === 'echo' ? 'sent' : (update.status ?? 'sent');
  return {
    wamid: update.wamid,
    conversation_id: conversationId,
    contact_id: contactId,
    channel_id: channelId,
    direction,
    type: update.type,
    body: update.text ?? null,
    content: contentObject(update.content),
    status: direction === 'inbound' ? 'received' : known,
    error: error ? { code: error.code, title: error.title, details: error.details } : null,
    reply_to_wamid: update.replyTo ?? null,
    sent_at: sentAt,
    // The time of writing, because message retention counts from it.
    created_at: update.kind === 'echo' ? new Date(nowMs).toISOString() : sentAt,
    updated_at: new Date(nowMs).toISOString(),
    network_ms: update.at.getTime(),
    arrived_ms: arrivedMs,
  };
}
