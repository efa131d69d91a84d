import type { Author } from '../../../core/author.ts';
import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import { countryOfPerson } from '../../../platform/phone-country.ts';
import {
  changedEvents,
  type ExternalFold,
  foldExternal,
  idsByThread,
  lockOrCreateConversations,
  threadEvents,
} from '../../conversations/fold.ts';
import { threadKey } from '../../conversations/owners.ts';
import { queueReceived } from '../content/media/keeping/queue.ts';
import { contentObject, type MessageRow, wamidKey } from '../message.ts';
import { payloadsOf } from '../people.sql.ts';
import { detailsOf, type MessageDetails } from './details.ts';
import { type ExternalMessage, fillPlaceholders, insertExternalMessages } from './external-messages.sql.ts';
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
  // The inbox begins with the conversations that the number has when it is connected.
  const threads = updates.map(({ channelId, contactId, arrivedMs, update }) => ({
    channelId,
    contactId,
    ...(update.kind === 'echo'
      ? { status: 'open' as const }
      : { status: 'closed' as const, pastActivityAt: sentAtOf(update, arrivedMs) }),
  }));
  const conversations = await lockOrCreateConversations(
    trx,
    tenantId,
    threads.sort((a, b) => b.status.localeCompare(a.status)),
    nowMs,
  );
  const idOf = idsByThread(conversations);
  const addressed = updates.flatMap(entry => {
    const conversationId = idOf.get(threadKey(entry));
    return conversationId === undefined ? [] : [{ ...entry, conversationId }];
  });
  const stored = await insertExternalMessages(
    trx,
    tenantId,
    addressed.map(entry => toRow(entry, entry.conversationId, nowMs)),
  );
  await fillHistory(trx, tenantId, addressed, stored);
  const detailsByWamid = new Map(
    addressed.map(({ channelId, update }) => [wamidKey(channelId, update.wamid), detailsOfElsewhere(update)]),
  );
  const details = new Map<string, MessageDetails>();
  for (const { id, channel_id, wamid } of stored) {
    const one = detailsByWamid.get(wamidKey(channel_id, wamid));
    if (one) details.set(id, one);
  }
  await insertDetails(trx, tenantId, details);
  const folds = stored.flatMap((row): ExternalFold[] =>
    row.conversation_id === null
      ? []
      : [
          {
            ...row,
            conversation_id: row.conversation_id,
            kind: details.get(row.id)?.origin === 'history' ? 'history' : 'answer',
          },
        ],
  );
  const folded = await foldExternal(trx, tenantId, conversations, folds, nowMs);
  const isNews = ({ id }: MessageRow): boolean => details.get(id)?.origin !== 'history';
  const payloadFor = await payloadsOf(trx, tenantId, stored.filter(isNews));
  await append(trx, tenantId, [
    ...threadEvents(conversations, folded),
    ...stored.filter(isNews).map((row): NewEvent => {
      const one = details.get(row.id);
      return { type: 'message.sent', payload: { ...payloadFor(row), ...(one && { details: one }) } };
    }),
    ...changedEvents(conversations, folded),
  ]);
  await storeReactions(trx, tenantId, stored, isNews);
  return stored;
}

const PHONE_APP: Author = { kind: 'phone_app', id: null, name: 'WhatsApp Business app' };

/** Before a number is connected, the business writes with its phone app. What another app sent has no author here. */
const authorOf = (update: ExternalUpdate['update']): Author | null =>
  update.kind === 'echo'
    ? update.origin === 'phone_app'
      ? PHONE_APP
      : null
    : update.direction === 'outbound'
      ? PHONE_APP
      : null;

const detailsOfElsewhere = (update: ExternalUpdate['update']): MessageDetails | undefined =>
  detailsOf(update, { origin: update.kind === 'echo' ? update.origin : 'history' });

/** Adds files to messages of a history import, which come after the messages. */
async function fillHistory(
  trx: Db,
  tenantId: number,
  updates: readonly ExternalUpdate[],
  stored: readonly MessageRow[],
): Promise<void> {
  const fresh = new Set(stored.map(row => wamidKey(row.channel_id, row.wamid)));
  const fillings = updates.filter(
    ({ channelId, update }) =>
      update.kind === 'past_message' && update.type !== PLACEHOLDER && !fresh.has(wamidKey(channelId, update.wamid)),
  );
  if (fillings.length === 0) return;
  const filled = await fillPlaceholders(
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
  await queueReceived(trx, tenantId, filled);
}

/** Of the person with whom the message was exchanged. */
function countryOf(update: ExternalUpdate['update']): string | null {
  const person = update.kind === 'echo' ? update.to : update.person;
  return countryOfPerson(person.waId, person.userId);
}

/** A time in the future counts as that of the arrival. */
const sentAtOf = ({ at }: ExternalUpdate['update'], arrivedMs: number): string =>
  new Date(Math.min(at.getTime(), arrivedMs)).toISOString();

function toRow(
  { channelId, contactId, arrivedMs, update }: ExternalUpdate,
  conversationId: number,
  nowMs: number,
): ExternalMessage {
  const { error } = update;
  const sentAt = sentAtOf(update, arrivedMs);
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
    author: authorOf(update),
    country: countryOf(update),
    sent_at: sentAt,
    // The time of writing, because message retention counts from it.
    created_at: update.kind === 'echo' ? new Date(nowMs).toISOString() : sentAt,
    updated_at: new Date(nowMs).toISOString(),
    network_ms: update.at.getTime(),
    arrived_ms: arrivedMs,
  };
}
