import { draftOf } from '../../messages/content/draft.ts';
import type { ContentShape } from '../../messages/content/message-content.ts';
import type { BotReply } from './reply.ts';

/** A reply as messages show their content. */
export function replyDraft(tenantId: number, { text, interactive, media, template }: BotReply): ContentShape {
  if (text) return draftOf(tenantId, { text: { body: text.text, previewUrl: text.previewUrl } });
  if (interactive) return draftOf(tenantId, { interactive });
  if (template) return draftOf(tenantId, { template });
  if (!media) throw new Error('A bot has no reply.');
  const { link, mediaId, ...file } = media;
  return draftOf(tenantId, { media: { ...file, file: link == null ? { mediaId } : { link } } });
}
