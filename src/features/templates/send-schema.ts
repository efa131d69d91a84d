import { builder } from '../../builder.ts';
import { Message } from '../messages/schema.ts';
import { sendFields, sendInputOf } from '../messages/send-input.ts';
import { MAX } from './parameters.ts';
import type { Rendered, RenderedButton, RenderedHeader } from './render.ts';
import { Category } from './schema.ts';
import { sendTemplate } from './send-template.ts';

const MERGED =
  'Merge fields such as `@{contact_first_name}` are filled from the contact. No line breaks, no tabs, no more than four spaces in a row.';

const file = (name: string, kind: string, withName: boolean) =>
  builder.inputRef<{ link?: string | null; mediaId?: string | null; filename?: string | null }>(name).implement({
    description: `The ${kind} of a header: exactly one of link and mediaId.`,
    fields: t => ({
      link: t.string({
        description: 'An http or https address from which the network fetches it. At most 2000 characters.',
      }),
      mediaId: t.id({ description: 'The id of an upload.' }),
      ...(withName && {
        filename: t.string({ description: 'What the person sees it called. At most 255 characters.' }),
      }),
    }),
  });

export const TemplateLocationInput = builder.inputType('TemplateLocationInput', {
  description: 'A place.',
  fields: t => ({
    latitude: t.float({ required: true, description: 'Degrees, from -90 to 90.' }),
    longitude: t.float({ required: true, description: 'Degrees, from -180 to 180.' }),
    name: t.string({ description: 'What it is called.' }),
    address: t.string({ description: 'Its address.' }),
  }),
});

export const HeaderInput = builder.inputType('TemplateHeaderInput', {
  description: 'What the header of a template shows: what its format asks for, and nothing else.',
  fields: t => ({
    text: t.string({
      description: `For the variable of a text header. At most ${MAX.headerText} characters. ${MERGED}`,
    }),
    image: t.field({ type: file('TemplateImageInput', 'picture', false), description: 'For the format IMAGE.' }),
    video: t.field({ type: file('TemplateVideoInput', 'video', false), description: 'For the format VIDEO.' }),
    document: t.field({
      type: file('TemplateDocumentInput', 'document', true),
      description: 'For the format DOCUMENT.',
    }),
    location: t.field({ type: TemplateLocationInput, description: 'For the format LOCATION.' }),
  }),
});

export const ParameterInput = builder.inputType('TemplateParameterInput', {
  description: 'The value of a named variable.',
  fields: t => ({
    name: t.string({ required: true, description: 'The name of the variable, without its braces.' }),
    value: t.string({ required: true, description: `At most ${MAX.body} characters. ${MERGED}` }),
  }),
});

export const ButtonInput = builder.inputType('TemplateButtonInput', {
  description: 'What a button of a template carries.',
  fields: t => ({
    index: t.int({ required: true, description: 'Its place, counted from 0 (`TemplateButton.index`).' }),
    value: t.string({
      required: true,
      description: `Of a link the end of its address; of a button that copies a code the code (at most ${MAX.coupon} characters); of a quick reply what comes back with the answer (at most ${MAX.payload} characters). ${MERGED}`,
    }),
  }),
});

const SendTemplateMessageInput = builder.inputType('SendTemplateMessageInput', {
  description:
    'A template to one person, in or outside the 24-hour service window. Missing and surplus values are errors of their fields (`body.1`, `buttons.0`) before anything is sent.',
  fields: t => ({
    ...sendFields(t),
    name: t.string({ required: true, description: 'The name of an approved template of the business account.' }),
    language: t.string({ required: true, description: 'Such as `en` or `en_US`: one in which the template exists.' }),
    category: t.field({ type: Category, description: 'Refuse a template of another category.' }),
    header: t.field({ type: HeaderInput, description: 'Where the header of the template has a variable or a file.' }),
    body: t.stringList({
      description: `The values of the variables of the text, in their order; each at most ${MAX.body} characters (a one-time code ${MAX.code}). ${MERGED}`,
    }),
    bodyByName: t.field({
      type: [ParameterInput],
      description: 'The same by name, where `Template.parameterFormat` is NAMED.',
    }),
    buttons: t.field({
      type: [ButtonInput],
      description: 'For buttons that need a value. The button of a one-time code carries the code by itself.',
    }),
  }),
});

builder.mutationField('sendTemplateMessage', t =>
  t.field({
    type: Message,
    description:
      'Sends a template. Once answered it is stored and will be sent, whatever happens to this process. A one-time code is stored sealed, and only until it is sent: `••••••` stands in its place.',
    authScopes: { scope: 'messages:send' },
    args: {
      input: t.arg({ type: SendTemplateMessageInput, required: true, description: 'What to send, and to whom.' }),
    },
    resolve: (_root, { input }, context) => sendTemplate(context, sendInputOf(input)),
  }),
);

const Header = builder.objectRef<RenderedHeader>('RenderedHeader').implement({
  description: 'What stood above the text of a template message.',
  fields: t => ({
    format: t.exposeString('format', { description: 'TEXT, IMAGE, VIDEO, DOCUMENT or LOCATION.' }),
    text: t.exposeString('text', { nullable: true, description: 'Of a text header.' }),
    link: t.exposeString('link', {
      nullable: true,
      description: 'Where the network fetched the file; null for an upload.',
    }),
    filename: t.exposeString('filename', { nullable: true, description: 'Of a document.' }),
  }),
});

const Button = builder.objectRef<RenderedButton>('RenderedButton').implement({
  description: 'A button as the person saw it.',
  fields: t => ({
    type: t.exposeString('type', { description: 'QUICK_REPLY, URL, PHONE_NUMBER and more.' }),
    text: t.exposeString('text', { nullable: true, description: 'What stood on it.' }),
    url: t.exposeString('url', { nullable: true, description: 'Where it led.' }),
    phoneNumber: t.exposeString('phoneNumber', { nullable: true, description: 'Whom it called.' }),
  }),
});

export const RenderedTemplate = builder.objectRef<Rendered>('RenderedTemplate').implement({
  description: 'A template message as the person read it, by the template of that time.',
  fields: t => ({
    header: t.field({
      type: Header,
      nullable: true,
      description: 'What stood above.',
      resolve: ({ header }) => header,
    }),
    body: t.exposeString('body', { nullable: true, description: 'The text, with its variables filled.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'What stood below.' }),
    buttons: t.field({ type: [Button], description: 'The buttons.', resolve: ({ buttons }) => [...buttons] }),
  }),
});

builder.objectField(Message, 'rendered', t =>
  t.field({
    type: RenderedTemplate,
    nullable: true,
    description: 'Of a template that we sent: how it read. Null for every other message.',
    resolve: ({ type, content }) =>
      type === 'template' ? ((content['rendered'] as Rendered | undefined) ?? null) : null,
  }),
);
