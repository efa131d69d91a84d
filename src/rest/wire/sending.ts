import type { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import { alias, dropUndefined, file, requiredChoice, text } from '../runtime/fields.ts';
import type { SentMessageFragment } from './documents.generated.ts';

export const MEDIA_KINDS = { image: 'IMAGE', video: 'VIDEO', audio: 'AUDIO', document: 'DOCUMENT' } as const;

/** The fields of a body that sends a file. */
export const MEDIA = {
  media_type: alias(requiredChoice(MEDIA_KINDS, { description: 'Type of the message.' }), 'type'),
  media_url: text({ maxLength: 2_000, format: 'uri', description: 'The http or https URL of the file.' }),
  media_file: file({
    description:
      'The file in a multipart form: an image (JPEG, PNG, WebP; 5 MB), a video (MP4, 3GP; 16 MB), audio (MP3, Ogg, AMR, AAC; 16 MB) or a document (PDF, Office, TXT, CSV; 100 MB). `channel_id` must precede it.',
  }),
  media_id: text({ type: ['integer', 'string'] }),
  caption: text(),
  filename: text({ maxLength: 255 }),
};

type Media = z.output<z.ZodObject<typeof MEDIA>>;

/** One file is required, from one place. */
export function checkMedia({ media_url, media_file, media_id }: Media, add: (field: string, message: string) => void) {
  if ([media_url, media_file, media_id].filter(Boolean).length !== 1)
    add('media_url', 'Give one of media_url, media_file and media_id.');
}

/** The file in GraphQL's names. */
export const mediaInput = ({ media_type, media_url, media_file, media_id, caption, filename }: Media) =>
  dropUndefined({
    kind: media_type,
    link: media_url || undefined,
    mediaId: (media_file ?? media_id) || undefined,
    caption: caption || undefined,
    // Clients also send the name of other files, but only documents have one.
    filename: media_type === 'DOCUMENT' ? filename || undefined : undefined,
  });

/** Names of the file's fields in errors. */
export const mediaNames = ({ media_file }: Media) => ({
  kind: 'media_type',
  link: 'media_url',
  mediaId: media_file ? 'media_file' : 'media_id',
});

export const MEDIA_NOTES =
  'Give `media_url`, which the network fetches, or send a form with `media_file`, or the `media_id` of an upload. A file is streamed to the network. Its type is detected from its content; a file name of another type is refused.';

type Sent = Pick<SentMessageFragment, 'status'>;

/** The contract has no status for a cancelled message: it is shown as failed. */
export const sentStatus = ({ status }: Sent): string => (status === 'CANCELLED' ? 'failed' : status.toLowerCase());

/** The message of the answer to a send. */
export const sentText = ({ status }: Sent): string => (status === 'QUEUED' ? 'Message queued' : 'Message sent');

/** Errors of every send. */
export const SENDING_ERRORS: readonly ErrorCode[] = [
  'NOT_FOUND',
  'FEATURE_LIMIT_EXCEEDED',
  'CONTACT_OPTED_OUT',
  'MESSAGING_NOT_CONFIGURED',
  'MESSAGE_SEND_FAILED',
];
