import { withFaultsOf } from '../../../../core/errors.ts';
import { requireFeature } from '../../../../core/plan-features.ts';
import { callerOf } from '../../../../core/principal.ts';
import type { Context } from '../../../../schema/context.ts';
import type { MessageRow } from '../../message.ts';
import { type Content, checkTexts, type MergeText } from '../../send/content.ts';
import type { SendInput } from '../../send/request.ts';
import { send } from '../../send/send.ts';
import { actionOf, type InteractiveText, LIMITS } from './interactive.ts';

export interface SendInteractiveInput extends SendInput, InteractiveText {}

/**
 * Sends a text with buttons, a list or a link. The person's choice arrives as a reply to this message.
 * @throws like `send`; FEATURE_NOT_AVAILABLE
 */
export async function sendInteractive(context: Context, input: SendInteractiveInput): Promise<MessageRow> {
  return send(context, 'sendMessage', input, interactiveContent(context, input));
}

/** The content, validated as far as possible before the recipient is known. @throws VALIDATION_ERROR, FEATURE_NOT_AVAILABLE */
export function interactiveContent(context: Context, input: InteractiveText): Content {
  requireFeature(callerOf(context).tenant, 'interactive');
  const texts: Record<string, MergeText> = {
    body: { text: input.body, maxLength: input.list ? LIMITS.listBody : LIMITS.body },
    ...(input.header && { header: { text: input.header, maxLength: LIMITS.header } }),
    ...(input.footer && { footer: { text: input.footer, maxLength: LIMITS.footer } }),
  };
  const { type, action } = checkedAction(input, texts);
  return {
    type: 'interactive',
    freeForm: true,
    texts,
    compose: text => ({
      body: text('body'),
      content: {
        type,
        ...(texts['header'] && { header: { type: 'text', text: text('header') } }),
        body: { text: text('body') },
        ...(texts['footer'] && { footer: { text: text('footer') } }),
        action,
      },
    }),
  };
}

/** @throws VALIDATION_ERROR with the faults of the texts, too */
function checkedAction(input: InteractiveText, texts: Content['texts']): ReturnType<typeof actionOf> {
  try {
    return actionOf(input);
  } catch (error) {
    throw withFaultsOf(error, () => checkTexts(texts));
  }
}
