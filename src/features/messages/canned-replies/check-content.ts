import { CodedError, FieldErrorList, invalid } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { oneOf } from '../../../schema/one-of.ts';
import { checkTemplate } from '../../templates/sending/send-template.ts';
import { cardsContent } from '../content/contact-cards.ts';
import { interactiveContent } from '../content/interactive/send-interactive.ts';
import { locationContent } from '../content/location.ts';
import { mediaContent } from '../content/media/send-media.ts';
import { checkTexts } from '../send/content.ts';
import { contentPath, mediaFields } from '../send/content-fields.ts';
import type { ContentFields } from '../send/content-schema.ts';
import { textContent } from '../send/send-text.ts';

/** In characters of its JSON. */
const MAX_CONTENT = 50_000;

/**
 * Checks what a send would refuse for every recipient. The send checks it again: a template may be withdrawn, an upload expires.
 * @throws VALIDATION_ERROR with fields below the input, FEATURE_NOT_AVAILABLE
 */
export async function checkContent(context: Context, fields: ContentFields): Promise<void> {
  const content = oneOf(fields, 'content');
  if (JSON.stringify(fields).length > MAX_CONTENT) throw invalid({ content: ['Is too large.'] }, 'TOO_LONG');
  try {
    switch (content.field) {
      case 'text':
        return checkTexts(textContent({ text: content.value.body, previewUrl: content.value.previewUrl }).texts);
      case 'media':
        return checkTexts((await mediaContent(context, mediaFields(tenantOf(context), content.value))).texts);
      case 'interactive':
        return checkTexts(interactiveContent(context, content.value).texts);
      case 'location':
        return checkTexts(locationContent(content.value).texts);
      case 'contacts':
        return checkTexts(cardsContent(content.value).texts);
      case 'cannedReplyId':
        throw invalid({ cannedReplyId: ['A canned reply cannot consist of another.'] }, 'SURPLUS');
      case 'template':
        return await checkTemplate(context, content.value);
    }
  } catch (error) {
    if (!(error instanceof CodedError) || error.faults.length === 0) throw error;
    const errors = new FieldErrorList();
    for (const { field, message, code } of error.faults) errors.add(contentPath(content.field, field), message, code);
    throw errors.toError(error.message);
  }
}
