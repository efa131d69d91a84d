import { z } from 'zod';
import {
  type AddFault,
  alias,
  body,
  choice,
  dropUndefined,
  itemsOf,
  list,
  REQUIRED,
  requiredText,
  text,
} from '../runtime/fields.ts';
import { type Input, operation, type Route, route, routeByBody } from '../runtime/route.ts';
import { SendInteractiveDocument, SendMediaDocument, SendTextDocument } from '../wire/documents.generated.ts';
import {
  checkMedia,
  contentNames,
  MEDIA,
  MEDIA_NOTES,
  mediaInput,
  mediaNames,
  SENDING_ERRORS,
} from '../wire/sending.ts';
import { RECIPIENT, SENDING_NAMES, SENT_MESSAGE, sendingInput, sentResponse } from './sending.ts';

const TYPES = { text: 'text', interactive: 'interactive', cta_url: 'cta_url' } as const;

/** The fields of each type, apart from its text. Fields of another type are refused rather than ignored silently. */
const FIELDS = {
  text: [],
  interactive: ['header', 'footer', 'buttons'],
  cta_url: ['header', 'footer', 'button_text', 'button_url'],
} as const satisfies Record<keyof typeof TYPES, readonly string[]>;
const ALL = ['header', 'footer', 'buttons', 'button_text', 'button_url'] as const;

/** A button is an object, or the text that it shows and returns. */
const BUTTON = z.preprocess(
  written => (typeof written === 'string' ? { title: written.trim() } : written),
  body({
    title: alias(requiredText({ maxLength: 20, description: 'Label of the button.' }), 'text'),
    id: text({ maxLength: 256, description: "Identifier returned in the recipient's answer. Default: the title." }),
  }),
);

const MESSAGE = {
  ...RECIPIENT,
  message_type: choice(TYPES, { description: 'Type of the message. Default: `text`.' }),
  message_body: alias(
    requiredText({ description: 'Text of the message, at most 4096 characters after merging.' }),
    'message',
    'text',
  ),
  header: text({ maxLength: 60, description: 'Line above the text of an interactive message or a link.' }),
  footer: text({ maxLength: 60, description: 'Line below the text of an interactive message or a link.' }),
  buttons: z
    .preprocess(
      sent => (typeof sent === 'string' ? itemsOf(sent) : sent),
      list(BUTTON, {
        maxItems: 3,
        description: '1 to 3 buttons of an interactive message: objects, or titles as an array or separated by commas.',
      }),
    )
    .optional(),
  button_text: text({ maxLength: 20, description: 'Label of the button of a link.' }),
  button_url: text({ maxLength: 2_000, description: 'The http or https URL of a link.' }),
};
type Message = z.output<z.ZodObject<typeof MESSAGE>>;

function checkType(message: Message, add: AddFault): void {
  const type = message.message_type ?? 'text';
  // An unknown type is reported by itself.
  if (!Object.hasOwn(FIELDS, type)) return;
  const fields: readonly string[] = FIELDS[type];
  for (const name of ALL) {
    const value = message[name];
    // Clients that send all fields send empty ones too.
    const isGiven = value != null && value.length > 0;
    if (isGiven && !fields.includes(name)) add(name, `Does not belong to message_type ${type}.`, 'surplus');
    const isRequired = name === 'button_text' || name === 'button_url' || (name === 'buttons' && value == null);
    if (!isGiven && isRequired && fields.includes(name)) add(name, REQUIRED);
  }
}

const asText = operation({
  document: SendTextDocument,
  names: { ...SENDING_NAMES, ...contentNames('text', { body: 'message_body' }) },
  variables: ({ call, body }: Input<Message>) => ({
    input: { ...sendingInput(call, body), content: { text: { body: body.message_body } } },
  }),
  respond: sentResponse,
});

const asInteractive = operation({
  document: SendInteractiveDocument,
  names: {
    ...SENDING_NAMES,
    ...contentNames('interactive', {
      body: 'message_body',
      'ctaUrl.displayText': 'button_text',
      'ctaUrl.url': 'button_url',
    }),
  },
  variables: ({ call, body }: Input<Message>) => {
    const interactive = dropUndefined({
      body: body.message_body,
      header: body.header || undefined,
      footer: body.footer || undefined,
      ...(body.message_type === 'interactive'
        ? { buttons: body.buttons?.map(({ id, title }) => ({ replyId: id || title, title })) }
        : { ctaUrl: { displayText: body.button_text ?? '', url: body.button_url ?? '' } }),
    });
    return { input: { ...sendingInput(call, body), content: { interactive } } };
  },
  respond: sentResponse,
});

export const sendRoutes: readonly Route[] = [
  routeByBody(
    {
      method: 'POST',
      path: '/messages/send',
      operationId: 'SendMessage',
      summary: 'Sends a text, a text with buttons, or a text with a link.',
      successor: '/messages/text',
      notes: 'In version 2 buttons and links are sent by `/messages/interactive`.',
      body: body(MESSAGE, checkType),
      example: {
        phone_number: '+14155550123',
        message_type: 'interactive',
        message_body: 'Shall we deliver today?',
        buttons: [
          { id: 'yes', title: 'Yes' },
          { id: 'no', title: 'No' },
        ],
      },
      answer: SENT_MESSAGE,
      errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE', 'OUTSIDE_SERVICE_WINDOW'],
    },
    [asText, asInteractive],
    ({ message_type }) => ((message_type ?? 'text') === 'text' ? asText : asInteractive),
  ),
  route({
    method: 'POST',
    path: '/messages/media',
    document: SendMediaDocument,
    inputTypes: ['MediaInput', 'FileInput'],
    summary: 'Sends a file.',
    notes: MEDIA_NOTES,
    body: body({ ...RECIPIENT, ...MEDIA }, checkMedia),
    example: {
      phone_number: '+14155550123',
      media_type: 'document',
      media_url: 'https://example.com/invoice.pdf',
      caption: 'Your invoice, @{contact_first_name}',
      filename: 'invoice.pdf',
    },
    answer: SENT_MESSAGE,
    errors: [...SENDING_ERRORS, 'OUTSIDE_SERVICE_WINDOW', 'FEATURE_NOT_AVAILABLE'],
    names: ({ body }) => ({ ...SENDING_NAMES, ...mediaNames(body) }),
    variables: ({ call, body }) => ({ input: { ...sendingInput(call, body), content: { media: mediaInput(body) } } }),
    respond: sentResponse,
  }),
];
