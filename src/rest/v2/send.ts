import { z } from 'zod';
import { type AnswerSchema, echoOf } from '../openapi/schema.ts';
import { alias, body, dropUndefined, flag, openBody, requiredText } from '../runtime/fields.ts';
import { type Route, route } from '../runtime/route.ts';
import {
  SendInteractiveDocument,
  SendMediaDocument,
  SendTemplateDocument,
  SendTextDocument,
} from '../wire/documents.generated.ts';
import {
  checkMedia,
  contentNames,
  MEDIA,
  MEDIA_KINDS,
  MEDIA_NOTES,
  mediaInput,
  mediaNames,
  SENDING_ERRORS,
} from '../wire/sending.ts';
import {
  checkTemplateValues,
  languageNamed,
  sentValues,
  TEMPLATE_NAME,
  TEMPLATE_VALUES,
  templateInput,
  templateNames,
} from '../wire/template-values.ts';
import { INTERACTIVE, INTERACTIVE_ECHO, INTERACTIVE_NAMES, interactiveEcho, interactiveInput } from './interactive.ts';
import { checkRecipient, RECIPIENT, SENDING_NAMES, sendingInput, sentResponse, sentSchema } from './sending.ts';

const LANGUAGE = languageNamed('template_language');

const TEMPLATE_ECHO: Readonly<Record<string, AnswerSchema>> = {
  template_name: echoOf(TEMPLATE_NAME),
  language: echoOf(LANGUAGE),
  ...Object.fromEntries(
    Object.entries(TEMPLATE_VALUES)
      .filter(([name]) => !name.endsWith('_file'))
      .map(([name, field]) => [name, echoOf(field).optional()]),
  ),
};

export const sendRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/text',
    document: SendTextDocument,
    inputTypes: ['TextInput'],
    summary: 'Sends a text.',
    async: true,
    body: body({ ...RECIPIENT, preview_url: flag(), message: alias(requiredText(), 'text', 'body') }, checkRecipient),
    example: { phone: '+14155550123', message: 'Hello @{contact_first_name}', contact: { firstname: 'Ana' } },
    answer: sentSchema({ preview_url: z.boolean().describe('Whether WhatsApp shows a preview of the first link.') }),
    errors: [...SENDING_ERRORS, 'OUTSIDE_SERVICE_WINDOW'],
    names: { ...SENDING_NAMES, ...contentNames('text', { body: 'message' }) },
    variables: ({ call, body }) => ({
      input: {
        ...sendingInput(call, body),
        content: { text: { body: body.message, previewUrl: body.preview_url ?? false } },
      },
    }),
    respond: (data, { call, body }) =>
      sentResponse(call, data, ({ message }) => ({ message, preview_url: body.preview_url ?? false })),
  }),
  route({
    method: 'POST',
    path: '/messages/interactive',
    document: SendInteractiveDocument,
    inputTypes: ['InteractiveInput'],
    summary: 'Sends a text with buttons, a list or a link button.',
    notes: "The recipient's choice arrives as an inbound message.",
    async: true,
    body: INTERACTIVE,
    example: {
      phone: '+14155550123',
      type: 'button',
      body_text: 'Shall we deliver today?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No' },
      ],
    },
    answer: sentSchema(INTERACTIVE_ECHO),
    errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE', 'OUTSIDE_SERVICE_WINDOW'],
    names: { ...SENDING_NAMES, ...contentNames('interactive', INTERACTIVE_NAMES) },
    variables: ({ call, body }) => ({
      input: { ...sendingInput(call, body), content: { interactive: interactiveInput(body) } },
    }),
    respond: (data, { call, body }) =>
      sentResponse(call, data, ({ body_text }) => ({ ...interactiveEcho(body), body_text })),
  }),
  route({
    method: 'POST',
    path: '/messages/media',
    document: SendMediaDocument,
    inputTypes: ['MediaInput', 'FileInput'],
    summary: 'Sends a file.',
    async: true,
    notes: MEDIA_NOTES,
    body: body({ ...RECIPIENT, ...MEDIA }, checkRecipient, checkMedia),
    example: {
      phone: '+14155550123',
      media_type: 'document',
      media_url: 'https://example.com/invoice.pdf',
      caption: 'Your invoice, @{contact_first_name}',
      filename: 'invoice.pdf',
    },
    answer: sentSchema({
      media_type: z.enum(Object.keys(MEDIA_KINDS)).describe('The type of message.'),
      media_url: z.string().nullable().describe('URL from the request; null for an uploaded file.'),
      filename: z.string().nullable().describe('The name of a document.'),
      caption: z.string().nullable().describe('The caption with merge fields filled.'),
    }),
    errors: [...SENDING_ERRORS, 'OUTSIDE_SERVICE_WINDOW', 'FEATURE_NOT_AVAILABLE'],
    names: ({ body }) => ({ ...SENDING_NAMES, ...mediaNames(body) }),
    variables: ({ call, body }) => ({ input: { ...sendingInput(call, body), content: { media: mediaInput(body) } } }),
    respond: (data, { call, body }) =>
      sentResponse(call, data, ({ filename, caption }) => ({
        media_type: body.media_type.toLowerCase(),
        media_url: body.media_url || null,
        filename: filename?.filename ?? null,
        caption,
      })),
  }),
  route({
    method: 'POST',
    path: '/messages/template',
    document: SendTemplateDocument,
    summary: 'Sends a template.',
    notes: 'A one-time code is stored encrypted until it is sent, and shown as `••••••`.',
    async: true,
    body: openBody(
      {
        ...RECIPIENT,
        template_name: TEMPLATE_NAME,
        language: LANGUAGE,
        ...TEMPLATE_VALUES,
      },
      checkRecipient,
      checkTemplateValues,
    ),
    example: {
      phone: '+14155550123',
      template_name: 'order_confirmation',
      language: 'en_US',
      field_1: 'Ana',
      field_2: '1042',
    },
    answer: sentSchema(TEMPLATE_ECHO, ['sent']),
    errors: [...SENDING_ERRORS, 'FEATURE_NOT_AVAILABLE'],
    names: ({ body }) => ({ ...SENDING_NAMES, ...templateNames(body) }),
    variables: ({ call, body }) => {
      const template = dropUndefined({ name: body.template_name, language: body.language, ...templateInput(body) });
      return { input: { ...sendingInput(call, body), content: { template } } };
    },
    respond: (data, { call, body }) =>
      sentResponse(call, data, ({ message, sent }) => ({
        template_name: body.template_name,
        language: body.language,
        message,
        ...sentValues(sent),
      })),
  }),
];
