import { z } from 'zod';

const text = z.string().min(1);
const caption = text.max(1_024).optional();
/** Content as base64; default: a small sample. */
const dataBase64 = z.base64().optional();
const mimeType = text.optional();

/** The sender: a number, a number with a user id, or (a person with a user name) only a user id. */
const sender = {
  /** In any notation; the webhook shows its `wa_id`. */
  from: z
    .string()
    .regex(/^\+?[\d\s().-]{7,25}$/, 'must be a phone number')
    .optional(),
  userId: z
    .string()
    .regex(/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/, 'must be a business-scoped user id, like US.13491208655302741918')
    .optional(),
  /** Joins the portfolios of an enterprise. */
  parentUserId: z
    .string()
    .regex(/^[A-Z]{2}\.ENT\.[A-Za-z0-9]{1,128}$/, 'must be a parent user id, like US.ENT.11815799212886844830')
    .optional(),
  profileName: text.optional(),
  /** Such a person may hide the number: give only userId. */
  username: z
    .string()
    .regex(/^[a-z0-9._]{3,35}$/, 'must have 3 to 35 of a-z, 0-9, dot and underscore')
    .optional(),
  /** Default: the first number. */
  phoneNumberId: text.optional(),
  /** wamid of the message that this one replies to. */
  replyTo: text.optional(),
  forwarded: z.boolean().optional(),
  frequentlyForwarded: z.boolean().optional(),
  /** The ad or post that the person came from, in the network's format. */
  referral: z.record(z.string(), z.unknown()).optional(),
  referredProduct: z.strictObject({ catalogId: text, productRetailerId: text }).optional(),
  /** Set for a message in a group chat. */
  groupId: text.optional(),
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
  /** An empty emoji removes the reaction. */
  z.strictObject({ type: z.literal('reaction'), ...sender, messageId: text, emoji: z.string() }),
  z.strictObject({ type: z.literal('button'), ...sender, text, payload: text.optional() }),
  z.strictObject({
    type: z.literal('interactive'),
    ...sender,
    buttonReply: reply.optional(),
    listReply: reply.optional(),
  }),
  /** Revokes or edits a message of the person. */
  z.strictObject({ type: z.literal('revoke'), ...sender, messageId: text }),
  z.strictObject({ type: z.literal('edit'), ...sender, messageId: text, text: text.max(4_096) }),
  /** The answers of a Flow, as an object. */
  z.strictObject({ type: z.literal('flow'), ...sender, answers: z.record(z.string(), z.unknown()) }),
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
  /** The person changed the number, or (without newPhone) has another user id. */
  z.strictObject({ type: z.literal('system'), ...sender, newPhone: text.optional(), newUserId: text.optional() }),
]);

/** The body of `POST /_emulator/inbound`; without `type` it is a text. */
export const inboundInput = z
  .preprocess(
    value => (typeof value === 'object' && value !== null && !('type' in value) ? { type: 'text', ...value } : value),
    kinds,
  )
  .refine(input => input.from !== undefined || input.userId !== undefined, {
    error: 'is required unless userId is given',
    path: ['from'],
  })
  .refine(
    input => input.type !== 'interactive' || (input.buttonReply === undefined) !== (input.listReply === undefined),
    {
      error: 'give either buttonReply or listReply',
      path: ['buttonReply'],
    },
  )
  .refine(input => input.type !== 'system' || input.newPhone !== undefined || input.newUserId !== undefined, {
    error: 'is required unless newUserId is given',
    path: ['newPhone'],
  });

type Kinds = z.input<typeof kinds>;
type TextInput = Omit<Extract<Kinds, { type: 'text' }>, 'type'> & { type?: 'text' };
export type InboundInput = Exclude<Kinds, { type: 'text' }> | TextInput;
export type Inbound = z.output<typeof kinds>;
