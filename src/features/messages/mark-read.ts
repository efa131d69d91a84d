import { CodedError, invalid, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import { NetworkCallError } from '../../network/network.ts';
import type { Context } from '../../schema/context.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { recountUnread } from '../conversations/recount-unread.ts';
import { setRead } from './inbound/inbound.sql.ts';
import { findMessage } from './loaders.ts';
import type { MessageRow } from './message.ts';
import { getMessages } from './messages.sql.ts';

/**
 * Marks an inbound message as read, on the network first, where the sender sees it; those before it count as read too.
 * @param showTyping whether the network shows the sender that somebody is typing
 * @throws NOT_FOUND, VALIDATION_ERROR, MESSAGING_NOT_CONFIGURED, MESSAGE_SEND_FAILED
 */
export async function markRead(
  context: Context,
  id: string,
  { showTyping }: { readonly showTyping: boolean } = { showTyping: false },
): Promise<MessageRow> {
  const tenantId = tenantOf(context);
  const [message] = await getMessages(context.db.read, tenantId, [id]);
  if (!message) throw notFound('Message');
  if (message.direction !== 'inbound' || message.wamid === null)
    throw invalid({ id: ['Only an inbound message can be marked as read.'] });
  const { conversation_id: conversationId } = message;
  if (message.read_at !== null && !showTyping) {
    if (conversationId !== null) await recountUnread(context, tenantId, conversationId, id);
    return message;
  }
  const credentials = await credentialsOf(context, tenantId, message.channel_id);
  if (credentials?.status !== 'active')
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'The channel of this message is not active.');
  await context.network.markRead(credentials, message.wamid, { showTyping }).catch((error: unknown) => {
    if (!(error instanceof NetworkCallError)) throw error;
    throw new CodedError('MESSAGE_SEND_FAILED', `The network refused: ${error.message}`, {
      provider: error.error ?? null,
    });
  });
  await setRead(context.db.write, tenantId, id, new Date(context.clock.now()).toISOString());
  if (conversationId !== null) await recountUnread(context, tenantId, conversationId, id);
  return (await findMessage(context.db.write, tenantId, id)) ?? message;
}
