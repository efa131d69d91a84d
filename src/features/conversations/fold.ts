import type { NewEvent } from '../../core/events.ts';
import type { Db } from '../../database/database.ts';
import { monthOf } from '../tenancy/usage/usage.ts';
import { type ConversationStatus, type PublicConversation, previousState } from './conversation.ts';
import { threadKey } from './owners.ts';
import {
  applyFolds,
  type ConversationKey,
  findPhoneAnswers,
  findUnanswered,
  getConversations,
  type LockedConversation,
  lockOrInsertConversations,
  type MessageFold,
} from './state.sql.ts';

/**
 * Locks the conversations of contacts on channels, and creates those that are missing. Lock order: contacts, conversations by id.
 * @returns those of deleted contacts are missing
 */
export const lockOrCreateConversations = (
  trx: Db,
  tenantId: number,
  keys: readonly ConversationKey[],
  nowMs: number,
): Promise<LockedConversation[]> => lockOrInsertConversations(trx, tenantId, keys, monthOf(nowMs));

/** The ids of conversations, by `threadKey`. */
export const idsByThread = (conversations: readonly LockedConversation[]): ReadonlyMap<string, number> =>
  new Map(conversations.map(row => [threadKey({ channelId: row.channel_id, contactId: row.contact_id }), row.id]));

/** Input of the fold: one message. */
export interface FoldedMessage {
  readonly id: string;
  readonly conversation_id: number;
  readonly type: string;
  readonly sent_at: string | null;
  readonly created_at: string;
}

export interface InboundFold extends FoldedMessage {
  /** Of the service window that it opens; null if it opens none. */
  readonly window_expires_at: string | null;
  /** Whether bots read it. */
  readonly isAnswerable: boolean;
}

/** Reactions are shown with their message, and `system` messages come from the network: neither needs to be read or answered. */
const countsAsUnread = ({ type }: FoldedMessage): boolean => type !== 'reaction' && type !== 'system';

const NOTHING: Omit<MessageFold, 'id'> = {
  unread: 0,
  is_read: false,
  is_answered: false,
  waiting_since: null,
  last_message_id: null,
  last_activity_at: null,
  window_expires_at: null,
  counted_month: null,
  status: null,
};

const latest = (values: readonly (string | null)[]): string | null =>
  values.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);

const oldest = (values: readonly string[]): string | null =>
  values.reduce<string | null>((a, b) => (a === null || b < a ? b : a), null);

const timeOf = ({ sent_at, created_at }: FoldedMessage): string => sent_at ?? created_at;

const lastOf = (messages: readonly FoldedMessage[]): string | null =>
  latest(messages.filter(({ type }) => type !== 'reaction').map(({ id }) => id));

/** An inbound message opens a snoozed or closed conversation. A bot's conversation stays pending while the bot decides on the message. */
export const afterInbound = (status: ConversationStatus, isReadByBot: boolean): ConversationStatus =>
  status === 'pending' && isReadByBot ? 'pending' : 'open';

/**
 * Applies new inbound messages to their conversations, which the caller has locked: one update of each. A message that was answered
 * with the phone app before its webhook arrived has been read there.
 * @returns the conversations as they are now, by id
 */
export async function foldInbound(
  trx: Db,
  tenantId: number,
  locked: readonly LockedConversation[],
  messages: readonly InboundFold[],
  nowMs: number,
): Promise<Map<number, PublicConversation>> {
  const before = new Map(locked.map(row => [row.id, row]));
  const late = messages.filter(one => one.id < (before.get(one.conversation_id)?.last_message_id ?? ''));
  const answeredUpTo = await findPhoneAnswers(trx, tenantId, late);
  const folds = [...Map.groupBy(messages, one => one.conversation_id)].map(([id, ofOne]): MessageFold => {
    const toBeRead = ofOne.filter(countsAsUnread);
    const unseen = toBeRead.filter(one => one.id > (answeredUpTo.get(id) ?? ''));
    const { status = 'open', is_with_bot: isWithBot = false } = before.get(id) ?? {};
    const isReadByBot = isWithBot && toBeRead.every(one => one.isAnswerable);
    const reopened = toBeRead.length > 0 ? afterInbound(status, isReadByBot) : status;
    return {
      ...NOTHING,
      id,
      unread: unseen.length,
      waiting_since: oldest(unseen.map(timeOf)),
      last_message_id: lastOf(ofOne),
      last_activity_at: latest(ofOne.map(timeOf)),
      window_expires_at: latest(ofOne.map(one => one.window_expires_at)),
      counted_month: monthOf(nowMs),
      status: reopened === status ? null : reopened,
    };
  });
  return applyById(trx, tenantId, folds, nowMs);
}

/** A message that the business sent with its phone app or another system, or that is from before the number was connected. */
export interface ExternalFold extends FoldedMessage {
  readonly kind: 'answer' | 'call' | 'history';
}

/**
 * Applies messages that were not sent through us. An answer from the phone app marks what came before it as read,
 * because it was read there, and takes the conversation from the bot. Messages of a history import only change the last message.
 */
export async function foldExternal(
  trx: Db,
  tenantId: number,
  locked: readonly LockedConversation[],
  messages: readonly ExternalFold[],
  nowMs: number,
): Promise<Map<number, PublicConversation>> {
  const before = new Map(locked.map(row => [row.id, row]));
  const byConversation = [...Map.groupBy(messages, one => one.conversation_id)];
  const answers = byConversation.flatMap(([id, ofOne]) => {
    const answerId = lastOf(ofOne.filter(({ kind }) => kind === 'answer'));
    return answerId === null ? [] : [{ id, answerId }];
  });
  // Webhooks arrive in any order: what the person wrote after the answer is neither read nor answered by it.
  const overtaken = answers.filter(({ id, answerId }) => answerId < (before.get(id)?.last_message_id ?? ''));
  const rest = new Map((await findUnanswered(trx, tenantId, overtaken)).map(row => [row.id, row]));
  const answered = new Set(answers.map(({ id }) => id));
  const folds = byConversation.map(([id, ofOne]): MessageFold => {
    const isAnswered = answered.has(id);
    return {
      ...NOTHING,
      id,
      unread: rest.get(id)?.unread ?? 0,
      is_read: isAnswered,
      is_answered: isAnswered,
      waiting_since: rest.get(id)?.waiting_since ?? null,
      last_message_id: lastOf(ofOne),
      last_activity_at: latest(ofOne.map(timeOf)),
      status: isAnswered && before.get(id)?.status === 'pending' ? 'open' : null,
    };
  });
  return applyById(trx, tenantId, folds, nowMs);
}

async function applyById(
  trx: Db,
  tenantId: number,
  folds: readonly MessageFold[],
  nowMs: number,
): Promise<Map<number, PublicConversation>> {
  if (folds.length === 0) return new Map();
  const rows = await applyFolds(trx, tenantId, folds, new Date(nowMs).toISOString());
  return new Map(rows.map(row => [row.id, row]));
}

/** `conversation.created` for new conversations. @param folded their present state */
export const threadEvents = (
  locked: readonly LockedConversation[],
  folded: ReadonlyMap<number, PublicConversation>,
): NewEvent[] =>
  locked.flatMap((row): NewEvent[] => {
    const { is_new: isNew, is_counted: _counted, is_with_bot: _bot, ...conversation } = row;
    return isNew ? [createdEvent(folded.get(row.id) ?? conversation)] : [];
  });

/** `conversation.updated` for what changed besides messages. */
export const changedEvents = (
  locked: readonly LockedConversation[],
  folded: ReadonlyMap<number, PublicConversation>,
): NewEvent[] =>
  locked.flatMap((before): NewEvent[] => {
    const after = folded.get(before.id);
    return after && !before.is_new ? updatedEvent(before, after) : [];
  });

const createdEvent = (conversation: PublicConversation): NewEvent => ({
  type: 'conversation.created',
  payload: { conversation },
});

/** Empty if nothing that people see has changed. */
export function updatedEvent(before: PublicConversation, after: PublicConversation): NewEvent[] {
  const previous = previousState(before, after);
  return previous === undefined ? [] : [{ type: 'conversation.updated', payload: { conversation: after, previous } }];
}

/** `conversation.updated` for conversations that were taken from a bot in this transaction. */
export const takenOverEvents = async (trx: Db, tenantId: number, ids: readonly number[]): Promise<NewEvent[]> =>
  ids.length === 0
    ? []
    : (await getConversations(trx, tenantId, ids)).flatMap(after =>
        updatedEvent({ ...after, status: 'pending' }, after),
      );
