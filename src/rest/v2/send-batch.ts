import { z } from 'zod';
import { FieldErrorList, type FieldErrors, fieldsOverlap, isFieldCode, STAND_IN } from '../../core/errors.ts';
import { isObject } from '../../platform/json.ts';
import { type AnswerSchema, jsonSchemaOf, selectionOf } from '../openapi/schema.ts';
import {
  alias,
  body,
  dropUndefined,
  flag,
  object,
  openBody,
  readBody,
  requiredList,
  requiredText,
} from '../runtime/fields.ts';
import { faultsOfKinds, repairedBodies } from '../runtime/repair.ts';
import { detailsOf } from '../runtime/rest-error.ts';
import { type Route, route } from '../runtime/route.ts';
import { type SendMessageInput, SendMessagesDocument, type SendMessagesMutation } from '../wire/documents.generated.ts';
import { namedPath } from '../wire/names.ts';
import { checkMedia, contentNames, MEDIA, mediaInput, mediaNames } from '../wire/sending.ts';
import {
  checkTemplateValues,
  languageNamed,
  TEMPLATE_NAME,
  TEMPLATE_VALUES,
  templateInput,
  templateNames,
} from '../wire/template-values.ts';
import { INTERACTIVE, INTERACTIVE_NAMES, interactiveInput } from './interactive.ts';
import { checkRecipient, messageInput, RECIPIENT, SENDING_NAMES, sentMessage } from './sending.ts';

const { media_file: _file, ...LINKED_MEDIA } = MEDIA;

const TEXT = body(
  { ...RECIPIENT, preview_url: flag(), message: alias(requiredText(), 'text', 'body') },
  checkRecipient,
);
const LINKED = body({ ...RECIPIENT, ...LINKED_MEDIA }, checkRecipient, checkMedia);
const TEMPLATE = openBody(
  { ...RECIPIENT, template_name: TEMPLATE_NAME, language: languageNamed('template_language'), ...TEMPLATE_VALUES },
  checkRecipient,
  checkTemplateValues,
);

type Names = Readonly<Record<string, string>>;

interface ReadMessage {
  readonly sent: unknown;
  readonly input: SendMessageInput;
  readonly names: Names;
  /** The faults of an unreadable message. Faults that sending finds in its other fields are added to them. */
  readonly faults: FieldErrors | undefined;
  /** Whether to report the faults that sending finds in the content: not if it contains one of several possible replacement values. */
  readonly checksContent?: boolean;
}

/** Returns the reader of one kind of content: its body, and the names of its fields in errors. */
const kind =
  <Body extends z.ZodType<Parameters<typeof messageInput>[0]>>(
    schema: Body,
    content: (body: z.output<Body>) => SendMessageInput['content'],
    names: (body: z.output<Body>) => Names,
  ) =>
  (sent: unknown, errors: FieldErrorList): Omit<ReadMessage, 'sent' | 'faults'> | undefined => {
    const made = (read: z.output<Body>) => ({
      input: { ...messageInput(read), content: content(read) },
      names: { ...SENDING_NAMES, ...names(read) },
    });
    const read = readBody(schema, sent, errors);
    if (read) return made(read);
    for (const { path, message } of faultsOfKinds(schema, sent)) errors.add(path.join('.'), message);
    const bodies = repairedBodies(schema, sent);
    const repaired = bodies.length === 0 ? undefined : schema.safeParse(bodies[0]).data;
    return repaired && { ...made(repaired), checksContent: bodies.length === 1 };
  };

const KINDS = {
  text: kind(
    TEXT,
    ({ message, preview_url }) => ({ text: { body: message, previewUrl: preview_url ?? false } }),
    () => contentNames('text', { body: 'message' }),
  ),
  media: kind(LINKED, read => ({ media: mediaInput(read) }), mediaNames),
  template: kind(
    TEMPLATE,
    read => ({
      template: dropUndefined({ name: read.template_name, language: read.language, ...templateInput(read) }),
    }),
    templateNames,
  ),
  interactive: kind(
    INTERACTIVE,
    read => ({ interactive: interactiveInput(read) }),
    () => contentNames('interactive', INTERACTIVE_NAMES),
  ),
};

/** Reads a message of unknown kind: only the fields that all kinds have. */
const NO_KIND = kind(
  openBody(RECIPIENT, checkRecipient),
  () => ({ text: { body: STAND_IN } }),
  () => ({}),
);

/** A field that REST does not have, with a value that sending refuses: a repaired message is validated, but never sent. */
const REFUSED = { echoId: STAND_IN.repeat(300) };

/** Replaces a message that cannot be read at all: it is refused, counted and rolled back like any other. */
const UNREADABLE: SendMessageInput = { to: { phone: '' }, content: { text: { body: '' } }, ...REFUSED };

/** Reads one message. A faulty message does not fail the others. */
function readMessage(sent: unknown): ReadMessage {
  const errors = new FieldErrorList();
  const given = isObject(sent) ? sent : {};
  const named = given['kind'] ?? inferredKind(given);
  const read =
    typeof named === 'string' && Object.hasOwn(KINDS, named) ? KINDS[named as keyof typeof KINDS] : undefined;
  if (!read) errors.add('kind', `Must be one of: ${Object.keys(KINDS).join(', ')}.`);
  const key = keyOf(given['idempotency_key'], errors);
  const message = (read ?? NO_KIND)(sent, errors);
  if (!message) return { sent, input: UNREADABLE, names: {}, faults: errors.fields };
  if (!errors.isEmpty) return { ...message, sent, input: { ...message.input, ...REFUSED }, faults: errors.fields };
  const input = key === undefined ? message.input : { ...message.input, idempotencyKey: key };
  return { sent, input, names: message.names, faults: undefined };
}

/** The idempotency key of one message, quoted or bare. Ignoring an invalid key would let a repeated request send the message twice. */
function keyOf(key: unknown, errors: FieldErrorList): string | undefined {
  if (key == null) return undefined;
  if (typeof key === 'string' || typeof key === 'number') return String(key);
  errors.add('idempotency_key', 'Must be text.');
  return undefined;
}

function inferredKind(given: Readonly<Record<string, unknown>>): keyof typeof KINDS {
  if ('template_name' in given) return 'template';
  if ('media_url' in given || 'media_id' in given || 'media_type' in given) return 'media';
  return 'body_text' in given ? 'interactive' : 'text';
}

const ITEM = z
  .unknown()
  .transform(readMessage)
  .meta({
    type: 'object',
    description: 'The body of POST /messages/text, /media, /template or /interactive, with its kind.',
    properties: {
      kind: {
        type: 'string',
        enum: Object.keys(KINDS),
        description: 'Kind of content. Default: by the fields that are given.',
      },
      idempotency_key: { type: 'string', maxLength: 255, description: 'Key of this message alone.' },
    },
    anyOf: [TEXT, LINKED, TEMPLATE, INTERACTIVE].map(schema => jsonSchemaOf(schema)),
  });

const INDEX = z.int().describe('Position of the message in the batch, starting at 0.');

type Result = SendMessagesMutation['result']['results'][number];

/** The errors of a message in REST's names: below the message, which is the third step of their paths. */
function wireErrors({ userErrors }: Result, names: Names): FieldErrors {
  const errors = new FieldErrorList();
  for (const { code, path, message } of userErrors)
    errors.add(code === 'ROLLED_BACK' ? 'batch' : namedPath(path.slice(2).join('.'), names) || 'message', message);
  return errors.fields;
}

/** The faults of an unreadable message, and those that sending found in its other fields. */
function unreadableErrors(
  { userErrors }: Result,
  { faults = {}, names, input, checksContent = true }: ReadMessage,
): FieldErrors {
  if (input === UNREADABLE) return faults;
  const errors = new FieldErrorList();
  for (const [field, messages] of Object.entries(faults)) for (const message of messages) errors.add(field, message);
  for (const { code, path, message } of userErrors) {
    if (!isFieldCode(code)) continue;
    const [first, ...others] = path.slice(2);
    const field = namedPath([first, ...others].join('.'), names);
    const isOurs = first === 'echoId' || message.includes(STAND_IN) || (first === 'content' && !checksContent);
    if (!isOurs && !Object.keys(faults).some(known => fieldsOverlap(field, known))) errors.add(field, message);
  }
  return errors.fields;
}

const SENT: Readonly<Record<string, AnswerSchema>> = {
  index: INDEX,
  contact_created: z.boolean().nullable().describe('Whether the send created the contact.'),
  phone: z
    .string()
    .nullable()
    .meta({ description: 'Phone number without its `+`.', examples: ['14155550123'] }),
};

export const sendBatchRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/batch',
    document: SendMessagesDocument,
    summary: 'Sends up to 500 messages.',
    notes:
      'Each message has an outcome. The answer does not wait for the network: `chat_message_id` finds the message. With `Idempotency-Key`, a repetition returns the first answer, and after a crash it accepts what is missing; a message may have an `idempotency_key` of its own.',
    withoutEnvelope: true,
    body: body({
      messages: requiredList(ITEM, { minItems: 1, maxItems: 500 }),
      options: object({ continue_on_error: flag() }),
    }),
    example: {
      messages: [
        { phone: '+14155550123', message: 'Hello @{contact_first_name|there}' },
        { kind: 'text', phone: '+14155550124', message: 'Hello' },
      ],
      options: { continue_on_error: true },
    },
    answer: z.object({
      success: z.boolean().describe('False if an error rolled the whole batch back.'),
      summary: z.object({
        total: z.int().describe('Number of messages in the request.'),
        created: z.int().describe('Number of messages accepted.'),
        failed: z.int().describe('Number of messages not accepted.'),
      }),
      created: z.array(selectionOf('result.results.message', { with: SENT })).describe('The accepted messages.'),
      errors: z
        .array(
          z.object({
            index: INDEX,
            data: z.any().describe('The message as it was sent.'),
            code: z.string().describe('Code of the first error.'),
            details: z
              .record(z.string(), z.any())
              .optional()
              .describe('What the code has besides, as in `error.details`.'),
            errors: z.record(z.string(), z.array(z.string())).describe('Error messages by field name.'),
          }),
        )
        .describe('Messages that were not accepted.'),
    }),
    variables: ({ call, body: { messages, options } }) => ({
      input: dropUndefined({
        messages: messages.map(({ input }) => input),
        onError: options?.continue_on_error === false ? ('ROLL_BACK' as const) : ('CONTINUE' as const),
        idempotencyKey: call.idempotencyKey,
      }),
    }),
    respond: ({ result: { summary, results } }, { body: { messages } }) => {
      const failed = results.filter(({ outcome }) => outcome !== 'CREATED');
      return {
        message: '',
        data: {
          success: !summary?.isRolledBack,
          summary: { total: results.length, created: results.length - failed.length, failed: failed.length },
          created: results.flatMap(({ index, message, contact_created }) =>
            message ? [{ index, ...sentMessage(message, { contact_created }) }] : [],
          ),
          errors: failed.map(result => {
            const read = messages[result.index];
            return {
              index: result.index,
              data: read?.sent,
              ...(read?.faults ? { code: 'VALIDATION_ERROR' } : wireCode(result)),
              errors: read?.faults ? unreadableErrors(result, read) : wireErrors(result, read?.names ?? {}),
            };
          }),
        },
      };
    },
  }),
];

/** As in other errors, faults of fields are a VALIDATION_ERROR. */
function wireCode({ userErrors: [first] }: Result) {
  if (first === undefined || isFieldCode(first.code)) return { code: 'VALIDATION_ERROR' };
  const details = detailsOf(first);
  return { code: first.code, ...(details && { details }) };
}
