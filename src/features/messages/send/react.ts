import { invalid, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { findMessage } from '../loaders.ts';
import type { MessageRow } from '../message.ts';
import { send } from './send.ts';

/** Also a heart without its variation selector, as some keyboards write it. */
const EMOJI = /^(?:\p{RGI_Emoji}|\p{Extended_Pictographic}\uFE0F?)$/v;

/** Types that show nothing to react to. */
const WITHOUT_REACTIONS: ReadonlySet<string> = new Set(['reaction', 'system', 'call']);

/**
 * Reacts to a message as the business, or takes its reaction back. The reaction is a message of its own, which the network may refuse;
 * it is among the reactions of the message once the network has accepted it.
 * @param emoji '' removes the reaction
 * @returns the message that is reacted to
 * @throws NOT_FOUND, VALIDATION_ERROR on id and emoji, and the errors of `send`
 */
export async function reactTo(
  context: Context,
  id: string,
  { emoji, idempotencyKey }: { readonly emoji: string; readonly idempotencyKey?: string | null | undefined },
): Promise<MessageRow> {
  const message = await findMessage(context.db.read, tenantOf(context), id);
  if (!message) throw notFound('Message');
  const { wamid } = message;
  if (emoji !== '' && !EMOJI.test(emoji)) throw invalid({ emoji: ['Must be one emoji, or empty.'] });
  if (message.conversation_id === null) throw invalid({ id: ['Is a message of a group chat.'] });
  if (WITHOUT_REACTIONS.has(message.type)) throw invalid({ id: ['Is not a message to react to.'] });
  if (wamid === null) throw invalid({ id: ['The network has not accepted this message.'] });
  const to = { contactId: message.contact_id };
  // The emoji is part of what an idempotency key stands for.
  const input = { to, channelId: message.channel_id, replyToWamid: wamid, emoji, idempotencyKey };
  await send(context, 'reactToMessage', input, {
    type: 'reaction',
    freeForm: true,
    texts: {},
    compose: () => ({ body: emoji || null, content: { message_id: wamid, emoji } }),
  });
  return message;
}
