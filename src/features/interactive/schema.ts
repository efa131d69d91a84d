import { builder } from '../../builder.ts';
import { Message } from '../messages/schema.ts';
import { freeFormFields, sendInputOf } from '../messages/send-input.ts';
import { LIMITS } from './interactive.ts';
import { type Reply, replyOf } from './reply.ts';
import { sendInteractive } from './send-interactive.ts';

export const ReplyButtonInput = builder.inputType('ReplyButtonInput', {
  description: 'A button that sends an answer.',
  fields: t => ({
    id: t.string({
      required: true,
      description: `Comes back with the answer. At most ${LIMITS.buttonId} characters, no two the same.`,
    }),
    title: t.string({
      required: true,
      description: `What stands on it. At most ${LIMITS.buttonTitle} characters, no two the same.`,
    }),
  }),
});

const ListRowInput = builder.inputType('ListRowInput', {
  description: 'One row of a list.',
  fields: t => ({
    id: t.string({
      required: true,
      description: `Comes back with the answer. At most ${LIMITS.rowId} characters, no two in the list the same.`,
    }),
    title: t.string({ required: true, description: `At most ${LIMITS.rowTitle} characters.` }),
    description: t.string({ description: `At most ${LIMITS.rowDescription} characters.` }),
  }),
});

const ListSectionInput = builder.inputType('ListSectionInput', {
  description: 'Some rows of a list under a title.',
  fields: t => ({
    title: t.string({
      description: `At most ${LIMITS.sectionTitle} characters. Required where there is more than one section.`,
    }),
    rows: t.field({ type: [ListRowInput], required: true, description: 'At least one.' }),
  }),
});

export const InteractiveListInput = builder.inputType('InteractiveListInput', {
  description: 'A list that a button opens, and of which one row can be chosen.',
  fields: t => ({
    button: t.string({
      required: true,
      description: `What stands on the button. At most ${LIMITS.listButton} characters.`,
    }),
    sections: t.field({
      type: [ListSectionInput],
      required: true,
      description: `1 to ${LIMITS.sections}, with at most ${LIMITS.rows} rows in all.`,
    }),
  }),
});

export const CtaUrlInput = builder.inputType('CtaUrlInput', {
  description: 'A button that opens a web page.',
  fields: t => ({
    displayText: t.string({
      required: true,
      description: `What stands on the button. At most ${LIMITS.linkText} characters.`,
    }),
    url: t.string({ required: true, description: `An http or https address of at most ${LIMITS.link} characters.` }),
  }),
});

const SendInteractiveMessageInput = builder.inputType('SendInteractiveMessageInput', {
  description: 'A text with something to choose, to one person. Exactly one of `buttons`, `list` and `ctaUrl`.',
  fields: t => ({
    ...freeFormFields(t),
    body: t.string({
      required: true,
      description: `At most ${LIMITS.body} characters after merging, with a list ${LIMITS.listBody}. Merge fields such as \`@{contact_first_name}\` are filled from the contact.`,
    }),
    header: t.string({
      description: `A line above the body. At most ${LIMITS.header} characters after merging.`,
    }),
    footer: t.string({ description: `A line below the body. At most ${LIMITS.footer} characters after merging.` }),
    buttons: t.field({ type: [ReplyButtonInput], description: `1 to ${LIMITS.buttons} buttons that answer.` }),
    list: t.field({ type: InteractiveListInput, description: 'A list to choose from.' }),
    ctaUrl: t.field({ type: CtaUrlInput, description: 'A button that opens a web page.' }),
  }),
});

builder.mutationField('sendInteractiveMessage', t =>
  t.field({
    type: Message,
    description:
      'Sends a text with buttons, a list or a link. What the person chooses comes as an inbound message with `reply`.',
    authScopes: { scope: 'messages:send' },
    args: {
      input: t.arg({ type: SendInteractiveMessageInput, required: true, description: 'What to send, and to whom.' }),
    },
    resolve: (_root, { input }, context) => sendInteractive(context, sendInputOf(input)),
  }),
);

const ReplyType = builder.objectRef<Reply>('MessageReply').implement({
  description: 'What a person chose among the buttons or rows of a message.',
  fields: t => ({
    id: t.exposeString('id', {
      description: "The id that the button or row was sent with; of a template's quick reply button its payload.",
    }),
    title: t.exposeString('title', { description: 'What stood on it.' }),
    description: t.exposeString('description', { nullable: true, description: 'The description of a row.' }),
  }),
});

builder.objectField(Message, 'reply', t =>
  t.field({
    type: ReplyType,
    nullable: true,
    description:
      'What the person chose, where this is the answer to an interactive message or a template; see `replyTo`.',
    resolve: message => replyOf(message),
  }),
);
