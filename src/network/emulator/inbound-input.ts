import { z } from 'zod';

const text = z.string().min(1);
const caption = text.max(1_024).optional();
/** Content as base64; a small sample of the kind unless given. */
const dataBase64 = z.base64().optional();
const mimeType = text.optional();

/** Who writes: with a number, with a user id, or (a person with a user name) with the user id only. */
const sender = {
  /** Any spelling; the webhook shows its `wa_id`. */
  from: z
    .string()
    .regex(/^\+?[\d\s().-]{7,25}$/, 'must be a phone number')
    .optional(),
  userId: z
    .string()
    .regex(/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/, 'must be a business-scoped user id, like US.13491208655302741918')
    .optional(),
  profileName: text.optional(),
  /** The first number unless told. */
  phoneNumberId: text.optional(),
  /** wamid of the message that this one answers. */
  replyTo: text.optional(),
};

const reply = z.strictObject({ id: text, title: text, description: text.optional() });

const kinds = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), ...sender, text: text.max(4_096) }),
  z.strictObject({ type: z.literal('image'), ...sender, caption, mimeType, dataBase64 }),
  z.strictObject({ type: z.literal('video'), ...sender, caption, mimeType, dataBase64 }),
  z.strictObject({ type: z.literal('document'), ...sender, caption, filename: text.optional(), mimeType, dataBase64 }),
  z.strictObject({ type: z.literal('audio'), ...sender, voice: z.boolean().optional(), mimeType, dataBase64 }),
  z.strictObject({ type: z.literal('sticker'), ...sender, animated: z.boolean().optional(), mimeType, dataBase64 }),
  z.strictObject({
    type: z.literal('location'),
    ...sender,
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    name: text.optional(),
    address: text.optional(),
  }),
  z.strictObject({
    type: z.literal('contacts'),
    ...sender,
    contacts: z.array(z.strictObject({ name: text, phone: text.optional() })).min(1),
  }),
  /** An empty emoji takes the reaction back. */
  z.strictObject({ type: z.literal('reaction'), ...sender, messageId: text, emoji: z.string() }),
  z.strictObject({ type: z.literal('button'), ...sender, text, payload: text.optional() }),
  z.strictObject({
    type: z.literal('interactive'),
    ...sender,
    buttonReply: reply.optional(),
    listReply: reply.optional(),
  }),
  z.strictObject({ type: z.literal('unsupported'), ...sender, errorCode: z.int().optional() }),
  z.strictObject({
    type: z.literal('order'),
    ...sender,
    text: z.string().optional(),
    catalogId: text.optional(),
    items: z
      .array(
        z.strictObject({
          productRetailerId: text,
          quantity: z.int().min(1),
          itemPrice: z.number().min(0),
          currency: text.length(3),
        }),
      )
      .min(1),
  }),
  /** The person changed the number. */
  z.strictObject({ type: z.literal('system'), ...sender, newPhone: text }),
]);

/** What `POST /_emulator/inbound` takes; a body without `type` is a text. */
export const inboundInput = z
  .preprocess(
    value => (typeof value === 'object' && value !== null && !('type' in value) ? { type: 'text', ...value } : value),
    kinds,
  )
  .refine(input => input.from !== undefined || input.userId !== undefined, {
    error: 'is required, unless userId is given',
    path: ['from'],
  })
  .refine(
    input => input.type !== 'interactive' || (input.buttonReply === undefined) !== (input.listReply === undefined),
    {
      error: 'must be given, or listReply, and not both',
      path: ['buttonReply'],
    },
  );

type Kinds = z.input<typeof kinds>;
type TextInput = Omit<Extract<Kinds, { type: 'text' }>, 'type'> & { type?: 'text' };
export type InboundInput = Exclude<Kinds, { type: 'text' }> | TextInput;
export type Inbound = z.output<typeof kinds>;
