import { builder } from '../../../schema/builder.ts';
import type { Values } from '../../templates/sending/parameters.ts';
import { RenderedTemplate } from '../../templates/sending/send-schema.ts';
import { Message, MessageErrorType } from '../schema.ts';
import { headerMediaOf } from './media/header-media.ts';
import { MessageMedia } from './media/message-media-schema.ts';
import {
  type Choice,
  type ContactCard,
  type ContentShape,
  contentOfMessage,
  type ListFields,
  previewOf,
} from './message-content.ts';
import { OrderItemType } from './order-item-schema.ts';

/** Cost of a list within a content: each has at most ten rows. */
const few = (listSize: number) => ({ extensions: { listSize } });

type Of<Kind extends ContentShape['kind']> = Extract<ContentShape, { kind: Kind }>;
const typeOf = <Kind extends ContentShape['kind']>(kind: Kind) => builder.objectRef<Of<Kind>>(kind);

const TextContent = typeOf('TextContent').implement({
  description: 'Content of a text message.',
  fields: t => ({
    body: t.exposeString('body', { description: 'Text of the message.' }),
    previewUrl: t.exposeBoolean('previewUrl', { description: 'Whether WhatsApp shows a preview of the first link.' }),
  }),
});

const MediaContent = typeOf('MediaContent').implement({
  description: 'An image, a video, audio, a document or a sticker.',
  fields: t => ({
    media: t.field({ type: MessageMedia, description: 'The file of the message.', resolve: ({ file }) => file }),
    caption: t.exposeString('caption', { nullable: true, description: 'Caption; null if there is none.' }),
  }),
});

type HeaderValues = NonNullable<Values['header']>;

const TemplateHeaderValues = builder.objectRef<HeaderValues>('TemplateHeaderValues').implement({
  description: 'Values for the header of a template. At most one field is set, according to the format of the header.',
  fields: t => ({
    text: t.exposeString('text', { nullable: true, description: 'Value of the variable in a text.' }),
    link: t.string({
      nullable: true,
      description: 'URL of the image, video or document; null for an upload.',
      resolve: ({ image, video, document }) => (image ?? video ?? document)?.link,
    }),
    filename: t.string({
      nullable: true,
      description: 'File name of the document that the recipient sees.',
      resolve: ({ document }) => document?.filename,
    }),
    mediaId: t.id({
      nullable: true,
      description: 'Global id of the upload, of content that has not been sent; null for a link.',
      resolve: ({ image, video, document }) => (image ?? video ?? document)?.mediaId,
    }),
    latitude: t.float({
      nullable: true,
      description: 'Latitude of the location in degrees.',
      resolve: ({ location }) => location?.latitude,
    }),
    longitude: t.float({
      nullable: true,
      description: 'Longitude of the location in degrees.',
      resolve: ({ location }) => location?.longitude,
    }),
  }),
});

const TemplateParameterValue = builder.objectRef<{ name: string; value: string }>('TemplateParameterValue').implement({
  description: 'Value of a named variable of a template.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name of the variable, without braces.' }),
    value: t.exposeString('value', { description: 'Value of the variable.' }),
  }),
});

const TemplateButtonValue = builder.objectRef<{ index: number; value: string }>('TemplateButtonValue').implement({
  description: 'Value of a button of a template.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position of the button, starting at 0.' }),
    value: t.exposeString('value', { description: 'Value of the button.' }),
  }),
});

export const TemplateValues = builder.objectRef<Values>('TemplateValues').implement({
  description: 'The values of the variables of a template.',
  fields: t => ({
    header: t.field({
      type: TemplateHeaderValues,
      nullable: true,
      description: 'Values for the header; null if it needs none.',
      resolve: ({ header }) => header ?? null,
    }),
    body: t.stringList({
      description: 'Values of the numbered variables of the body, in order.',
      resolve: ({ body }) => [...(body ?? [])],
    }),
    bodyByName: t.field({
      ...few(2),
      type: [TemplateParameterValue],
      description: 'Values of the named variables of the body.',
      resolve: ({ bodyByName }) => [...(bodyByName ?? [])],
    }),
    buttons: t.field({
      ...few(2),
      type: [TemplateButtonValue],
      description: 'Values of the buttons that need one.',
      resolve: ({ buttons }) => [...(buttons ?? [])],
    }),
  }),
});

const TemplateContent = typeOf('TemplateContent').implement({
  description: 'A template with its values.',
  fields: t => ({
    templateName: t.exposeString('templateName', { description: 'Name of the template.' }),
    language: t.exposeString('language', { description: 'Language code of the template, for example `en_US`.' }),
    values: t.expose('values', {
      type: TemplateValues,
      description: 'The values of its variables; of a one-time code `••••••`.',
    }),
    rendered: t.expose('rendered', {
      type: RenderedTemplate,
      nullable: true,
      description: 'The template as the recipient saw it; null if it was not sent through this gateway.',
    }),
    headerMedia: t.field({
      type: MessageMedia,
      nullable: true,
      description:
        'The picture, video or document of the header: the link, or the upload for as long as the network keeps it (30 days), whatever becomes of the message. Null for other headers, and once the upload is gone.',
      resolve: (content, _args, context) => headerMediaOf(content, context),
    }),
  }),
});

const ReplyButton = builder.objectRef<Choice>('ReplyButton').implement({
  description: 'A button that sends a predefined answer when tapped.',
  fields: t => ({
    replyId: t.exposeString('replyId', { description: "Identifier returned in the recipient's answer." }),
    title: t.exposeString('title', { description: 'Label of the button.' }),
  }),
});

const ListRow = builder.objectRef<Choice>('ListRow').implement({
  description: 'A row that the recipient can choose from a list.',
  fields: t => ({
    replyId: t.exposeString('replyId', { description: "Identifier returned in the recipient's answer." }),
    title: t.exposeString('title', { description: 'Text of the row.' }),
    description: t.exposeString('description', { nullable: true, description: 'Second line of the row.' }),
  }),
});

const ListSection = builder.objectRef<ListFields['sections'][number]>('ListSection').implement({
  description: 'A group of rows of a list.',
  fields: t => ({
    title: t.exposeString('title', { nullable: true, description: 'Heading of the section; null if not set.' }),
    rows: t.field({
      ...few(5),
      type: [ListRow],
      description: 'Rows of the section.',
      resolve: ({ rows }) => [...rows],
    }),
  }),
});

const ListMenu = builder.objectRef<ListFields>('ListMenu').implement({
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

const CtaUrl = builder.objectRef<{ displayText: string; url: string }>('CtaUrl').implement({
  description: 'A button that opens a web page.',
  fields: t => ({
    displayText: t.exposeString('displayText', { description: 'Label of the button.' }),
    url: t.exposeString('url', { description: 'URL that the button opens.' }),
  }),
});

const InteractiveContent = typeOf('InteractiveContent').implement({
  description: 'A text with a choice: reply buttons, a list or a link button.',
  fields: t => ({
    body: t.exposeString('body', { description: 'Text of the message.' }),
    header: t.exposeString('header', { nullable: true, description: 'Line above the body; null if not set.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'Line below the body; null if not set.' }),
    buttons: t.field({
      ...few(2),
      type: [ReplyButton],
      description: 'Reply buttons; empty if there is a list or a link button.',
      resolve: ({ buttons }) => [...buttons],
    }),
    list: t.expose('list', {
      type: ListMenu,
      nullable: true,
      description: 'List to choose from; null if there are buttons or a link button.',
    }),
    ctaUrl: t.expose('ctaUrl', {
      type: CtaUrl,
      nullable: true,
      description: 'Link button; null if there are buttons or a list.',
    }),
  }),
});

const LocationContent = typeOf('LocationContent').implement({
  description: 'Content of a location message.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', { description: 'Latitude in degrees; positive values are north.' }),
    longitude: t.exposeFloat('longitude', { description: 'Longitude in degrees; positive values are east.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the place; null if not given.' }),
    address: t.exposeString('address', { nullable: true, description: 'Street address; null if not given.' }),
  }),
});

const ContactCardType = builder.objectRef<ContactCard>('ContactCard').implement({
  description: 'A shared contact card.',
  fields: t => ({
    name: t.exposeString('name', { description: 'Name on the card; empty if it has none.' }),
    phones: t.exposeStringList('phones', { description: 'Phone numbers as written on the card.' }),
    emails: t.exposeStringList('emails', { description: 'E-mail addresses.' }),
    company: t.exposeString('company', { nullable: true, description: 'Company; null if not given.' }),
  }),
});

const ContactsContent = typeOf('ContactsContent').implement({
  description: 'Contact cards.',
  fields: t => ({
    cards: t.field({
      ...few(2),
      type: [ContactCardType],
      description: 'The contact cards.',
      resolve: ({ cards }) => [...cards],
    }),
  }),
});

const ReactionContent = typeOf('ReactionContent').implement({
  description: 'A reaction to the message `replyTo`.',
  fields: t => ({
    emoji: t.exposeString('emoji', { nullable: true, description: 'The emoji; null: the reaction was removed.' }),
  }),
});

const ReplyContent = typeOf('ReplyContent').implement({
  description:
    'The button or row that the person chose in answer to an interactive message or a template; see `replyTo`.',
  fields: t => ({
    replyId: t.exposeString('replyId', {
      description: 'Identifier of the button or row; for a quick-reply button of a template, its payload.',
    }),
    title: t.exposeString('title', { description: 'Label of the button or row.' }),
    description: t.exposeString('description', { nullable: true, description: 'Description of the row.' }),
  }),
});

const FlowReplyContent = typeOf('FlowReplyContent').implement({
  description: 'The answers of a flow.',
  fields: t => ({
    flowName: t.exposeString('flowName', { nullable: true, description: 'Name of the flow; null if not given.' }),
    answers: t.expose('answers', { type: 'JSON', description: 'The answers by field.' }),
  }),
});

const OrderContent = typeOf('OrderContent').implement({
  description: 'An order from the catalog.',
  fields: t => ({
    catalogId: t.exposeString('catalogId', { description: 'Id of the catalog.' }),
    note: t.exposeString('note', { nullable: true, description: 'What the person wrote with it.' }),
    items: t.field({
      ...few(5),
      type: [OrderItemType],
      description: 'The products.',
      resolve: ({ items }) => [...items],
    }),
  }),
});

const CallOutcome = builder.enumType('CallOutcome', {
  description: 'How a call ended.',
  values: {
    ONGOING: { value: 'ongoing', description: 'The call has not ended.' },
    COMPLETED: { value: 'completed', description: 'The call was answered.' },
    REJECTED: { value: 'rejected', description: 'The person declined the call.' },
    FAILED: { value: 'failed', description: 'The call was not answered, or was interrupted.' },
  } as const,
});

const CallContent = typeOf('CallContent').implement({
  description: 'Content of a call.',
  fields: t => ({
    outcome: t.field({
      type: CallOutcome,
      description: 'How the call ended.',
      resolve: ({ outcome }) =>
        outcome === null ? 'ongoing' : outcome === 'completed' || outcome === 'rejected' ? outcome : 'failed',
    }),
    durationSeconds: t.exposeInt('durationSeconds', { nullable: true, description: 'Duration; null if not taken.' }),
  }),
});

const CallPermissionContent = typeOf('CallPermissionContent').implement({
  description: 'The answer to a request for the permission to call.',
  fields: t => ({
    isGranted: t.exposeBoolean('isGranted', { description: 'Whether the business may call the person.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'End of the permission.' }),
  }),
});

const SystemKind = builder.enumType('SystemKind', {
  description: 'Data of a person, from the network.',
  values: {
    NUMBER_CHANGED: { value: 'number', description: 'The person has another phone number.' },
    USER_ID_CHANGED: { value: 'user_id', description: 'The person has another business-scoped user id.' },
    IDENTITY_CHANGED: { value: 'identity', description: "The person's security code has changed." },
    OTHER: { value: 'other', description: 'Something else; see `Message.raw`.' },
  } as const,
});

const SystemContent = typeOf('SystemContent').implement({
  description: 'A message of the network about the person.',
  fields: t => ({
    kind: t.field({
      type: SystemKind,
      description: 'What happened.',
      resolve: ({ event }) =>
        event.includes('user_id')
          ? 'user_id'
          : event.includes('number')
            ? 'number'
            : event.includes('identity')
              ? 'identity'
              : 'other',
    }),
    body: t.exposeString('body', { description: "The network's text." }),
  }),
});

const UnsupportedContent = typeOf('UnsupportedContent').implement({
  description: 'Content that the network does not pass on, or that this gateway does not know; see `Message.raw`.',
  fields: t => ({
    reason: t.expose('reason', {
      type: MessageErrorType,
      nullable: true,
      description: 'Why; null if the network gives no reason.',
    }),
  }),
});

export const MessageContent = builder.unionType('MessageContent', {
  description: 'Content of a message, by its kind.',
  types: [
    TextContent,
    MediaContent,
    TemplateContent,
    InteractiveContent,
    LocationContent,
    ContactsContent,
    ReactionContent,
    ReplyContent,
    FlowReplyContent,
    OrderContent,
    CallContent,
    CallPermissionContent,
    SystemContent,
    UnsupportedContent,
  ],
  resolveType: shown => shown.kind,
});

builder.objectFields(Message, t => ({
  content: t.field({
    type: MessageContent,
    description: 'Content of the message.',
    resolve: message => contentOfMessage(message),
  }),
  previewText: t.string({
    description: 'One line for lists and notifications: the text, the caption, or a word for the type.',
    resolve: message => previewOf(message),
  }),
}));
