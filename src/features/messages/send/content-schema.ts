import { builder } from '../../../schema/builder.ts';
import { TemplateInput } from '../../templates/sending/send-schema.ts';
import { CARD_LIMITS } from '../content/contact-cards.ts';
import type { Choices } from '../content/interactive/interactive.ts';
import { InteractiveInput } from '../content/interactive/schema.ts';
import { MAX_PLACE } from '../content/location.ts';
import { MediaInput } from '../content/media/input-schema.ts';
import { MERGED_IN_SEND } from './merge-fields.ts';
import { MAX_TEXT } from './send-text.ts';

export const TextInput = builder.inputType('TextInput', {
  description: 'A text to send.',
  fields: t => ({
    body: t.string({
      required: true,
      description: `Text of the message, at most ${MAX_TEXT} characters after merging. ${MERGED_IN_SEND}`,
    }),
    previewUrl: t.boolean({ description: 'Whether WhatsApp shows a preview of the first link. Default: false.' }),
  }),
});

const LocationInput = builder.inputType('LocationInput', {
  description: 'A location to send.',
  fields: t => ({
    latitude: t.float({ required: true, description: 'Latitude in degrees, from -90 to 90.' }),
    longitude: t.float({ required: true, description: 'Longitude in degrees, from -180 to 180.' }),
    name: t.string({ description: `Name of the place, at most ${MAX_PLACE} characters.` }),
    address: t.string({ description: `Street address, at most ${MAX_PLACE} characters.` }),
  }),
});

const ContactCardInput = builder.inputType('ContactCardInput', {
  description: 'A contact card.',
  fields: t => ({
    name: t.string({ required: true, description: `Name, at most ${CARD_LIMITS.text} characters.` }),
    phones: t.stringList({ required: true, description: `Phone numbers, at most ${CARD_LIMITS.entries}.` }),
    emails: t.stringList({ description: `E-mail addresses, at most ${CARD_LIMITS.entries}.` }),
    company: t.string({ description: 'Company of the person.' }),
  }),
});

/** Content of a message. Read it with `oneOf`. */
export const ContentInput = builder.inputType('ContentInput', {
  description: 'The content of a message.',
  isOneOf: true,
  fields: t => ({
    text: t.field({ type: TextInput, description: 'Sends a text.' }),
    media: t.field({ type: MediaInput, description: 'An image, a video, audio or a document.' }),
    template: t.field({
      type: TemplateInput,
      description: 'An approved template, which can also be sent outside the 24-hour service window.',
    }),
    location: t.field({ type: LocationInput, description: 'Sends a location.' }),
    contacts: t.field({ type: [ContactCardInput], description: `1 to ${CARD_LIMITS.cards} contact cards.` }),
    interactive: t.field({
      type: InteractiveInput,
      description: 'A text with reply buttons, a list or a link button.',
    }),
    cannedReplyId: t.id({
      description: 'Global id or databaseId of a canned reply. Requires the scope conversations:read too.',
    }),
  }),
});

interface MediaFields extends Omit<typeof MediaInput.$inferInput, 'file'> {
  readonly file: { readonly link?: string | null | undefined; readonly mediaId?: string | null | undefined };
}

/** A `ContentInput`. */
export interface GivenContent extends Omit<ContentFields, 'interactive'> {
  readonly interactive?: typeof InteractiveInput.$inferInput | null | undefined;
}

/** The same as it is stored and sent, before it is read with `oneOf`. */
export interface ContentFields {
  readonly text?: typeof TextInput.$inferInput | null | undefined;
  readonly media?: MediaFields | null | undefined;
  readonly template?: typeof TemplateInput.$inferInput | null | undefined;
  readonly location?: typeof LocationInput.$inferInput | null | undefined;
  readonly contacts?: readonly (typeof ContactCardInput.$inferInput)[] | null | undefined;
  readonly interactive?: (Omit<typeof InteractiveInput.$inferInput, keyof Choices> & Choices) | null | undefined;
  readonly cannedReplyId?: string | null | undefined;
}
