import type { Context } from '../../../schema/context.ts';
import { decidingEntryId } from '../../contacts/consent/deciding-entry.ts';
import { messageLoader } from '../../messages/loaders.ts';
import { OPTED_OUT } from '../../messages/send/outcome.ts';
import { isMarketingStopped } from '../../messages/statuses/marketing-opt-outs.ts';
import type { RecipientRow } from './list.ts';
import { reasonOf } from './recipient.ts';

/** Returns the id of the opt-out because of which a recipient was skipped or failed; null for other reasons, and once it is lifted. */
export const optOutOf = async (context: Context, recipient: RecipientRow): Promise<number | null> =>
  (await isOptedOut(context, recipient)) ? decidingEntryId(context, { contact_id: recipient.contact_id }) : null;

async function isOptedOut(
  context: Context,
  { reason, error_code: code, message_id: messageId }: RecipientRow,
): Promise<boolean> {
  if (reasonOf(reason) === 'opted_out') return true;
  if (code === null) return false;
  if (isMarketingStopped({ code })) return true;
  // 0: refused by the gateway, for this reason or another one.
  if (code !== 0 || messageId === null) return false;
  return (await messageLoader(context).load(messageId))?.error?.title === OPTED_OUT;
}
