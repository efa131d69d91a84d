import { builder } from '../../../../schema/builder.ts';
import { Message } from '../../schema.ts';
import { MERGED_IN_SEND } from '../../send/merge-fields.ts';
import { freeFormFields, sendInputOf } from '../../send/send-input.ts';
import { LIMITS } from './interactive.ts';
import { type Reply, replyOf } from './reply.ts';
import { sendInteractive } from './send-interactive.ts';

export const ReplyButtonInput = builder.inputType('ReplyButtonInput', {
  description: 'A button that sends a predefined answer when tapped.',
  fields: t => ({
    id: t.string({
      required: true,
      description: `Identifier returned in the recipient's answer; at most ${LIMITS.buttonId} characters, unique in the message.`,
    }),
    title: t.string({
      required: true,
      description: `Label of the button; at most ${LIMITS.buttonTitle} characters, unique in the message.`,
    }),
  }),
});

const ListRowInput = builder.inputType('ListRowInput', {
  description: 'A row that the recipient can choose from a list.',
  fields: t => ({
    id: t.string({
      required: true,
      description: `Identifier returned in the recipient's answer; at most ${LIMITS.rowId} characters, unique in the list.`,
    }),
    title: t.string({ required: true, description: `Text of the row; at most ${LIMITS.rowTitle} characters.` }),
    description: t.string({ description: `Second line of the row; at most ${LIMITS.rowDescription} characters.` }),
  }),
});

const ListSectionInput = builder.inputType('ListSectionInput', {
  description: 'A group of rows of a list.',
  fields: t => ({
    title: t.string({
      description: `Heading of the section; at most ${LIMITS.sectionTitle} characters. Required if the list has more than one section.`,
    }),
    rows: t.field({ type: [ListRowInput], required: true, description: 'Rows of the section; at least one.' }),
  }),
});

export const InteractiveListInput = builder.inputType('InteractiveListInput', {
  description: 'A list that opens when the recipient taps its button, and from which one row can be chosen.',
  fields: t => ({
    button: t.string({
      required: true,
      description: `Label of the button that opens the list; at most ${LIMITS.listButton} characters.`,
    }),
    sections: t.field({
      type: [ListSectionInput],
      required: true,
      description: `1 to ${LIMITS.sections} sections with at most ${LIMITS.rows} rows in total.`,
    }),
  }),
});

export const CtaUrlInput = builder.inputType('CtaUrlInput', {
  description: 'A button that opens a web page.',
  fields: t => ({
    displayText: t.string({
      required: true,
      description: `Label of the button; at most ${LIMITS.linkText} characters.`,
    }),
    url: t.string({ required: true, description: `An http or https URL of at most ${LIMITS.link} characters.` }),
  }),
});

const SendInteractiveMessageInput = builder.inputType('SendInteractiveMessageInput', {
  description: 'An interactive message to one recipient. Set exactly one of `buttons`, `list` and `ctaUrl`.',
  fields: t => ({
    ...freeFormFields(t),
    body: t.string({
      required: true,
      description: `Text of the message: at most ${LIMITS.body} characters after merging, or ${LIMITS.listBody} with a list. ${MERGED_IN_SEND}`,
    }),
    header: t.string({
      description: `Line above the body; at most ${LIMITS.header} characters after merging.`,
    }),
    footer: t.string({ description: `Line below the body; at most ${LIMITS.footer} characters after merging.` }),
    buttons: t.field({ type: [ReplyButtonInput], description: `1 to ${LIMITS.buttons} reply buttons.` }),
    list: t.field({ type: InteractiveListInput, description: 'List to choose from.' }),
    ctaUrl: t.field({ type: CtaUrlInput, description: 'Button that opens a web page.' }),
  }),
});

builder.mutationField('sendInteractiveMessage', t =>
  t.field({
    type: Message,
    description:
      "Sends a text with buttons, a list or a link button. The recipient's choice arrives as an inbound message with `reply`. Errors: VALIDATION_ERROR, CONTACT_OPTED_OUT, OUTSIDE_SERVICE_WINDOW, MESSAGING_NOT_CONFIGURED, FEATURE_LIMIT_EXCEEDED, FEATURE_NOT_AVAILABLE.",
    authScopes: { scope: 'messages:send' },
    args: {
      input: t.arg({
        type: SendInteractiveMessageInput,
        required: true,
        description: 'The message and its recipient.',
      }),
    },
    resolve: (_root, { input }, context) => sendInteractive(context, sendInputOf(input)),
  }),
);

const ReplyType = builder.objectRef<Reply>('MessageReply').implement({
  description: 'The button or row that the contact chose in answer to an interactive message or a template.',
  fields: t => ({
    id: t.exposeString('id', {
      description:
        'Identifier of the button or row as it was sent; for a quick-reply button of a template, its payload.',
    }),
    title: t.exposeString('title', { description: 'Label of the button.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Description of the chosen row; null for buttons.',
    }),
  }),
});

builder.objectField(Message, 'reply', t =>
  t.field({
    type: ReplyType,
    nullable: true,
    description:
      'The chosen button or row if the message answers an interactive message or a template, null otherwise; see `replyTo`.',
    resolve: message => replyOf(message),
  }),
);
