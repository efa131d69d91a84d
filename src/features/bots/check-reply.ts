import type { Context } from '../../context.ts';
import { CodedError, FieldErrorList, type FieldErrors, invalid } from '../../errors.ts';
import { isLonger } from '../../platform/text.ts';
import { interactiveContent } from '../interactive/send-interactive.ts';
import { mediaIdOf } from '../media/file.ts';
import { mediaContent } from '../media/send-media.ts';
import { unmerged } from '../messages/merge-fields.ts';
import { type Content, checkTexts } from '../messages/send.ts';
import { textContent } from '../messages/send-text.ts';
import { templateContent } from '../templates/send-template.ts';
import { type BotReply, clean, type ReplyType, typeOf } from './reply.ts';

/**
 * Checks a reply by the rules of the sends, as far as they can be known before there is anybody to answer: whether a template is
 * approved, and whether a text fits with what is merged into it, shows then.
 *
 * @returns the reply as it is kept
 * @throws VALIDATION_ERROR below `reply`, FEATURE_NOT_AVAILABLE, MESSAGING_NOT_CONFIGURED (a template without a channel)
 */
export async function checkReply(context: Context, given: BotReply | null | undefined): Promise<BotReply> {
  const type = typeOf(given ?? {});
  if (!given || !type)
    throw invalid({ reply: ['Exactly one of text, interactive, media and template is what a bot answers with.'] });
  const reply = clean(withBareIds(given));
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

/** A text that is too long whoever it is merged for would be kept, and never be sent. */
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
  throw new Error(`a reply of the type ${type} has none`);
}

/** Ids of uploads as the database has them, however they were written. */
function withBareIds(reply: BotReply): BotReply {
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
