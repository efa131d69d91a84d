import { said } from '../body.ts';
import { SendInteractiveDocument, SendTextDocument } from '../documents.generated.ts';
import { flag } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { INTERACTIVE_BODY, INTERACTIVE_ECHO, INTERACTIVE_NAMES, readInteractive } from './interactive.ts';
import { readSending, SENDING_ERRORS, sendingBody, sentAnswer } from './sending.ts';

export const sendRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/text',
    document: SendTextDocument,
    async: true,
    body: sendingBody({ without: ['require_open_window'] }),
    example: { phone: '+14155550123', message: 'Hello @{contact_first_name}', contact: { firstname: 'Ana' } },
    answer: sentAnswer({ preview_url: flag('Whether a preview of the first link is shown.') }),
    errors: [...SENDING_ERRORS, 'OUTSIDE_SERVICE_WINDOW'],
    plan: call => {
      const body = call.body();
      const sending = readSending(call, body);
      const previewUrl = body.flag('preview_url') ?? false;
      const text = body.requiredText('message', 'text', 'body');
      return {
        variables: { input: { ...sending.input, text, previewUrl } },
        names: sending.names,
        respond: ({ message }) => sending.answer(message, { message: message.message, preview_url: previewUrl }),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/messages/interactive',
    document: SendInteractiveDocument,
    async: true,
    body: INTERACTIVE_BODY,
    example: {
      phone: '+14155550123',
      type: 'button',
      body_text: 'Shall we deliver today?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No' },
      ],
    },
    answer: sentAnswer(INTERACTIVE_ECHO),
    errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE', 'OUTSIDE_SERVICE_WINDOW'],
    plan: call => {
      const body = call.body();
      const sending = readSending(call, body);
      const { input, echo } = readInteractive(body);
      return {
        variables: { input: said({ ...sending.input, ...input }) },
        names: { ...sending.names, ...INTERACTIVE_NAMES },
        respond: ({ message }) => sending.answer(message, { ...echo, body_text: message.body_text }),
      };
    },
  }),
];
