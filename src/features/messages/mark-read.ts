import { CodedError, invalid, notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import { NetworkCallError, type RetryClass } from '../../network/network.ts';
import type { Context } from '../../schema/context.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { recountUnread } from '../conversations/recount-unread.ts';
import { setRead } from './inbound/inbound.sql.ts';
import { findMessage } from './loaders.ts';
import type { MessageRow } from './message.ts';
import { getMessages } from './messages.sql.ts';

/** Refusals that a repetition would meet again. */
const FINAL: ReadonlySet<RetryClass> = new Set(['no_retry', 'fix_request', 'auth', 'pause_account']);

/**
 * Marks an inbound message as read, on the network first, where the sender sees it; those before it count as read too.
 * @param showTyping whether the network shows the sender that somebody is typing
 * @throws NOT_FOUND, VALIDATION_ERROR; MESSAGE_SEND_FAILED if the network may mark it later
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
  await markAtNetwork(context, message.channel_id, message.wamid, showTyping);
  await setRead(context.db.write, tenantId, id, new Date(context.clock.now()).toISOString());
  if (conversationId !== null) await recountUnread(context, tenantId, conversationId, id);
  return (await findMessage(context.db.write, tenantId, id)) ?? message;
}

/**
 * Marks a message where its sender sees it, if that is possible: a number that is not connected, and a message that the network does not
 * keep any more, must not stay unread here for good.
 */
async function markAtNetwork(context: Context, channelId: number, wamid: string, showTyping: boolean): Promise<void> {
  const credentials = await credentialsOf(context, tenantOf(context), channelId);
  if (credentials?.status !== 'active') return;
  try {
    await context.network.markRead(credentials, wamid, { showTyping });
  } catch (error) {
    if (!(error instanceof NetworkCallError)) throw error;
    const refusal = error.error ?? null;
    if (refusal === null || !FINAL.has(refusal.retryClass))
      throw new CodedError('MESSAGE_SEND_FAILED', `The network refused: ${error.message}`, {
        details: { provider: refusal },
      });
    context.log.info({ channelId, wamid, code: refusal.code }, 'the network cannot mark a message as read');
  }
}
