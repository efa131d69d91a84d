import { CodedError, FieldErrorList, invalid } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { choicePath, withChoices } from '../../messages/content/interactive/interactive.ts';
import { interactiveContent } from '../../messages/content/interactive/send-interactive.ts';
import { mediaIdOf } from '../../messages/content/media/file.ts';
import { mediaContent } from '../../messages/content/media/send-media.ts';
import { type Content, checkLengths, checkTexts } from '../../messages/send/content.ts';
import { textContent } from '../../messages/send/send-text.ts';
import { templateContent } from '../../templates/sending/send-template.ts';
import { type BotReply, clean, type GivenReply, type ReplyType, typeOf } from './reply.ts';

/**
 * Checks a reply by the rules of the sends, as far as possible without a recipient: whether a template is approved, and whether a
 * text is within its limit once merged, is only known when it is sent.
 *
 * @returns the reply in stored form
 * @throws VALIDATION_ERROR below `reply`, FEATURE_NOT_AVAILABLE, MESSAGING_NOT_CONFIGURED (a template without a channel)
 */
export async function checkReply(context: Context, given: GivenReply | null | undefined): Promise<BotReply> {
  const type = typeOf((given ?? {}) as BotReply);
  if (!given || !type)
    throw invalid(
      { reply: ['Give exactly one of text, interactive, media and template.'] },
      Object.keys(clean(given ?? {})).length > 0 ? 'SURPLUS' : 'REQUIRED',
    );
  const { interactive, ...others } = given;
  const stored = { ...others, interactive: interactive && withChoices(interactive) };
  const reply = clean(withDatabaseIds(tenantOf(context), stored));
  try {
    const { texts } = await contentOf(context, type, reply);
    checkTexts(texts);
    checkLengths(texts);
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'VALIDATION_ERROR') throw error;
    const errors = new FieldErrorList();
    for (const { field, message, code } of error.faults)
      errors.add(`reply.${type}.${type === 'interactive' ? choicePath(field) : field}`, message, code);
    throw errors.toError();
  }
  return reply;
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
function withDatabaseIds(tenantId: number, reply: BotReply): BotReply {
  const { media, template } = reply;
  const bare = <File extends { readonly mediaId?: string | null | undefined }>(file: File | null | undefined) =>
    file?.mediaId == null ? file : { ...file, mediaId: mediaIdOf(tenantId, file.mediaId) };
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
