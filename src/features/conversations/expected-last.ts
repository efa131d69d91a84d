import { conflict, invalid } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import type { Context } from '../../schema/context.ts';
import { currentMessage } from '../messages/current-message.ts';
import { findMessage } from '../messages/loaders.ts';
import { findInboundAfter } from './change.sql.ts';

/**
 * Checks that the person has not written after a message. The conversation is locked, so that what they write is stored after the
 * transaction ends, and opens a conversation that it closes.
 * @throws VALIDATION_ERROR on expectedLastMessageId; CONFLICT with the new message as `current`
 */
export async function requireLastInbound(
  context: Context,
  trx: Db,
  conversationId: number,
  expectedId: string,
): Promise<void> {
  const tenantId = tenantOf(context);
  const found = await findInboundAfter(trx, tenantId, conversationId, expectedId);
  if (!found)
    throw invalid(
      { expectedLastMessageId: ['There is no message with this id in the conversation.'] },
      'REFERENCE_NOT_FOUND',
    );
  if (found.later_id === null) return;
  const message = await findMessage(trx, tenantId, found.later_id);
  throw conflict(
    'The person has written after the expected last message. Read the new message, then repeat the change with its id as expectedLastMessageId, or without one.',
    { current: currentMessage(context, message) },
  );
}
