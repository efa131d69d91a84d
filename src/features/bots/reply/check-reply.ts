import { CodedError, FieldErrorList, type FieldErrors, invalid } from '../../../core/errors.ts';
import { isLonger } from '../../../platform/text.ts';
import type { Context } from '../../../schema/context.ts';
import { interactiveContent } from '../../messages/content/interactive/send-interactive.ts';
import { mediaIdOf } from '../../messages/content/media/file.ts';
import { mediaContent } from '../../messages/content/media/send-media.ts';
import { type Content, checkTexts } from '../../messages/send/content.ts';
import { unmerged } from '../../messages/send/merge-fields.ts';
import { textContent } from '../../messages/send/send-text.ts';
import { templateContent } from '../../templates/sending/send-template.ts';
import { type BotReply, clean, type ReplyType, typeOf } from './reply.ts';

/**
 * Checks a reply by the rules of the sends, as far as possible without a recipient: whether a template is approved, and whether a
 * text is within its limit once merged, is only known when it is sent.
 *
 * @returns the reply in stored form
 * @throws VALIDATION_ERROR below `reply`, FEATURE_NOT_AVAILABLE, MESSAGING_NOT_CONFIGURED (a template without a channel)
 */
export async function checkReply(context: Context, given: BotReply | null | undefined): Promise<BotReply> {
  const type = typeOf(given ?? {});
  if (!given || !type) throw invalid({ reply: ['Give exactly one of text, interactive, media and template.'] });
  const reply = clean(withDatabaseIds(given));
  try {
    const { texts } = await contentOf(context, type, reply);
    checkTexts(texts);
    checkLengths(texts);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'VALIDATION_ERROR') throw error;
    const faults = Object.entries(error.details as FieldErrors);
    throw invalid(Object.fromEntries(faults.map(([field, messages]) => [`reply.${type}.${field}`, messages])));
  }
  return reply;
}

/** Rejects texts that exceed the limit for every recipient: they would be stored but never sent. */
function checkLengths(texts: Content['texts']): void {
  const errors = new FieldErrorList();
  for (const [field, { text, maxLength }] of Object.entries(texts))
    if (isLonger(unmerged(text), maxLength)) errors.add(field, `May have at most ${maxLength} characters.`);
  errors.throwIfAny();
}

async function contentOf(context: Context, type: ReplyType, reply: BotReply): Promise<Content> {
  const { text, interactive, media, template } = reply;
  if (text) return textContent(text);
  if (interactive) return interactiveContent(context, interactive);
  if (media) return mediaContent(context, media);
  if (template) return templateContent(context, template);
  throw new Error(`A reply of type ${type} has no content.`);
}

/** Replaces global ids of uploads by database ids. */
function withDatabaseIds(reply: BotReply): BotReply {
  const { media, template } = reply;
  const bare = <File extends { readonly mediaId?: string | null | undefined }>(file: File | null | undefined) =>
    file?.mediaId == null ? file : { ...file, mediaId: mediaIdOf(file.mediaId) };
  const header = template?.header;
  return {
    ...reply,
    media: bare(media),
    template: template && {
      ...template,
      header: header && {
        ...header,
        image: bare(header.image),
        video: bare(header.video),
        document: bare(header.document),
      },
    },
  };
}
