import type { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import { parseDateTime } from '../../platform/date-time.ts';
import { alias, dropUndefined, file, type Keywords, requiredChoice, requiredText, text } from '../runtime/fields.ts';
import type { SentMessageFragment } from './documents.generated.ts';

export const MEDIA_KINDS = { image: 'IMAGE', video: 'VIDEO', audio: 'AUDIO', document: 'DOCUMENT' } as const;

const TIME = { format: 'date-time', examples: ['2026-12-24T09:00:00+01:00'] };
/** Rejects a date without a time, which would mean midnight in UTC. */
const isTime = (value: string | null | undefined): boolean =>
  value == null || value === '' || (value.trim().length > 10 && parseDateTime(value) !== undefined);
const TIME_FAULT = 'Must be a time such as 2026-12-24T09:00:00+01:00.';

/** A time that may be missing or empty. */
export const timeField = (keywords: Keywords) => text({ ...TIME, ...keywords }).refine(isTime, TIME_FAULT);

/** When to send a message. */
export const SCHEDULED_AT = {
  scheduled_at: timeField({
    description: 'When to send the message, at most a year ahead; default: now. It is `queued` until then.',
  }),
};

/** Another time for a scheduled message. */
export const RESCHEDULED_AT = {
  scheduled_at: requiredText({ ...TIME, description: 'When to send the message, at most a year ahead.' }).refine(
    isTime,
    TIME_FAULT,
  ),
};

/** `scheduled_at` as GraphQL input; undefined: now. */
export const scheduledInput = (scheduledAt: string | null | undefined) =>
  scheduledAt ? { instant: toInstant(scheduledAt) } : undefined;

/** The instant of a time that the body's schema has accepted (`isTime`); in UTC unless the text has an offset. */
export const toInstant = (at: string): string => new Date(parseDateTime(at) ?? Number.NaN).toISOString();

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
    file: media_url ? { link: media_url } : { mediaId: (media_file ?? media_id) || '' },
    caption: caption || undefined,
    // Clients also send the name of other files, but only documents have one.
    filename: media_type === 'DOCUMENT' ? filename || undefined : undefined,
  });

/** Names of the file's fields in errors. */
export const mediaNames = ({ media_file }: Media) =>
  contentNames('media', {
    kind: 'media_type',
    file: 'media_url',
    'file.link': 'media_url',
    'file.mediaId': media_file ? 'media_file' : 'media_id',
  });

/** Names of a content's fields in errors. Fields that are not listed keep their GraphQL name. */
export const contentNames = (
  content: 'text' | 'media' | 'interactive' | 'template',
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => ({
  [`content.${content}`]: '',
  ...Object.fromEntries(Object.entries(names).map(([field, name]) => [`content.${content}.${field}`, name])),
});

export const MEDIA_NOTES =
  'Give `media_url`, which the network fetches, or send a form with `media_file`, or the `media_id` of an upload. A file is streamed to the network. Its type is detected from its content; a file name of another type is refused.';

/** The data of a send. */
export interface Sent<Row> {
  readonly result: { readonly row: Row | null; readonly contact_created: boolean | null } | null;
}

/** The message of a send; the runtime has already handled its user errors. @throws Error if there is no message */
export function sentRow<Row>(result: Sent<Row>['result']): Row {
  if (!result?.row) throw new Error('A send returned neither a message nor an error.');
  return result.row;
}

type WithStatus = Pick<SentMessageFragment, 'status'>;

/** A status in REST, whose contract has none for cancelled and scheduled messages. */
export const wireStatus = (status: SentMessageFragment['status']): string =>
  status === 'CANCELLED' ? 'failed' : status === 'SCHEDULED' ? 'queued' : status.toLowerCase();

/** The message of the answer to a send. */
export const sentText = ({ status }: WithStatus): string =>
  status === 'QUEUED' || status === 'SCHEDULED' ? 'Message queued' : 'Message sent';

/** Errors of every send. */
export const SENDING_ERRORS: readonly ErrorCode[] = [
  'NOT_FOUND',
  'FEATURE_LIMIT_EXCEEDED',
  'CONTACT_OPTED_OUT',
  'MESSAGING_NOT_CONFIGURED',
  'MESSAGE_SEND_FAILED',
];
