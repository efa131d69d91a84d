import type { Context } from '../../context.ts';
import { CodedError, invalid, notFound } from '../../errors.ts';
import { NetworkCallError } from '../../network/network.ts';
import { tenantOf } from '../caller.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { setRead } from './inbound-store.ts';
import type { MessageRow } from './message.ts';
import { getMessages } from './store.ts';

/** Marks an inbound message as read, on the network first: what people see is the truth. @throws NOT_FOUND, VALIDATION_ERROR, MESSAGE_SEND_FAILED */
export async function markRead(context: Context, id: string): Promise<MessageRow> {
  const tenantId = tenantOf(context);
  const [message] = await getMessages(context.db.read, tenantId, [id]);
  if (!message) throw notFound('Message');
  if (message.direction !== 'inbound' || message.wamid === null)
    throw invalid({ id: ['Only an inbound message can be marked as read.'] });
  if (message.read_at !== null) return message;
  const credentials = await credentialsOf(context, tenantId, message.channel_id);
  if (credentials?.status !== 'active')
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'The channel of this message is not active.');
  await context.network.markRead(credentials, message.wamid).catch((error: unknown) => {
    if (!(error instanceof NetworkCallError)) throw error;
    throw new CodedError('MESSAGE_SEND_FAILED', `The network refused: ${error.message}`, {
      provider: error.error ?? null,
    });
  });
  return (await setRead(context.db.write, tenantId, id, new Date(context.clock.now()).toISOString())) ?? message;
}
