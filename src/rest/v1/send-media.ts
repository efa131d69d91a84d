import { SendMediaDocument } from '../documents.generated.ts';
import { given } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { MEDIA, MEDIA_NOTES, readMedia } from '../v2/send-media.ts';
import { SENDING_ERRORS } from '../v2/sending.ts';
import { RECIPIENT, readSending, SENDING_NAMES, sentMessage, sentRow, sentShape, UNSAID } from './sending.ts';

export const sendMediaRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/media',
    document: SendMediaDocument,
    notes: MEDIA_NOTES,
    body: given('input', {
      without: [...UNSAID, 'require_open_window', 'kind', 'link'],
      with: { ...RECIPIENT, ...MEDIA },
    }),
    example: {
      phone_number: '+14155550123',
      media_type: 'document',
      media_url: 'https://example.com/invoice.pdf',
      caption: 'Your invoice, @{contact_first_name}',
      filename: 'invoice.pdf',
    },
    answer: sentShape(),
    errors: [...SENDING_ERRORS, 'OUTSIDE_SERVICE_WINDOW', 'FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const body = call.body();
      const sending = readSending(call, body);
      const { input, names } = readMedia(body);
      return {
        variables: { input: { ...sending, ...input } },
        names: { ...SENDING_NAMES, ...names },
        respond: ({ message }) => ({ message: sentMessage(message), data: sentRow(message) }),
      };
    },
  }),
];
