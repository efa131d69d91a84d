import { invalid, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import { markRead } from '../messages/mark-read.ts';
import type { PublicConversation } from './conversation.ts';
import { recountUnread } from './recount-unread.ts';
import { findLastInbound, resolveConversation } from './state.sql.ts';

/**
 * Marks a conversation as read, on the network first, where the person sees it, as far as that is possible.
 * @param upToMessageId an inbound message; undefined: the last one
 * @throws NOT_FOUND, VALIDATION_ERROR; MESSAGE_SEND_FAILED if the network may mark it later
 */
export async function markConversationRead(
  context: Context,
  id: number,
  { upToMessageId, showTyping }: { readonly upToMessageId: string | undefined; readonly showTyping: boolean },
): Promise<PublicConversation> {
  const tenantId = tenantOf(context);
  const conversation = await resolveConversation(context.db.write, tenantId, id);
  if (!conversation) throw notFound('Conversation');
  const last = await findLastInbound(context.db.write, tenantId, conversation.id, { id: upToMessageId });
  if (last === undefined) {
    if (upToMessageId !== undefined)
      throw invalid({ upToMessageId: ['Must be an inbound message of the conversation.'] }, 'REFERENCE_NOT_FOUND');
    return conversation;
  }
  const isCall = last.type === 'call';
  const marked = isCall
    ? await findLastInbound(context.db.write, tenantId, conversation.id, { beforeCall: last.id })
    : last;
  if (marked) await markRead(context, marked.id, { showTyping });
  // The network does not mark calls, but they count as unread.
  if (isCall) await recountUnread(context, tenantId, conversation.id, last.id);
  return (await resolveConversation(context.db.write, tenantId, id)) ?? conversation;
}
