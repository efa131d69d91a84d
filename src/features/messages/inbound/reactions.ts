import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { type MessageRow, publicMessage } from '../message.ts';
import { getMessages } from '../messages.sql.ts';
import { insertReactions, type ReactionRow } from './reactions.sql.ts';

/**
 * Stores the reactions among newly stored messages, with an event for each whose original is known. A reaction without an emoji
 * removes the earlier one.
 */
export async function storeReactions(trx: Db, tenantId: number, stored: readonly MessageRow[]): Promise<void> {
  const reactions = stored.flatMap(reactionOf);
  if (reactions.length === 0) return;
  const written = await insertReactions(trx, tenantId, reactions);
  const ids = [...new Set(written.flatMap(({ message_id }) => message_id ?? []))];
  if (ids.length === 0) return;
  const messages = new Map((await getMessages(trx, tenantId, ids)).map(row => [row.id, row]));
  await append(
    trx,
    tenantId,
    written.flatMap(({ message_id, contact_id, direction, emoji, occurred_at }): NewEvent[] => {
      const row = message_id === null ? undefined : messages.get(message_id);
      if (!row) return [];
      const reaction = { contact_id, direction, emoji, occurred_at };
      return [{ type: 'message.reaction', payload: { message: publicMessage(row), reaction } }];
    }),
  );
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
