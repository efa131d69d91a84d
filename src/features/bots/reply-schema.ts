import { builder } from '../../builder.ts';
import { CtaUrlInput, InteractiveListInput, ReplyButtonInput } from '../interactive/schema.ts';
import { MediaKind } from '../media/schema.ts';
import { ButtonInput, HeaderInput, ParameterInput } from '../templates/send-schema.ts';
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

const MERGED = 'Merge fields such as `@{contact_first_name}` are filled from the contact.';

const TYPE_WORDS: Record<ReplyType, string> = {
  text: 'A text.',
  interactive: 'A text with buttons, a list or a link.',
  media: 'A file.',
  template: 'A template.',
};
const Type = builder.enumType('BotReplyType', {
  description: 'What a bot answers with.',
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
  description: 'A text that a bot answers with.',
  fields: t => ({
    text: t.exposeString('text', { description: 'The text, with its merge fields.' }),
    previewUrl: t.boolean({
      description: 'Whether a preview of the first link is shown.',
      resolve: ({ previewUrl }) => previewUrl ?? false,
    }),
  }),
});

const ReplyButton = builder.objectRef<{ readonly id: string; readonly title: string }>('BotReplyButton').implement({
  description: 'A button that sends an answer.',
  fields: t => ({
    id: t.exposeString('id', { description: 'What comes back with the answer.' }),
    title: t.exposeString('title', { description: 'What stands on it.' }),
  }),
});

type Sections = NonNullable<InteractiveReply['list']>['sections'];

const ListRow = builder.objectRef<Sections[number]['rows'][number]>('BotListRow').implement({
  description: 'One row of a list.',
  fields: t => ({
    id: t.exposeString('id', { description: 'What comes back with the answer.' }),
    title: t.exposeString('title', { description: 'What it is called.' }),
    description: t.exposeString('description', { nullable: true, description: 'What stands below.' }),
  }),
});

const ListSection = builder.objectRef<Sections[number]>('BotListSection').implement({
  description: 'Some rows of a list under a title.',
  fields: t => ({
    title: t.exposeString('title', { nullable: true, description: 'The title.' }),
    rows: t.field({ ...few(5), type: [ListRow], description: 'The rows.', resolve: ({ rows }) => [...rows] }),
  }),
});

const List = builder.objectRef<NonNullable<InteractiveReply['list']>>('BotList').implement({
  description: 'A list that a button opens.',
  fields: t => ({
    button: t.exposeString('button', { description: 'What stands on the button.' }),
    sections: t.field({
      ...few(1),
      type: [ListSection],
      description: 'The sections.',
      resolve: ({ sections }) => [...sections],
    }),
  }),
});

const CtaUrl = builder.objectRef<NonNullable<InteractiveReply['ctaUrl']>>('BotCtaUrl').implement({
  description: 'A button that opens a web page.',
  fields: t => ({
    displayText: t.exposeString('displayText', { description: 'What stands on it.' }),
    url: t.exposeString('url', { description: 'Where it leads.' }),
  }),
});

const Interactive = builder.objectRef<InteractiveReply>('BotInteractive').implement({
  description: 'A text with something to choose: one of `buttons`, `list` and `ctaUrl` is there.',
  fields: t => ({
    body: t.exposeString('body', { description: 'The text, with its merge fields.' }),
    header: t.exposeString('header', { nullable: true, description: 'The line above it.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'The line below it.' }),
    buttons: t.field({
      ...few(2),
      type: [ReplyButton],
      nullable: true,
      description: 'Buttons that answer.',
      resolve: ({ buttons }) => buttons && [...buttons],
    }),
    list: t.field({ type: List, nullable: true, description: 'A list to choose from.', resolve: ({ list }) => list }),
    ctaUrl: t.field({
      type: CtaUrl,
      nullable: true,
      description: 'A button that opens a web page.',
      resolve: ({ ctaUrl }) => ctaUrl,
    }),
  }),
});

const Media = builder.objectRef<MediaReply>('BotMedia').implement({
  description: 'A file that a bot answers with.',
  fields: t => ({
    kind: t.field({ type: MediaKind, description: 'What it is sent as.', resolve: ({ kind }) => kind }),
    link: t.exposeString('link', { nullable: true, description: 'Where the network fetches it.' }),
    mediaId: t.exposeString('mediaId', { nullable: true, description: 'The databaseId of the upload.' }),
    caption: t.exposeString('caption', { nullable: true, description: 'The caption, with its merge fields.' }),
    filename: t.exposeString('filename', { nullable: true, description: 'What a document is called.' }),
  }),
});

type Header = NonNullable<TemplateReply['header']>;

const HeaderFile = builder.objectRef<NonNullable<Header['document']>>('BotTemplateFile').implement({
  description: 'The file of a header.',
  fields: t => ({
    link: t.exposeString('link', { nullable: true, description: 'Where the network fetches it.' }),
    mediaId: t.exposeString('mediaId', { nullable: true, description: 'The databaseId of the upload.' }),
    filename: t.exposeString('filename', { nullable: true, description: 'What a document is called.' }),
  }),
});

const Location = builder.objectRef<NonNullable<Header['location']>>('BotTemplateLocation').implement({
  description: 'The place that a header shows.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Degrees, from -90 to 90.' }),
    longitude: t.exposeFloat('longitude', { description: 'Degrees, from -180 to 180.' }),
    name: t.exposeString('name', { nullable: true, description: 'What it is called.' }),
    address: t.exposeString('address', { nullable: true, description: 'Its address.' }),
  }),
});

const TemplateHeader = builder.objectRef<Header>('BotTemplateHeader').implement({
  description: 'What is given for the header of a template.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'For the variable of a text header.' }),
    image: t.field({ type: HeaderFile, nullable: true, description: 'A picture.', resolve: ({ image }) => image }),
    video: t.field({ type: HeaderFile, nullable: true, description: 'A video.', resolve: ({ video }) => video }),
    document: t.field({
      type: HeaderFile,
      nullable: true,
      description: 'A document.',
      resolve: ({ document }) => document,
    }),
    location: t.field({
      type: Location,
      nullable: true,
      description: 'A place.',
      resolve: ({ location }) => location,
    }),
  }),
});

const TemplateParameter = builder
  .objectRef<{ readonly name: string; readonly value: string }>('BotTemplateParameter')
  .implement({
    description: 'The value of a named variable.',
    fields: t => ({
      name: t.exposeString('name', { description: 'The name of the variable.' }),
      value: t.exposeString('value', { description: 'Its value, with its merge fields.' }),
    }),
  });

const TemplateButton = builder
  .objectRef<{ readonly index: number; readonly value: string }>('BotTemplateButton')
  .implement({
    description: 'What a button of a template carries.',
    fields: t => ({
      index: t.exposeInt('index', { description: 'Its place, counted from 0.' }),
      value: t.exposeString('value', { description: 'What it carries, with its merge fields.' }),
    }),
  });

const Template = builder.objectRef<TemplateReply>('BotTemplate').implement({
  description: 'A template that a bot answers with, and the values of its variables.',
  fields: t => ({
    name: t.exposeString('name', { description: 'The name of the template.' }),
    language: t.exposeString('language', { description: 'Its language.' }),
    header: t.field({
      type: TemplateHeader,
      nullable: true,
      description: 'What is given for its header.',
      resolve: ({ header }) => header,
    }),
    body: t.stringList({
      description: 'The values of its variables in their order, with their merge fields.',
      resolve: ({ body }) => [...(body ?? [])],
    }),
    bodyByName: t.field({
      ...few(1),
      type: [TemplateParameter],
      description: 'The same by name.',
      resolve: ({ bodyByName }) => [...(bodyByName ?? [])],
    }),
    buttons: t.field({
      ...few(1),
      type: [TemplateButton],
      description: 'What its buttons carry.',
      resolve: ({ buttons }) => [...(buttons ?? [])],
    }),
  }),
});

export const Reply = builder.objectRef<BotReply>('BotReply').implement({
  description: 'What a bot answers with: the one that `type` says.',
  fields: t => ({
    type: t.field({ type: Type, description: 'Which of them it is.', resolve: reply => typeOf(reply) ?? 'text' }),
    text: t.field({ type: Text, nullable: true, description: 'A text.', resolve: ({ text }) => text }),
    interactive: t.field({
      type: Interactive,
      nullable: true,
      description: 'A text with something to choose.',
      resolve: ({ interactive }) => interactive,
    }),
    media: t.field({ type: Media, nullable: true, description: 'A file.', resolve: ({ media }) => media }),
    template: t.field({
      type: Template,
      nullable: true,
      description: 'A template.',
      resolve: ({ template }) => template,
    }),
  }),
});

const TextInput = builder.inputType('BotTextInput', {
  description: 'A text to answer with.',
  fields: t => ({
    text: t.string({ required: true, description: `As in sendTextMessage. ${MERGED}` }),
    previewUrl: t.boolean({ description: 'Show a preview of the first link.' }),
  }),
});

const InteractiveInput = builder.inputType('BotInteractiveInput', {
  description: 'A text with something to choose. Exactly one of `buttons`, `list` and `ctaUrl`.',
  fields: t => ({
    body: t.string({ required: true, description: `As in sendInteractiveMessage. ${MERGED}` }),
    header: t.string({ description: 'A line above the body.' }),
    footer: t.string({ description: 'A line below the body.' }),
    buttons: t.field({
      type: [ReplyButtonInput],
      description: 'Buttons that answer. Another bot may answer in turn to their titles and ids.',
    }),
    list: t.field({ type: InteractiveListInput, description: 'A list to choose from.' }),
    ctaUrl: t.field({ type: CtaUrlInput, description: 'A button that opens a web page.' }),
  }),
});

const MediaInput = builder.inputType('BotMediaInput', {
  description: 'A file to answer with. Exactly one of `link` and `mediaId`.',
  fields: t => ({
    kind: t.field({ type: MediaKind, required: true, description: 'What it is sent as.' }),
    link: t.string({ description: 'Where the network fetches it each time, as in sendMediaMessage.' }),
    mediaId: t.id({
      description:
        'An upload. The network forgets it after 30 days, and it can be sent from its own channel alone: a link lasts longer.',
    }),
    caption: t.string({ description: `As in sendMediaMessage. ${MERGED}` }),
    filename: t.string({ description: 'What a document is called.' }),
  }),
});

const TemplateInput = builder.inputType('BotTemplateInput', {
  description:
    'A template to answer with: one that exists in this language. Whether it is approved shows when it is sent.',
  fields: t => ({
    name: t.string({ required: true, description: 'The name of the template.' }),
    language: t.string({ required: true, description: 'Such as `en` or `en_US`: one in which the template exists.' }),
    header: t.field({ type: HeaderInput, description: 'Where the header of the template has a variable or a file.' }),
    body: t.stringList({ description: `The values of the variables of the text, in their order. ${MERGED}` }),
    bodyByName: t.field({ type: [ParameterInput], description: 'The same by name.' }),
    buttons: t.field({ type: [ButtonInput], description: 'For buttons that need a value.' }),
  }),
});

export const ReplyInput = builder.inputType('BotReplyInput', {
  description: 'What a bot answers with: exactly one of these.',
  fields: t => ({
    text: t.field({ type: TextInput, description: 'A text.' }),
    interactive: t.field({ type: InteractiveInput, description: 'A text with buttons, a list or a link.' }),
    media: t.field({ type: MediaInput, description: 'A file.' }),
    template: t.field({ type: TemplateInput, description: 'A template: this makes a template bot.' }),
  }),
});
