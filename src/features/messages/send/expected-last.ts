import { conflict, invalid } from '../../../core/errors.ts';
import { parseUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context } from '../../../schema/context.ts';
import { currentMessage } from '../current-message.ts';
import { findMessage, messageLoader } from '../loaders.ts';
import type { DecidedSend } from './decide.ts';
import { findAnswerAfter, lockContactForSend } from './expected-last.sql.ts';
import { NOT_IN_CONVERSATION } from './quote.ts';
import type { SendInput } from './request.ts';

/**
 * Makes a send conditional: it is accepted only if nobody has answered after the message that the sender knows as the last. Checks that
 * this message is of the conversation with the recipient; `requireUnanswered` checks the answers.
 * @param named what the send names itself
 * @throws VALIDATION_ERROR on expectedLastMessageId
 */
export async function checkExpectedLast(
  context: Context,
  messageId: string,
  named: Pick<SendInput, 'contactId' | 'channelId'>,
): Promise<Pick<SendInput, 'expectedLastMessageId'>> {
  const id = parseUuid(tenantOf(context), 'Message', messageId);
  const message = id === undefined ? undefined : await messageLoader(context).load(id);
  if (!message) throw invalid({ expectedLastMessageId: ['There is no message with this id.'] }, 'REFERENCE_NOT_FOUND');
  const { contact_id: contactId, channel_id: channelId } = message;
  if ((named.contactId ?? contactId) !== contactId || (named.channelId ?? channelId) !== channelId)
    throw invalid({ expectedLastMessageId: [NOT_IN_CONVERSATION] });
  return { expectedLastMessageId: message.id };
}

export const expectsLast = ({ prepared }: DecidedSend): boolean => prepared.input.expectedLastMessageId != null;

/**
 * Checks that nobody else has answered after the message that the sender knows as the last. Locks the contact, so that nobody does
 * until the transaction ends. Lock order: contacts by id, as for every send.
 * @throws CONFLICT with the last answer as `current`
 */
export async function requireUnanswered(context: Context, trx: Db, { prepared, to }: DecidedSend): Promise<void> {
  const expected = prepared.input.expectedLastMessageId;
  if (expected == null || !('contactId' in to) || to.conversationId === null) return;
  const tenantId = tenantOf(context);
  await lockContactForSend(trx, tenantId, to.contactId);
  const answerId = await findAnswerAfter(trx, tenantId, to.conversationId, expected, prepared.author);
  if (answerId === undefined) return;
  const answer = await findMessage(trx, tenantId, answerId);
  const author = answer?.author?.name;
  throw conflict(
    `${author === undefined ? 'Somebody' : `“${author}”`} has answered after the expected last message. Read the answer, then send with its id as expectedLastMessageId, or without one.`,
    { current: currentMessage(context, answer) },
  );
}
