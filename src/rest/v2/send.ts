import { said } from '../body.ts';
import { type Route, route } from '../route.ts';
import { SendInteractiveDocument, SendTextDocument } from './documents.generated.ts';
import { INTERACTIVE_NAMES, readInteractive } from './interactive.ts';
import { readSending } from './sending.ts';

export const sendRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/text',
    document: SendTextDocument,
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
