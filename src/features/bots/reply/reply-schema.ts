import { builder } from '../../../schema/builder.ts';
import { CtaUrlInput, InteractiveListInput, ReplyButtonInput } from '../../messages/content/interactive/schema.ts';
import { MediaKind } from '../../messages/content/media/schema.ts';
import { MERGED_IN_REPLY } from '../../messages/send/merge-fields.ts';
import { ButtonInput, HeaderInput, ParameterInput } from '../../templates/sending/send-schema.ts';
import {
  type BotReply,
  type InteractiveReply,
  type MediaReply,
  REPLY_TYPES,
  type ReplyType,
  type TemplateReply,
  type TextReply,
  typeOf,
} from './reply.ts';

const TYPE_WORDS: Record<ReplyType, string> = {
  text: 'Plain text, optionally with a link preview.',
  interactive: 'Text with reply buttons, a list or a link button.',
  media: 'An image, a video, audio or a document.',
  template: 'An approved message template.',
};
const Type = builder.enumType('BotReplyType', {
  description: 'Kind of content that a bot replies with.',
  values: Object.fromEntries(
    REPLY_TYPES.map(value => [value.toUpperCase(), { value, description: TYPE_WORDS[value] }]),
  ) as Record<string, { value: ReplyType; description: string }>,
});

/**
 * What the lists of a reply count as in the cost of an operation. A reply is one of four, and a list has at most ten rows in all its
 * sections: no bot is more than 25 objects, which is what these come to.
 */
const few = (listSize: number) => ({ extensions: { listSize } });

const Text = builder.objectRef<TextReply>('BotText').implement({
  description: 'A text reply of a bot.',
  fields: t => ({
    text: t.exposeString('text', {
      description: 'Text of the reply. Merge fields such as `@{contact_first_name}` are shown unfilled.',
    }),
    previewUrl: t.boolean({
      description: 'Whether WhatsApp shows a preview of the first link.',
      resolve: ({ previewUrl }) => previewUrl ?? false,
    }),
  }),
});

const ReplyButton = builder.objectRef<{ readonly id: string; readonly title: string }>('BotReplyButton').implement({
  description: 'A button that sends a predefined answer when tapped.',
  fields: t => ({
    id: t.exposeString('id', { description: "Identifier returned in the recipient's answer." }),
    title: t.exposeString('title', { description: 'Label of the button.' }),
  }),
});

type Sections = NonNullable<InteractiveReply['list']>['sections'];

const ListRow = builder.objectRef<Sections[number]['rows'][number]>('BotListRow').implement({
  description: 'A row that the recipient can choose from a list.',
  fields: t => ({
    id: t.exposeString('id', { description: "Identifier returned in the recipient's answer." }),
    title: t.exposeString('title', { description: 'Text of the row.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Second line of the row, below the title; null if not set.',
    }),
  }),
});

const ListSection = builder.objectRef<Sections[number]>('BotListSection').implement({
  description: 'A group of rows of a list.',
  fields: t => ({
    title: t.exposeString('title', { nullable: true, description: 'Heading of the section; null if not set.' }),
    rows: t.field({
      ...few(5),
      type: [ListRow],
      description: 'Rows of the section, in display order.',
      resolve: ({ rows }) => [...rows],
    }),
  }),
});

const List = builder.objectRef<NonNullable<InteractiveReply['list']>>('BotList').implement({
  description: 'A list that opens when the recipient taps its button.',
  fields: t => ({
    button: t.exposeString('button', { description: 'Label of the button that opens the list.' }),
    sections: t.field({
      ...few(1),
      type: [ListSection],
      description: 'Sections of the list, in display order.',
      resolve: ({ sections }) => [...sections],
    }),
  }),
});

const CtaUrl = builder.objectRef<NonNullable<InteractiveReply['ctaUrl']>>('BotCtaUrl').implement({
  description: 'A button that opens a web page.',
  fields: t => ({
    displayText: t.exposeString('displayText', { description: 'Label of the button.' }),
    url: t.exposeString('url', { description: 'URL that the button opens.' }),
  }),
});

const Interactive = builder.objectRef<InteractiveReply>('BotInteractive').implement({
  description: 'An interactive reply of a bot. Exactly one of `buttons`, `list` and `ctaUrl` is set.',
  fields: t => ({
    body: t.exposeString('body', { description: 'Text of the message, with merge fields unfilled.' }),
    header: t.exposeString('header', { nullable: true, description: 'Line above the body; null if not set.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'Line below the body; null if not set.' }),
    buttons: t.field({
      ...few(2),
      type: [ReplyButton],
      nullable: true,
      description: 'Reply buttons; null if the reply has a list or a link button.',
      resolve: ({ buttons }) => buttons && [...buttons],
    }),
    list: t.field({
      type: List,
      nullable: true,
      description: 'List to choose from; null if the reply has buttons or a link button.',
      resolve: ({ list }) => list,
    }),
    ctaUrl: t.field({
      type: CtaUrl,
      nullable: true,
      description: 'Link button; null if the reply has buttons or a list.',
      resolve: ({ ctaUrl }) => ctaUrl,
    }),
  }),
});

const Media = builder.objectRef<MediaReply>('BotMedia').implement({
  description: 'A file that a bot replies with. Exactly one of `link` and `mediaId` is set.',
  fields: t => ({
    kind: t.field({
      type: MediaKind,
      description: 'Kind of media that the file is sent as.',
      resolve: ({ kind }) => kind,
    }),
    link: t.exposeString('link', {
      nullable: true,
      description: 'URL from which WhatsApp downloads the file; null if an upload is used.',
    }),
    mediaId: t.exposeString('mediaId', {
      nullable: true,
      description: 'The databaseId of the upload; null if a link is used.',
    }),
    caption: t.exposeString('caption', {
      nullable: true,
      description: 'Caption of the file, with merge fields unfilled; null if not set.',
    }),
    filename: t.exposeString('filename', {
      nullable: true,
      description: 'File name that the recipient sees, for documents.',
    }),
  }),
});

type Header = NonNullable<TemplateReply['header']>;

const HeaderFile = builder.objectRef<NonNullable<Header['document']>>('BotTemplateFile').implement({
  description: 'A file in the header of a template. Exactly one of `link` and `mediaId` is set.',
  fields: t => ({
    link: t.exposeString('link', {
      nullable: true,
      description: 'URL from which WhatsApp downloads the file; null if an upload is used.',
    }),
    mediaId: t.exposeString('mediaId', {
      nullable: true,
      description: 'The databaseId of the upload; null if a link is used.',
    }),
    filename: t.exposeString('filename', {
      nullable: true,
      description: 'File name that the recipient sees, for documents.',
    }),
  }),
});

const Location = builder.objectRef<NonNullable<Header['location']>>('BotTemplateLocation').implement({
  description: 'A location in the header of a template.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Latitude in degrees, from -90 to 90.' }),
    longitude: t.exposeFloat('longitude', { description: 'Longitude in degrees, from -180 to 180.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the location; null if not set.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street address; null if not set.' }),
  }),
});

const TemplateHeader = builder.objectRef<Header>('BotTemplateHeader').implement({
  description: 'Values for the header of a template. At most one field is set, according to the header format.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Value of the variable in a text header.' }),
    image: t.field({
      type: HeaderFile,
      nullable: true,
      description: 'Image for the header format IMAGE.',
      resolve: ({ image }) => image,
    }),
    video: t.field({
      type: HeaderFile,
      nullable: true,
      description: 'Video for the header format VIDEO.',
      resolve: ({ video }) => video,
    }),
    document: t.field({
      type: HeaderFile,
      nullable: true,
      description: 'Document for the header format DOCUMENT.',
      resolve: ({ document }) => document,
    }),
    location: t.field({
      type: Location,
      nullable: true,
      description: 'Location for the header format LOCATION.',
      resolve: ({ location }) => location,
    }),
  }),
});

const TemplateParameter = builder
  .objectRef<{ readonly name: string; readonly value: string }>('BotTemplateParameter')
  .implement({
    description: 'Value of a named template variable.',
    fields: t => ({
      name: t.exposeString('name', { description: 'Name of the variable, without braces.' }),
      value: t.exposeString('value', { description: 'Value of the variable, with merge fields unfilled.' }),
    }),
  });

const TemplateButton = builder
  .objectRef<{ readonly index: number; readonly value: string }>('BotTemplateButton')
  .implement({
    description: 'Value of a template button.',
    fields: t => ({
      index: t.exposeInt('index', { description: 'Position of the button, starting at 0.' }),
      value: t.exposeString('value', { description: 'Value of the button, with merge fields unfilled.' }),
    }),
  });

const Template = builder.objectRef<TemplateReply>('BotTemplate').implement({
  description: 'A template reply of a bot, with the values of its variables.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name of the template.' }),
    language: t.exposeString('language', { description: 'Language code of the template, for example `en_US`.' }),
    header: t.field({
      type: TemplateHeader,
      nullable: true,
      description: 'Values for the header; null if the header needs none.',
      resolve: ({ header }) => header,
    }),
    body: t.stringList({
      description: 'Values of the numbered body variables, in order, with merge fields unfilled.',
      resolve: ({ body }) => [...(body ?? [])],
    }),
    bodyByName: t.field({
      ...few(1),
      type: [TemplateParameter],
      description: 'Values of the named body variables.',
      resolve: ({ bodyByName }) => [...(bodyByName ?? [])],
    }),
    buttons: t.field({
      ...few(1),
      type: [TemplateButton],
      description: 'Values of the buttons that need one.',
      resolve: ({ buttons }) => [...(buttons ?? [])],
    }),
  }),
});

export const Reply = builder.objectRef<BotReply>('BotReply').implement({
  description: 'Reply of a bot. `type` names the one field that is set.',
  fields: t => ({
    type: t.field({
      type: Type,
      description: 'Type of the reply, which decides the field that is set.',
      resolve: reply => typeOf(reply) ?? 'text',
    }),
    text: t.field({ type: Text, nullable: true, description: 'Set if `type` is TEXT.', resolve: ({ text }) => text }),
    interactive: t.field({
      type: Interactive,
      nullable: true,
      description: 'Set if `type` is INTERACTIVE.',
      resolve: ({ interactive }) => interactive,
    }),
    media: t.field({
      type: Media,
      nullable: true,
      description: 'Set if `type` is MEDIA.',
      resolve: ({ media }) => media,
    }),
    template: t.field({
      type: Template,
      nullable: true,
      description: 'Set if `type` is TEMPLATE.',
      resolve: ({ template }) => template,
    }),
  }),
});

const TextInput = builder.inputType('BotTextInput', {
  description: 'A text reply.',
  fields: t => ({
    text: t.string({
      required: true,
      description: `Text of the reply; limits as in sendTextMessage. ${MERGED_IN_REPLY}`,
    }),
    previewUrl: t.boolean({ description: 'Whether WhatsApp shows a preview of the first link. Default: false.' }),
  }),
});

const InteractiveInput = builder.inputType('BotInteractiveInput', {
  description: 'An interactive reply. Set exactly one of `buttons`, `list` and `ctaUrl`.',
  fields: t => ({
    body: t.string({
      required: true,
      description: `Text of the message; limits as in sendInteractiveMessage. ${MERGED_IN_REPLY}`,
    }),
    header: t.string({ description: 'Line above the body; limits as in sendInteractiveMessage.' }),
    footer: t.string({ description: 'Line below the body; limits as in sendInteractiveMessage.' }),
    buttons: t.field({
      type: [ReplyButtonInput],
      description: 'Reply buttons. Bots can match the title and the id of the answer, so that replies can be chained.',
    }),
    list: t.field({ type: InteractiveListInput, description: 'List to choose from.' }),
    ctaUrl: t.field({ type: CtaUrlInput, description: 'Button that opens a web page.' }),
  }),
});

const MediaInput = builder.inputType('BotMediaInput', {
  description: 'A media reply. Set exactly one of `link` and `mediaId`.',
  fields: t => ({
    kind: t.field({ type: MediaKind, required: true, description: 'Kind of media that the file is sent as.' }),
    link: t.string({
      description: 'URL from which WhatsApp downloads the file for every reply; limits as in sendMediaMessage.',
    }),
    mediaId: t.id({
      description:
        'Global id or databaseId of an upload. WhatsApp deletes it after 30 days, and only its own channel can send it; use `link` for a reply that lasts.',
    }),
    caption: t.string({ description: `Caption of the file; limits as in sendMediaMessage. ${MERGED_IN_REPLY}` }),
    filename: t.string({ description: 'File name that the recipient sees, for documents.' }),
  }),
});

const TemplateInput = builder.inputType('BotTemplateInput', {
  description:
    'A template reply. The template must exist in the given language; it must be approved when the reply is sent.',
  fields: t => ({
    name: t.string({ required: true, description: 'Name of the template.' }),
    language: t.string({
      required: true,
      description: 'Language code in which the template exists, for example `en` or `en_US`.',
    }),
    header: t.field({
      type: HeaderInput,
      description: 'Values for the header, required if it has a variable, a file or a location.',
    }),
    body: t.stringList({ description: `Values of the numbered body variables, in order. ${MERGED_IN_REPLY}` }),
    bodyByName: t.field({
      type: [ParameterInput],
      description: 'Values of the named body variables, if the template uses names.',
    }),
    buttons: t.field({ type: [ButtonInput], description: 'Values of the buttons that need one.' }),
  }),
});

export const ReplyInput = builder.inputType('BotReplyInput', {
  description: 'Content of the reply. Set exactly one field.',
  fields: t => ({
    text: t.field({ type: TextInput, description: 'A text reply.' }),
    interactive: t.field({ type: InteractiveInput, description: 'A reply with buttons, a list or a link button.' }),
    media: t.field({ type: MediaInput, description: 'A media reply.' }),
    template: t.field({
      type: TemplateInput,
      description: 'A template reply. It makes the bot one of the kind TEMPLATE.',
    }),
  }),
});
