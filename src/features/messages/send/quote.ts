import { invalid } from '../../../core/errors.ts';
import { parseUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { messageLoader } from '../loaders.ts';
import type { SendInput } from './request.ts';

export const NOT_IN_CONVERSATION = 'Is not a message of the conversation with this recipient.';

/**
 * The part of a send that quotes a message: the network shows it above the answer. The answer goes to the same person, from the channel
 * of the message.
 * @param named what the send names itself
 * @throws VALIDATION_ERROR on replyToId
 */
export async function resolveQuote(
  context: Context,
  replyToId: string,
  named: Pick<SendInput, 'contactId' | 'channelId'>,
): Promise<Pick<SendInput, 'contactId' | 'channelId' | 'replyToWamid'>> {
  const id = parseUuid(tenantOf(context), 'Message', replyToId);
  const message = id === undefined ? undefined : await messageLoader(context).load(id);
  if (!message) throw invalid({ replyToId: ['There is no message with this id.'] }, 'REFERENCE_NOT_FOUND');
  const { wamid, contact_id: contactId, channel_id: channelId } = message;
  if (message.conversation_id === null) throw invalid({ replyToId: ['Is a message of a group chat.'] });
  if (wamid === null)
    throw invalid({ replyToId: ['The network has not accepted this message, so that it cannot be answered.'] });
  if ((named.contactId ?? contactId) !== contactId || (named.channelId ?? channelId) !== channelId)
    throw invalid({ replyToId: [NOT_IN_CONVERSATION] });
  return { contactId, channelId, replyToWamid: wamid };
}
