import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { getReactions } from '../additions.sql.ts';
import { type MessageRow, wamidKey } from '../message.ts';
import { getMessages, getMessagesByWamid } from '../messages.sql.ts';
import { payloadsOf } from '../people.sql.ts';
import { deleteReaction, insertReactions, type ReactionRow } from './reactions.sql.ts';

/**
 * Stores the reactions among newly stored messages, with an event for each whose original is known. A reaction without an emoji
 * removes the earlier one.
 * @param isNews whether a reaction gets an event; those of a history import get none
 */
export async function storeReactions(
  trx: Db,
  tenantId: number,
  stored: readonly MessageRow[],
  isNews: (message: MessageRow) => boolean = () => true,
): Promise<void> {
  const reactions = stored.flatMap(reactionOf);
  if (reactions.length === 0) return;
  const past = new Set(stored.flatMap(row => (isNews(row) ? [] : wamidKey(row.channel_id, row.wamid))));
  const written = (await insertReactions(trx, tenantId, reactions)).filter(
    row => !past.has(wamidKey(row.channel_id, row.wamid)),
  );
  const ids = [...new Set(written.flatMap(({ message_id }) => message_id ?? []))];
  if (ids.length === 0) return;
  const messages = new Map((await getMessages(trx, tenantId, ids)).map(row => [row.id, row]));
  const payloadFor = await payloadsOf(trx, tenantId, [...messages.values()]);
  await append(
    trx,
    tenantId,
    written.flatMap(({ message_id, contact_id, direction, emoji, occurred_at }): NewEvent[] => {
      const row = message_id === null ? undefined : messages.get(message_id);
      if (!row) return [];
      const reaction = { contact_id, direction, emoji, occurred_at };
      return [{ type: 'message.reaction', payload: { ...payloadFor(row), reaction } }];
    }),
  );
}

/**
 * Stores the reactions of the business that the network has accepted, and removes those that failed afterwards.
 * @param changed each message before and after its statuses
 */
export async function keepReactions(
  trx: Db,
  tenantId: number,
  changed: readonly { readonly row: MessageRow; readonly message: MessageRow }[],
): Promise<void> {
  const hasFailed = ({ message }: { readonly message: MessageRow }): boolean => message.status === 'failed';
  const accepted = changed.filter(one => !hasFailed(one) && one.row.wamid === null && one.message.wamid !== null);
  await storeReactions(
    trx,
    tenantId,
    accepted.map(({ message }) => message),
  );
  for (const { message } of changed.filter(one => hasFailed(one) && one.row.wamid !== null)) {
    const [reaction] = reactionOf(message);
    if (reaction && (await deleteReaction(trx, tenantId, reaction))) await appendReactionEvent(trx, tenantId, reaction);
  }
}

/** Remaining reaction of a sender, after one was removed. */
async function appendReactionEvent(trx: Db, tenantId: number, removed: ReactionRow): Promise<void> {
  const { channel_id, original_wamid: wamid, contact_id, direction } = removed;
  const left = (await getReactions(trx, tenantId, [{ channelId: channel_id, wamid }])).find(
    one => one.contact_id === contact_id && one.direction === direction,
  );
  const [row] = await getMessagesByWamid(trx, tenantId, [wamid]);
  if (!row) return;
  const payloadFor = await payloadsOf(trx, tenantId, [row]);
  const reaction = { contact_id, direction, emoji: left?.emoji ?? null, occurred_at: removed.occurred_at };
  await append(trx, tenantId, [{ type: 'message.reaction', payload: { ...payloadFor(row), reaction } }]);
}

const reactionOf = (message: MessageRow): ReactionRow[] =>
  message.type !== 'reaction' || message.reply_to_wamid === null || message.wamid === null
    ? []
    : [
        {
          channel_id: message.channel_id,
          original_wamid: message.reply_to_wamid,
          contact_id: message.contact_id,
          direction: message.direction,
          emoji: message.body,
          wamid: message.wamid,
          occurred_at: message.sent_at ?? message.created_at,
        },
      ];
