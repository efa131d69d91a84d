import { builder } from '../../../../schema/builder.ts';
import { MERGED_IN_SEND } from '../../send/merge-fields.ts';
import { LIMITS } from './interactive.ts';

export const ReplyButtonInput = builder.inputType('ReplyButtonInput', {
  description: 'A button that sends a predefined answer when tapped.',
  fields: t => ({
    replyId: t.string({
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
    replyId: t.string({
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

export const InteractiveInput = builder.inputType('InteractiveInput', {
  description:
    "A text with a choice. Set exactly one of `buttons`, `list` and `ctaUrl`. The recipient's choice arrives as an inbound message.",
  fields: t => ({
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
