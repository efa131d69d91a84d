import { builder } from '../../../schema/builder.ts';
import { CtaUrlInput, InteractiveListInput, ReplyButtonInput } from '../../messages/content/interactive/schema.ts';
import { MediaKind } from '../../messages/content/media/message-media-schema.ts';
import { MERGED_IN_REPLY } from '../../messages/send/merge-fields.ts';
import { ButtonInput, HeaderInput, ParameterInput } from '../../templates/sending/send-schema.ts';

const TextInput = builder.inputType('BotTextInput', {
  description: 'A text reply.',
  fields: t => ({
    text: t.string({
      required: true,
      description: `Text of the reply; limits as in sendMessage. ${MERGED_IN_REPLY}`,
    }),
    previewUrl: t.boolean({ description: 'Whether WhatsApp shows a preview of the first link. Default: false.' }),
  }),
});

const InteractiveInput = builder.inputType('BotInteractiveInput', {
  description: 'An interactive reply. Set exactly one of `buttons`, `list` and `ctaUrl`.',
  fields: t => ({
    body: t.string({
      required: true,
      description: `Text of the message; limits as in sendMessage. ${MERGED_IN_REPLY}`,
    }),
    header: t.string({ description: 'Line above the body; limits as in sendMessage.' }),
    footer: t.string({ description: 'Line below the body; limits as in sendMessage.' }),
    buttons: t.field({
      type: [ReplyButtonInput],
      description:
        'Reply buttons. Bots can match the title and the replyId of the answer, so that replies can be chained.',
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
      description: 'URL from which WhatsApp downloads the file for every reply; limits as in sendMessage.',
    }),
    mediaId: t.id({
      description:
        'Global id or databaseId of an upload. WhatsApp deletes it after 30 days, and only its own channel can send it; use `link` for a reply that lasts.',
    }),
    caption: t.string({ description: `Caption of the file; limits as in sendMessage. ${MERGED_IN_REPLY}` }),
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
