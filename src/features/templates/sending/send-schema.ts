import { builder } from '../../../schema/builder.ts';
import { MERGED_IN_SEND } from '../../messages/send/merge-fields.ts';
import { ButtonType, buttonTypeOf, HeaderFormat, headerFormatOf } from '../parts-schema.ts';
import { Category } from '../schema.ts';
import { MAX } from './parameters.ts';
import type { Rendered, RenderedButton, RenderedHeader } from './render.ts';

const MERGED = `${MERGED_IN_SEND} No line breaks, no tabs, no more than four spaces in a row.`;

const file = (name: string, kind: string, withName: boolean) =>
  builder.inputRef<{ link?: string | null; mediaId?: string | null; filename?: string | null }>(name).implement({
    description: `A header ${kind}. Set exactly one of \`link\` and \`mediaId\`.`,
    fields: t => ({
      link: t.string({
        description: 'An http or https URL from which the network downloads the file; at most 2000 characters.',
      }),
      mediaId: t.id({ description: 'Global id or databaseId of an upload.' }),
      ...(withName && {
        filename: t.string({ description: 'File name that the recipient sees; at most 255 characters.' }),
      }),
    }),
  });

export const TemplateLocationInput = builder.inputType('TemplateLocationInput', {
  description: 'A location in the header of a template.',
  fields: t => ({
    latitude: t.float({ required: true, description: 'Latitude in degrees, from -90 to 90.' }),
    longitude: t.float({ required: true, description: 'Longitude in degrees, from -180 to 180.' }),
    name: t.string({ description: 'Name of the location.' }),
    address: t.string({ description: 'Street address.' }),
  }),
});

export const HeaderInput = builder.inputType('TemplateHeaderInput', {
  description: 'Values for the header of a template. Set only what its format requires.',
  fields: t => ({
    text: t.string({
      description: `Value of the variable in a text header; at most ${MAX.headerText} characters. ${MERGED}`,
    }),
    image: t.field({
      type: file('TemplateImageInput', 'picture', false),
      description: 'Image for the header format IMAGE.',
    }),
    video: t.field({
      type: file('TemplateVideoInput', 'video', false),
      description: 'Video for the header format VIDEO.',
    }),
    document: t.field({
      type: file('TemplateDocumentInput', 'document', true),
      description: 'Document for the header format DOCUMENT.',
    }),
    location: t.field({ type: TemplateLocationInput, description: 'Location for the header format LOCATION.' }),
  }),
});

export const ParameterInput = builder.inputType('TemplateParameterInput', {
  description: 'Value of a named template variable.',
  fields: t => ({
    name: t.string({ required: true, description: 'Name of the variable, without braces.' }),
    value: t.string({
      required: true,
      description: `Value of the variable; at most ${MAX.body} characters. ${MERGED}`,
    }),
  }),
});

export const ButtonInput = builder.inputType('TemplateButtonInput', {
  description: 'Value of a template button.',
  fields: t => ({
    index: t.int({ required: true, description: 'Position of the button, starting at 0 (`TemplateButton.index`).' }),
    value: t.string({
      required: true,
      description: `For a link, the end of its URL; for a copy-code button, the code (at most ${MAX.coupon} characters); for a quick reply, the payload returned in the answer (at most ${MAX.payload} characters). ${MERGED}`,
    }),
  }),
});

export const TemplateInput = builder.inputType('TemplateInput', {
  description:
    'A template with its values. Missing and surplus values are errors of their fields (`body.1`, `buttons.0`).',
  fields: t => ({
    name: t.string({ required: true, description: "Name of an approved template of the channel's business account." }),
    language: t.string({
      required: true,
      description: 'Language code in which the template exists, for example `en` or `en_US`.',
    }),
    category: t.field({ type: Category, description: 'Refuse the send if the template has another category.' }),
    header: t.field({
      type: HeaderInput,
      description: 'Values for the header, required if it has a variable, a file or a location.',
    }),
    body: t.stringList({
      description: `Values of the numbered body variables, in order; each at most ${MAX.body} characters (a one-time code ${MAX.code}). ${MERGED}`,
    }),
    bodyByName: t.field({
      type: [ParameterInput],
      description: 'Values of the named body variables, if `Template.parameterFormat` is NAMED.',
    }),
    buttons: t.field({
      type: [ButtonInput],
      description: 'Values of the buttons that need one. The button of a one-time code is filled automatically.',
    }),
  }),
});

const Header = builder.objectRef<RenderedHeader>('RenderedHeader').implement({
  description: 'Header of a sent template message.',
  fields: t => ({
    format: t.field({
      type: HeaderFormat,
      description: 'What the header is.',
      resolve: ({ format }) => headerFormatOf(format),
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of a header of format TEXT; null for other formats.',
    }),
    link: t.exposeString('link', {
      nullable: true,
      description: 'URL of the file; null for an upload.',
    }),
    filename: t.exposeString('filename', {
      nullable: true,
      description: 'File name of a document; null for other formats.',
    }),
  }),
});

const Button = builder.objectRef<RenderedButton>('RenderedButton').implement({
  description: 'A button as the recipient saw it.',
  fields: t => ({
    type: t.field({
      type: ButtonType,
      description: 'What the button does.',
      resolve: ({ type }) => buttonTypeOf(type),
    }),
    text: t.exposeString('text', { nullable: true, description: 'Label of the button.' }),
    url: t.exposeString('url', { nullable: true, description: 'URL of the button.' }),
    phoneNumber: t.exposeString('phoneNumber', {
      nullable: true,
      description: 'Phone number that the button calls; null for other types.',
    }),
  }),
});

export const RenderedTemplate = builder.objectRef<Rendered>('RenderedTemplate').implement({
  description: 'A template message as the recipient saw it, according to the template at the time of sending.',
  fields: t => ({
    header: t.expose('header', {
      type: Header,
      nullable: true,
      description: 'Header of the message; null if it has none.',
    }),
    body: t.exposeString('body', { nullable: true, description: 'Body text with its variables filled.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'Footer of the message; null if it has none.' }),
    buttons: t.field({
      type: [Button],
      description: 'Buttons of the message, in order.',
      resolve: ({ buttons }) => [...buttons],
    }),
  }),
});
