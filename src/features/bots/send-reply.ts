import type { Context } from '../../context.ts';
import { encodeGlobalId } from '../../global-ids.ts';
import { sendInteractive } from '../interactive/send-interactive.ts';
import { sendMedia } from '../media/send-media.ts';
import type { MessageRow } from '../messages/message.ts';
import { sendText } from '../messages/send-text.ts';
import { sendTemplate } from '../templates/send-template.ts';
import type { PendingReply } from './replies-store.ts';

/** Sends an answer as anybody would send it: from the number that was written to, as a reply to what was written. Errors as the sends. */
export function sendReply(context: Context, pending: PendingReply): Promise<MessageRow> {
  const { text, interactive, media, template } = pending.bot.reply;
  const to = {
    id: pending.reply_message_id,
    to: encodeGlobalId('Contact', pending.contact_id),
    channelId: pending.channel_id,
    replyToWamid: pending.wamid,
  };
  if (text) return sendText(context, { ...text, ...to });
  if (interactive) return sendInteractive(context, { ...interactive, ...to });
  if (media) return sendMedia(context, { ...media, ...to });
  if (template) return sendTemplate(context, { ...template, ...to });
  throw new Error(`the bot ${pending.bot_id} has nothing to answer`);
}
