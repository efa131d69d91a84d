import { z } from 'zod';
import { isObject } from '../../platform/json.ts';
import { type AnswerSchema, echoOf } from '../openapi/schema.ts';
import { alias, body, byFirstNames, dropUndefined, REQUIRED, requiredText, text } from '../runtime/fields.ts';
import { BUTTONS, buttonsInput, CTA_URL, SECTIONS, sectionsInput } from '../wire/interactive.ts';
import { camelKeys } from '../wire/names.ts';
import { checkRecipient, RECIPIENT } from './sending.ts';

/** Names of fields in errors. */
export const INTERACTIVE_NAMES: Readonly<Record<string, string>> = {
  body: 'body_text',
  header: 'header_text',
  footer: 'footer_text',
  'list.button': 'list_button_text',
  'list.sections': 'sections',
};

const BUTTON_TEXT = { maxLength: 20, description: 'Label of the button that opens the list.' };

const COMMON = {
  ...RECIPIENT,
  body_text: alias(requiredText(), 'body'),
  header_text: alias(text(), 'header'),
  footer_text: alias(text(), 'footer'),
};
const LIST = { list_button_text: alias(requiredText(BUTTON_TEXT), 'button_text'), sections: SECTIONS };

const byType = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('button'), buttons: BUTTONS }),
    z.object({ type: z.literal('list'), ...LIST }),
    z.object({ type: z.literal('cta_url'), cta_url: CTA_URL }),
  ],
  {
    error: ({ input }) =>
      isObject(input) && input['type'] != null && input['type'] !== ''
        ? 'Must be one of: button, list, cta_url.'
        : REQUIRED,
  },
);

const rename = byFirstNames({ ...COMMON, ...LIST });

/** The type in any case, and a link that is written without its object. */
function normalize(sent: unknown): unknown {
  const fields = rename(sent);
  if (!isObject(fields)) return fields;
  const { type, cta_url, display_text, url } = fields;
  return {
    ...fields,
    type: typeof type === 'string' ? type.trim().toLowerCase() : type,
    cta_url: cta_url ?? { display_text, url },
  };
}

/** Fields of another type than the message's are ignored. */
export const INTERACTIVE = z.preprocess(normalize, z.intersection(body(COMMON, checkRecipient), byType));

type Interactive = z.output<typeof INTERACTIVE>;

/** The message in GraphQL's names. */
export const interactiveInput = (message: Interactive) =>
  dropUndefined({
    body: message.body_text,
    header: message.header_text,
    footer: message.footer_text,
    buttons: message.type === 'button' ? buttonsInput(message.buttons) : undefined,
    list:
      message.type === 'list'
        ? { button: message.list_button_text, sections: sectionsInput(message.sections) }
        : undefined,
    ctaUrl: message.type === 'cta_url' ? camelKeys(message.cta_url) : undefined,
  });

/** The message as the answer repeats it, without its text, which is merged. */
export const interactiveEcho = (message: Interactive) =>
  dropUndefined({
    type: message.type,
    header_text: message.header_text ?? undefined,
    footer_text: message.footer_text ?? undefined,
    buttons: message.type === 'button' ? message.buttons : undefined,
    list_button_text: message.type === 'list' ? message.list_button_text : undefined,
    sections: message.type === 'list' ? message.sections : undefined,
    cta_url: message.type === 'cta_url' ? message.cta_url : undefined,
  });

export const INTERACTIVE_ECHO: Readonly<Record<string, AnswerSchema>> = {
  type: z.enum(byType.options.map(option => option.shape.type.value)).describe('The type of choice.'),
  header_text: z.string().describe('The line above the body.').optional(),
  footer_text: z.string().describe('The line below the body.').optional(),
  buttons: echoOf(BUTTONS, 'ReplyButtonInput').optional(),
  list_button_text: z.string().describe('The label of the button that opens the list.').optional(),
  sections: echoOf(SECTIONS, 'ListSectionInput', true).optional(),
  cta_url: echoOf(CTA_URL, 'CtaUrlInput').optional(),
};
