import { type Body, said } from '../body.ts';
import { SendMediaDocument } from '../documents.generated.ts';
import { choice, type Fields, file, nullable, required, text } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { readSending, SENDING_ERRORS, sendingBody, sentAnswer } from './sending.ts';

const KINDS = { image: 'IMAGE', video: 'VIDEO', audio: 'AUDIO', document: 'DOCUMENT' } as const;
const WORDS = Object.keys(KINDS);

/** The fields that say what is sent. */
export const MEDIA: Fields = {
  media_type: required(choice(WORDS, 'What it is sent as.')),
  media_url: text('Where the network fetches the file: http or https.', { max: 2_000, format: 'uri' }),
  media_file: file(
    'The file, in a form: an image (JPEG, PNG, WebP; 5 MB), a video (MP4, 3GP; 16 MB), audio (MP3, Ogg, AMR, AAC; 16 MB) or a document (PDF, Office, TXT, CSV; 100 MB). `channel_id`, where it is given, has to stand before it.',
  ),
};

/** Reads what is sent, and how errors name its fields. */
export function readMedia(body: Body) {
  const kind = body.choice(KINDS, 'media_type', 'type');
  if (kind == null) body.missing('media_type');
  const link = body.text('media_url') || undefined;
  const received = body.file('media_file');
  const known = body.text('media_id') || undefined;
  if ([link, received, known].filter(Boolean).length !== 1 && !Object.hasOwn(body.errors.fields, 'media_file'))
    body.errors.add('media_url', 'Give one of media_url, media_file and media_id.');
  const input = said({
    kind: kind ?? ('DOCUMENT' as const),
    link,
    mediaId: received ?? known,
    caption: body.text('caption') || undefined,
    // Clients that send everything send it with a picture too; only a document is called anything.
    filename: kind === 'DOCUMENT' ? body.text('filename') || undefined : undefined,
  });
  return { input, names: { kind: 'media_type', link: 'media_url', mediaId: received ? 'media_file' : 'media_id' } };
}

export const MEDIA_NOTES =
  'Give `media_url`, which the network fetches, or send a form with `media_file`, or the `media_id` of an upload. A file is streamed to the network; what it is shows in its content, and a name that says otherwise is refused.';

export const sendMediaRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/media',
    document: SendMediaDocument,
    async: true,
    notes: MEDIA_NOTES,
    body: sendingBody({
      without: ['require_open_window', 'kind', 'link'],
      with: MEDIA,
    }),
    example: {
      phone: '+14155550123',
      media_type: 'document',
      media_url: 'https://example.com/invoice.pdf',
      caption: 'Your invoice, @{contact_first_name}',
      filename: 'invoice.pdf',
    },
    answer: sentAnswer({
      media_type: choice(WORDS, 'What it was sent as.'),
      media_url: nullable(text('The address that was given; null for a file.')),
      filename: nullable(text('What a document is called.')),
      caption: nullable(text('As it was sent, merge fields filled.')),
    }),
    errors: [...SENDING_ERRORS, 'OUTSIDE_SERVICE_WINDOW', 'FEATURE_NOT_AVAILABLE'],
    plan: call => {
      const body = call.body();
      const sending = readSending(call, body);
      const { input, names } = readMedia(body);
      return {
        variables: { input: { ...sending.input, ...input } },
        names: { ...sending.names, ...names },
        respond: ({ message }) =>
          sending.answer(message, {
            media_type: input.kind.toLowerCase(),
            media_url: input.link ?? null,
            filename: message.filename?.filename ?? null,
            caption: message.caption,
          }),
      };
    },
  }),
];
