import { Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import { SendInteractiveDocument, SendTextDocument } from '../documents.generated.ts';
import { choice, given, list, object, required, text } from '../openapi/shape.ts';
import { oneOf, type Route, route } from '../route.ts';
import { SENDING_ERRORS } from '../v2/sending.ts';
import { RECIPIENT, readSending, SENDING_NAMES, sentMessage, sentRow, sentShape } from './sending.ts';

const TYPES = { text: 'text', interactive: 'interactive', cta_url: 'cta_url' } as const;
type Type = keyof typeof TYPES;

const typeOf = (body: Body): Type => body.choice(TYPES, 'message_type') ?? 'text';

/** What belongs to each type beside its text. Elsewhere it would be left out without a word. */
const FIELDS: Readonly<Record<Type, readonly string[]>> = {
  text: [],
  interactive: ['header', 'footer', 'buttons'],
  cta_url: ['header', 'footer', 'button_text', 'button_url'],
};
const ALL = [...new Set(Object.values(FIELDS).flat())];

function refuseOthers(body: Body, type: Type): void {
  for (const name of ALL)
    if (!FIELDS[type].includes(name) && isGiven(body, name))
      body.errors.add(name, `Does not belong to message_type ${type}.`);
}

/** Clients that send everything send an empty list too. */
const isGiven = (body: Body, name: string): boolean =>
  body.has(name) && (name !== 'buttons' || body.listOrCommas(name).length > 0);

const readText = (body: Body): string => body.requiredText('message_body', 'message', 'text');

/** A button is an object, or the text that stands on it and comes back with the answer. */
const readButtons = (body: Body) =>
  body.listOrCommas('buttons').map((item, index) => {
    const written = typeof item === 'string' ? { title: item.trim() } : item;
    const button = new Body(written, body.errors, `buttons.${index}.`);
    const title = button.requiredText('title', 'text');
    return { id: button.text('id') || title, title };
  });

const asText = route({
  method: 'POST',
  path: '/messages/send',
  document: SendTextDocument,
  plan: call => {
    const body = call.body();
    refuseOthers(body, 'text');
    return {
      variables: { input: { ...readSending(call, body), text: readText(body) } },
      names: { ...SENDING_NAMES, text: 'message_body' },
      respond: ({ message }) => ({ message: sentMessage(message), data: sentRow(message) }),
    };
  },
});

const asInteractive = route({
  method: 'POST',
  path: '/messages/send',
  document: SendInteractiveDocument,
  plan: call => {
    const body = call.body();
    const type = typeOf(body);
    refuseOthers(body, type);
    const input = said({
      ...readSending(call, body),
      body: readText(body),
      header: body.text('header') || undefined,
      footer: body.text('footer') || undefined,
      buttons: type === 'interactive' ? readButtons(body) : undefined,
      ctaUrl:
        type === 'cta_url'
          ? { displayText: body.requiredText('button_text'), url: body.requiredText('button_url') }
          : undefined,
    });
    return {
      variables: { input },
      names: {
        ...SENDING_NAMES,
        body: 'message_body',
        'ctaUrl.displayText': 'button_text',
        'ctaUrl.url': 'button_url',
      },
      respond: ({ message }) => ({ message: sentMessage(message), data: sentRow(message) }),
    };
  },
});

const wanted = (call: Call): Route => (typeOf(call.body()) === 'text' ? asText : asInteractive);

export const sendRoutes: readonly Route[] = [
  oneOf(
    {
      operationId: 'SendMessage',
      summary: 'Sends a text, a text with buttons, or one with a link.',
      successor: '/messages/text',
      notes: 'In version 2 buttons and links are sent by `/messages/interactive`.',
      body: object({
        ...RECIPIENT,
        message_type: choice(Object.keys(TYPES), '`text` when nothing is said.'),
        message_body: required(given('input.text')),
        header: text('A line above, of an interactive message or a link.', { max: 60 }),
        footer: text('A line below, of the same.', { max: 60 }),
        buttons: list(
          object({
            id: text('Comes back with the answer; the title when nothing is said.', { max: 256 }),
            title: required(text('What stands on it.', { max: 20 })),
          }),
          'Of an interactive message: 1 to 3. Texts will do, also with commas between.',
          { max: 3 },
        ),
        button_text: text('What stands on the button of a link.', { max: 20 }),
        button_url: text('Where a link leads: http or https.', { max: 2_000 }),
      }),
      example: {
        phone_number: '+14155550123',
        message_type: 'interactive',
        message_body: 'Shall we deliver today?',
        buttons: [
          { id: 'yes', title: 'Yes' },
          { id: 'no', title: 'No' },
        ],
      },
      answer: sentShape(),
      errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE', 'OUTSIDE_SERVICE_WINDOW'],
    },
    [asText, asInteractive],
    wanted,
  ),
];
