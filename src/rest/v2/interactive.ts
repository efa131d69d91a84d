import { Body, said } from '../body.ts';
import type { SendInteractiveMessageInput } from '../documents.generated.ts';
import { choice, type Fields, given, optional, required, type Shape, text } from '../openapi/shape.ts';
import { sendingBody } from './sending.ts';

/** What errors of GraphQL name otherwise than the wire does. */
export const INTERACTIVE_NAMES: Readonly<Record<string, string>> = {
  body: 'body_text',
  header: 'header_text',
  footer: 'footer_text',
  'list.button': 'list_button_text',
  'list.sections': 'sections',
};

type Written = Pick<SendInteractiveMessageInput, 'body' | 'header' | 'footer' | 'buttons' | 'list' | 'ctaUrl'>;

const TYPES = { button: 'button', list: 'list', cta_url: 'cta_url' } as const;

const type = choice(Object.keys(TYPES), 'What the person chooses with.');

export const INTERACTIVE_BODY: Shape = sendingBody({
  without: ['body', 'header', 'footer', 'list', 'require_open_window'],
  with: {
    type: required(type),
    body_text: required(given('input.body')),
    header_text: given('input.header'),
    footer_text: given('input.footer'),
    list_button_text: given('input.list.button'),
    sections: given('input.list.sections'),
  },
});

/** What the answer repeats: as it was asked for, but for the text, which is merged. */
export const INTERACTIVE_ECHO: Fields = {
  type,
  header_text: optional(text('The line above the body.')),
  footer_text: optional(text('The line below the body.')),
  buttons: optional(given('input.buttons')),
  list_button_text: optional(text('What the button that opens the list is called.')),
  sections: optional(given('input.list.sections')),
  cta_url: optional(given('input.ctaUrl')),
};

/** Reads what can be chosen from. How long and how many is GraphQL's to say; here only what has no place there. */
export function readInteractive(body: Body): { readonly input: Written; readonly echo: object } {
  const type = body.choice(TYPES, 'type') ?? (body.has('type') ? undefined : missingType(body));
  const input = said({
    body: body.requiredText('body_text', 'body'),
    header: body.text('header_text', 'header'),
    footer: body.text('footer_text', 'footer'),
    buttons: type === 'button' ? items(body, 'buttons').map(readButton) : undefined,
    list: type === 'list' ? readList(body) : undefined,
    ctaUrl: type === 'cta_url' ? readLink(body) : undefined,
  });
  const { buttons, list, ctaUrl } = input;
  const echo = said({
    type,
    header_text: input.header ?? undefined,
    footer_text: input.footer ?? undefined,
    buttons,
    list_button_text: list?.button,
    sections: list?.sections,
    cta_url: ctaUrl && { display_text: ctaUrl.displayText, url: ctaUrl.url },
  });
  return { input, echo };
}

function missingType(body: Body): undefined {
  body.errors.add('type', 'Is required.');
}

/** The objects of a list, each reading under its place: `sections.0.rows.2`. */
export const items = (body: Body, name: string): Body[] =>
  body.list(name).map((item, index) => new Body(item, body.errors, `${body.path(name)}.${index}.`));

const readButton = (button: Body) => ({ id: button.requiredText('id'), title: button.requiredText('title') });

const readList = (body: Body) => ({
  button: body.requiredText('list_button_text', 'button_text'),
  sections: items(body, 'sections').map(section =>
    said({
      title: section.text('title'),
      rows: items(section, 'rows').map(row =>
        said({ id: row.requiredText('id'), title: row.requiredText('title'), description: row.text('description') }),
      ),
    }),
  ),
});

function readLink(body: Body) {
  // Written flat or as an object; what is missing is named as the contract has it.
  const flat = body.has('display_text') || body.has('url');
  const link = body.object('cta_url') ?? (flat ? body : new Body({}, body.errors, `${body.path('cta_url')}.`));
  return { displayText: link.requiredText('display_text'), url: link.requiredText('url') };
}
